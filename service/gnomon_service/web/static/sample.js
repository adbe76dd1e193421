// A sample: frames seek their clip, and the map shows its part that matters or the whole.
"use strict";
(() => {
  document.addEventListener("click", (event) => {
    const frame = event.target.closest("a[data-seek]");
    const video = frame && document.getElementById(frame.dataset.clip);
    if (video && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      video.currentTime = Number(frame.dataset.seek);
      video.focus();
    }
    const whole = event.target.closest("[data-whole]");
    if (whole) {
      const scene = document.querySelector("svg.scene"), isWhole = whole.getAttribute("aria-pressed") !== "true", name = isWhole ? "Whole" : "Crop";
      whole.setAttribute("aria-pressed", String(isWhole));
      scene.setAttribute("viewBox", scene.dataset[`view${name}`]);
      scene.setAttribute("font-size", scene.dataset[`letters${name}`]);
      scene.classList.toggle("is-whole", isWhole);
    }
  });
})();
