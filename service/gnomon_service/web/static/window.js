// Improves the pages: fragments, keys, live updates, dialogs and the theme. Every page works without it.
"use strict";
(() => {
  const announce = (text) => { document.getElementById("announcer").textContent = text; };

  // Fragments: a form or link marked `data-fragment` fetches its page and morphs <main> in place.
  const keepsWhatIsOpen = {
    morphStyle: "innerHTML",
    callbacks: {
      beforeAttributeUpdated: (name, node) => !(name === "open" && node.tagName === "DETAILS") && name !== "data-current",
      beforeNodeMorphed: (node) => !(node === document.activeElement && /^(INPUT|TEXTAREA|SELECT)$/.test(node.tagName)) && !(node.dataset && "keep" in node.dataset),
    },
  };
  let wanted = 0, asked;
  async function load(url, { push = false, replace = false, body = undefined } = {}) {
    const number = ++wanted;
    const dim = setTimeout(() => document.getElementById("main").classList.add("stale"), 300);
    try {
      const answer = await fetch(url, { headers: { Accept: "text/html" }, body, method: body ? "POST" : "GET" });
      if (number !== wanted) return false;
      const text = await answer.text();
      const page = new DOMParser().parseFromString(text, "text/html");
      const fresh = page.getElementById("main");
      if (!fresh) throw new Error(`the server answered ${answer.status}`);
      Idiomorph.morph(document.getElementById("main"), fresh.innerHTML, keepsWhatIsOpen);
      document.title = page.title;
      for (const name of ["live", "poll", "again"]) {
        const main = document.getElementById("main");
        if (fresh.dataset[name]) main.dataset[name] = fresh.dataset[name]; else delete main.dataset[name];
      }
      if (push) history.pushState({}, "", body ? answer.url : url);
      if (replace) history.replaceState({}, "", url);
      document.dispatchEvent(new CustomEvent("gnomon:morphed"));
      return true;
    } catch (error) {
      announce(`This could not be loaded: ${error.message}`);
      return false;
    } finally {
      clearTimeout(dim);
      if (number === wanted) document.getElementById("main").classList.remove("stale");
    }
  }
  // News never overtakes what a person asked for: it waits, and asks for the page that then stands there.
  const morphFrom = (url, how) => (asked = load(url, how));
  async function refresh(address) {
    for (let before; before !== asked;) await (before = asked);
    return load(address());
  }
  const addressOf = (form) => {
    const url = new URL(form.action || location.href);
    url.search = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== "")).toString();
    return url.href;
  };
  let typing;
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form[data-fragment]")) return;
    event.preventDefault();
    if (event.target.method === "post") morphFrom(event.target.action, { push: true, body: new URLSearchParams(new FormData(event.target)) });
    else morphFrom(addressOf(event.target), { push: true });
  });
  document.addEventListener("change", (event) => {
    const form = event.target.form;
    if (form && form.matches("form[data-fragment]:not([method=post])") && !event.target.matches("input[type=search], textarea")) form.requestSubmit();
  });
  document.addEventListener("input", (event) => {
    const form = event.target.form;
    if (!form || !form.matches("form[data-fragment]") || !event.target.matches("input[type=search]")) return;
    clearTimeout(typing);
    typing = setTimeout(() => morphFrom(addressOf(form), { replace: true }), 300);
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-fragment]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    morphFrom(link.href, { push: true });
  });
  addEventListener("popstate", () => { if (document.querySelector("[data-fragment]")) morphFrom(location.href); });

  // Live pages: <main data-live="/v1/jobs/ID/events?only=progress"> or data-poll="5" (seconds).
  // `data-again` is the address that is asked for news, where it is another than the page's.
  const again = () => new URL(document.getElementById("main").dataset.again || location.href, location.href).href;
  let source, due, failures = 0, lastNews = Date.now(), spoken = 0;
  const redraw = () => {
    if (due || document.hidden) return;
    due = setTimeout(async () => { due = undefined; await refresh(again); speak(); }, 1000);
  };
  const speak = () => {
    const line = document.querySelector("[data-announce]");
    if (line && Date.now() - spoken > 10000) { spoken = Date.now(); announce(line.textContent.trim()); }
  };
  const status = (text) => { const line = document.querySelector("[data-connection]"); if (line) line.textContent = text; };
  function listen() {
    const main = document.getElementById("main");
    if (source) { source.close(); source = undefined; }
    if (document.hidden || !main.dataset.live || failures > 3) return;
    source = new EventSource(main.dataset.live);
    const news = () => { failures = 0; lastNews = Date.now(); status(""); redraw(); };
    source.addEventListener("progress", news);
    source.addEventListener("done", () => { source.close(); source = undefined; delete main.dataset.live; clearTimeout(due); due = undefined; refresh(() => location.href); });
    source.onerror = () => {
      failures += 1;
      status(`Reconnecting, last news ${Math.round((Date.now() - lastNews) / 1000)} s ago`);
      if (failures > 3) { source.close(); source = undefined; main.dataset.poll = main.dataset.poll || "5"; }
    };
  }
  let polled = Date.now();
  setInterval(() => {
    const seconds = Number(document.getElementById("main").dataset.poll);
    if (!seconds || document.hidden || source || Date.now() - polled < 1000 * seconds) return;
    polled = Date.now();
    refresh(again).then((came) => { if (came) { status(""); speak(); lastNews = Date.now(); } else status(`Reconnecting, last news ${Math.round((Date.now() - lastNews) / 1000)} s ago`); });
  }, 500);
  document.addEventListener("visibilitychange", listen);
  listen();

  // Keys: an element with `data-key` is clicked by that key; rows are moved over with j and k.
  const rows = () => [...document.querySelectorAll("[data-row]")].filter((row) => row.offsetParent !== null);
  const current = () => document.querySelector("[data-row][data-current]");
  function move(by) {
    const list = rows();
    if (!list.length) return;
    const here = list.indexOf(current() || document.querySelector("[data-row][data-shown]"));
    const next = list[Math.min(list.length - 1, Math.max(0, here < 0 ? 0 : here + by))];
    if (current()) current().removeAttribute("data-current");
    next.setAttribute("data-current", "");
    (next.querySelector("a, button") || next).focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
    next.dispatchEvent(new CustomEvent("gnomon:row", { bubbles: true }));
  }
  const places = { j: "/", c: "/ui/compare", t: "/ui/trips", w: "/ui/workers", b: "/ui/benchmarks", r: "/ui/review" };
  let going = 0;
  document.addEventListener("keydown", (event) => {
    const typed = event.target.matches("input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]");
    if (typed || event.ctrlKey || event.metaKey || event.altKey || localStorage.getItem("keys") === "off" || document.querySelector("dialog[open]")) return;
    if (Date.now() - going < 1500 && places[event.key]) { location.href = places[event.key]; return; }
    if (event.key === "g") { going = Date.now(); return; }
    if (event.key === "j" || event.key === "k") { event.preventDefault(); move(event.key === "j" ? 1 : -1); return; }
    if (event.key === "x" && current()) { const box = current().querySelector("input[type=checkbox]"); if (box) box.click(); return; }
    if (event.key === "Enter" && current() && !event.target.closest("a, button, summary, input")) { const link = current().querySelector("a"); if (link) link.click(); return; }
    if (event.key === "/") { const field = document.querySelector("input[type=search]"); if (field) { event.preventDefault(); field.focus(); } return; }
    const name = event.key === " " ? "space" : event.key;
    if (name === "space" && event.target.closest("button, a, summary, input, video")) return;
    const target = document.querySelector(`[data-key="${CSS.escape(name)}"]`);
    if (target && target.offsetParent !== null || target && name === "?") { event.preventDefault(); target.click(); }
  });

  // Dialogs, the theme, copy buttons, long text.
  document.addEventListener("click", async (event) => {
    const opener = event.target.closest("[data-dialog]");
    if (opener) document.getElementById(opener.dataset.dialog).showModal();
    if (event.target.closest("[data-theme-switch]")) {
      const root = document.documentElement;
      const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = isDark ? "light" : "dark";
      localStorage.setItem("theme", root.dataset.theme);
      announce(`${root.dataset.theme} theme`);
    }
    const copier = event.target.closest("[data-copy]");
    if (copier) {
      const wanted = copier.dataset.copy, from = wanted.startsWith("#") && document.getElementById(wanted.slice(1));
      const text = from ? (from.value ?? from.textContent) : new URL(wanted, location.href).href, word = copier.textContent;
      const done = await navigator.clipboard.writeText(text).then(() => "copied", () => "not allowed here");
      copier.textContent = done;
      announce(done);
      setTimeout(() => { copier.textContent = word; }, 1500);
    }
  });
  const off = document.querySelector("[data-keys-off]");
  off.checked = localStorage.getItem("keys") === "off";
  off.addEventListener("change", () => localStorage.setItem("keys", off.checked ? "off" : "on"));

  window.gnomon = { announce, morphing: keepsWhatIsOpen };
})();
