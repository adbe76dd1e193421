// Links steps, scene and clock: the step that is open is drawn, and one time bar moves dots and cursor.
"use strict";
(() => {
  const scene = document.querySelector("svg.scene");
  const time = document.querySelector("[data-time]");
  const steps = [...document.querySelectorAll(".step")];
  const stepKey = (number) => `step-${number}`;

  function show(number) {
    for (const layer of document.querySelectorAll("[data-layer^='step-']")) layer.classList.toggle("is-off", layer.dataset.layer !== stepKey(number));
    for (const step of steps) step.toggleAttribute("data-shown", step.dataset.step === String(number));
  }
  function open(number, { write = true } = {}) {
    const step = steps.find((item) => item.dataset.step === String(number));
    if (!step) return;
    step.querySelector("details").open = true;
    show(number);
    if (write) history.replaceState({}, "", `${location.pathname}${location.search}#step=${number}${time && moved ? `&t=${Number(time.value).toFixed(1)}` : ""}`);
  }
  for (const step of steps) {
    step.querySelector("details").addEventListener("toggle", (event) => { if (event.target.open && event.target === step.querySelector("details")) open(step.dataset.step); });
    step.addEventListener("gnomon:row", () => open(step.dataset.step));
  }

  // The time bar: dots move along every line that carries times; the cursor crosses the lanes.
  let moved = false;
  const tracks = scene ? [...scene.querySelectorAll("[data-times][data-points]")].map((line) => ({
    line,
    times: line.dataset.times.trim().split(/[\s,]+/).map(Number),
    points: line.dataset.points.trim().split(/\s+/).map((pair) => pair.split(",").map(Number)),
  })).filter((track) => track.times.length === track.points.length && track.times.length > 1) : [];
  const dot = scene && document.createElementNS("http://www.w3.org/2000/svg", "circle");
  const clockText = (second) => {
    const tenths = Math.round(10 * Math.abs(second)), tenth = tenths % 600, minutes = Math.floor(tenths / 600), two = (n) => String(n).padStart(2, "0");
    const rest = `${two(Math.floor(tenth / 10))}.${tenth % 10}`;
    return second < 3600 ? `${second < 0 ? "−" : ""}${minutes}:${rest}` : `${two(Math.floor(minutes / 60) % 24)}:${two(minutes % 60)}:${rest}`;
  };
  function placeAt(second) {
    for (const { line, times, points } of tracks) {
      if (line.closest(".is-off") || second < times[0] || second > times[times.length - 1]) continue;
      let index = 1;
      while (times[index] < second) index += 1;
      const share = (second - times[index - 1]) / (times[index] - times[index - 1] || 1);
      return [line, points[index - 1].map((value, axis) => value + share * (points[index][axis] - value))];
    }
    return [null, null];
  }
  function at(second, { write = true } = {}) {
    time.value = second;
    const output = document.querySelector("[data-now]");
    output.textContent = clockText(Number(second));
    for (const clock of document.querySelectorAll("svg.clock")) {
      const { start, end, left, right } = clock.dataset, cursor = clock.querySelector(".cursor");
      if (!cursor) continue;
      const x = Number(left) + (second - start) / (end - start) * (right - left);
      cursor.classList.remove("is-off");
      cursor.setAttribute("transform", `translate(${(x - cursor.x1.baseVal.value).toFixed(1)} 0)`);
    }
    const [line, place] = placeAt(Number(second));
    if (dot) {
      dot.setAttribute("visibility", place ? "visible" : "hidden");
      if (place) {
        if (dot.parentNode !== line.parentNode) line.parentNode.append(dot);
        dot.setAttribute("cx", place[0]); dot.setAttribute("cy", place[1]);
      }
    }
    const seenBy = lanesAt(Number(second));
    time.setAttribute("aria-valuetext", clockText(Number(second)) + (seenBy.length ? `, ${seenBy.join(", ")}` : ""));
    for (const camera of scene ? scene.querySelectorAll("[data-camera]") : []) camera.classList.toggle("is-on", seenBy.some((text) => text.endsWith(camera.dataset.camera)));
    moved = write || moved;
  }
  const bars = [...document.querySelectorAll("svg.clock.wide-clock [data-from][data-until]")];
  const lanesAt = (second) => bars.filter((bar) => Number(bar.dataset.from) <= second && second <= Number(bar.dataset.until) && !bar.closest(".is-off")).map((bar) => bar.dataset.says || "");
  if (dot) { dot.setAttribute("r", "7"); dot.setAttribute("class", "moving"); dot.setAttribute("visibility", "hidden"); }
  if (time) {
    time.addEventListener("input", () => at(Number(time.value)));
    time.addEventListener("change", () => { const chosen = steps.find((step) => step.hasAttribute("data-shown")); open(chosen ? chosen.dataset.step : document.querySelector(".columns").dataset.chosen); });
    let frame, before;
    const player = document.querySelector("[data-play]");
    const stop = () => { cancelAnimationFrame(frame); frame = undefined; player.setAttribute("aria-pressed", "false"); player.textContent = "▶ Play"; };
    const tick = (now) => {
      const next = Number(time.value) + (now - before) / 1000 * (time.max - time.min) / 12;
      before = now;
      if (next >= Number(time.max)) { at(Number(time.max)); stop(); return; }
      at(next);
      frame = requestAnimationFrame(tick);
    };
    player.addEventListener("click", () => {
      if (frame) { stop(); return; }
      if (Number(time.value) >= Number(time.max)) time.value = time.min;
      player.setAttribute("aria-pressed", "true"); player.textContent = "■ Stop";
      before = performance.now();
      frame = requestAnimationFrame(tick);
    });
  }
  const whole = document.querySelector("[data-whole]");
  if (whole) whole.addEventListener("click", () => {
    const isWhole = whole.getAttribute("aria-pressed") !== "true", name = isWhole ? "Whole" : "Crop";
    whole.setAttribute("aria-pressed", String(isWhole));
    scene.setAttribute("viewBox", scene.dataset[`view${name}`]);
    scene.setAttribute("font-size", scene.dataset[`letters${name}`]);
    scene.classList.toggle("is-whole", isWhole);
  });

  function fromAddress() {
    const place = new URLSearchParams(location.hash.slice(1));
    const step = place.get("step") || document.querySelector(".columns")?.dataset.chosen;
    if (step) open(step, { write: false });
    if (place.get("step")) document.getElementById(`step=${step}`)?.scrollIntoView({ block: "nearest" });
    if (time) at(Number(place.get("t") || time.min), { write: Boolean(place.get("t")) });
  }
  addEventListener("hashchange", fromAddress);
  fromAddress();
})();
