// Checks the spec while it is typed: the answer of the server replaces all but the field that is being edited.
"use strict";
(() => {
  const WAIT_MS = 300;
  const form = () => document.getElementById("new-job");
  let due, asking;
  async function check(button) {
    if (asking) asking.abort();
    const mine = (asking = new AbortController());
    const data = new FormData(form(), button);
    if (!button) data.append("typing", "1");
    const dim = setTimeout(() => document.querySelector(".side").classList.add("stale"), 300);
    try {
      if (button && button.id === "check-endpoint") gnomon.announce("The endpoint is being called; this may take minutes.");
      const answer = await fetch((button && button.getAttribute("formaction")) || "/ui/new/check", { method: "POST", body: new URLSearchParams(data), signal: mine.signal, headers: { Accept: "text/html" } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById("main");
      if (mine.signal.aborted || !page.getElementById("new-job")) return;
      Idiomorph.morph(document.getElementById("main"), fresh.innerHTML, gnomon.morphing);
      const field = document.activeElement;
      const twin = field && field.id && page.getElementById(field.id);
      for (const name of twin ? ["aria-invalid", "aria-describedby"] : []) {
        if (twin.hasAttribute(name)) field.setAttribute(name, twin.getAttribute(name)); else field.removeAttribute(name);
      }
      return true;
    } catch (error) {
      if (error.name !== "AbortError") gnomon.announce(`This could not be checked: ${error.message}`);
    } finally {
      clearTimeout(dim);
      document.querySelector(".side").classList.remove("stale");
    }
  }
  const soon = (event) => {
    if (!event.target.closest("#new-job")) return;
    clearTimeout(due);
    due = setTimeout(check, WAIT_MS);
  };
  document.addEventListener("input", soon);
  document.addEventListener("submit", async (event) => {
    const button = event.submitter;
    if (event.target.id !== "new-job" || !button || !button.hasAttribute("formaction")) { clearTimeout(due); return; }
    event.preventDefault();
    clearTimeout(due);
    if (await check(button) && button.name === "add") {
      const rows = document.querySelectorAll(`fieldset[id^="${button.value}."]`);
      const first = rows.length && rows[rows.length - 1].querySelector("input");
      if (first) first.focus();
    }
  });
})();
