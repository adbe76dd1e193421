// Checks the spec while it is typed: the answer of the server replaces all but the field that is being edited.
"use strict";
(() => {
  const WAIT_MS = 300;
  const form = () => document.getElementById("new-job");
  let due, asking;
  // Sends the form with its file, as only XMLHttpRequest says how much of it is sent; the page that answers.
  function send(data, signal) {
    const file = data.get("file"), most = Number(document.getElementById("file").dataset.most);
    if (!file || !file.size) return Promise.reject(new Error("choose a file first"));
    if (file.size > most) return Promise.reject(new Error(`it has ${file.size.toLocaleString("en")} bytes; allowed: ${most.toLocaleString("en")}`));
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest(), bar = document.getElementById("upload-progress");
      request.upload.onprogress = (event) => { bar.value = event.loaded / event.total; state(`${Math.round(100 * bar.value)} % of ${(file.size / 1e6).toFixed(1)} MB`); };
      request.upload.onload = () => { bar.removeAttribute("value"); state("It is being read."); };
      request.onload = () => resolve(request.responseText);
      request.onerror = () => reject(new Error("the connection broke off"));
      signal.onabort = () => { request.abort(); reject(new DOMException("", "AbortError")); };
      request.open("POST", "/ui/new/upload");
      request.setRequestHeader("Accept", "text/html");
      request.send(data);
      bar.value = 0;
      state("0 %");
    });
  }
  function state(text) {
    const line = document.getElementById("upload-state");
    line.hidden = !text;
    line.querySelector("span").textContent = text;
  }
  // Says of a long check how many rows it has read.
  async function follow(token) {
    const answer = await fetch(`/ui/new/steps/${token}`).catch(() => null);
    const text = answer && answer.ok ? await answer.text() : "";
    if (text && asking && document.querySelector(".side.stale")) document.getElementById("answer").textContent = `${text}.`;
  }
  async function check(button) {
    if (asking) asking.abort();
    const mine = (asking = new AbortController());
    const data = new FormData(form(), button);
    if (!button) data.append("typing", "1");
    const dim = setTimeout(() => document.querySelector(".side").classList.add("stale"), 300);
    const steps = setInterval(() => follow(data.get("token")), 1000);
    const focused = document.activeElement;
    // What is typed meanwhile would be lost, and Run would run what is not yet about the file.
    form().inert = Boolean(button && button.id === "upload");
    try {
      if (button && button.id === "check-endpoint") gnomon.announce("The endpoint is being called; this may take minutes.");
      const text = button && button.id === "upload" ? await send(data, mine.signal) : await (await fetch((button && button.getAttribute("formaction")) || "/ui/new/check", { method: "POST", body: new URLSearchParams(data), signal: mine.signal, headers: { Accept: "text/html" } })).text();
      const page = new DOMParser().parseFromString(text, "text/html");
      const fresh = page.getElementById("main");
      if (mine.signal.aborted) return;
      form().inert = false;
      if (button && button.id === "upload") focused.focus();
      if (!page.getElementById("new-job")) throw new Error(fresh ? fresh.textContent.trim().replace(/\s+/g, " ").slice(0, 300) : "no answer");
      Idiomorph.morph(document.getElementById("main"), fresh.innerHTML, gnomon.morphing);
      const field = document.activeElement;
      const twin = field && field.id && page.getElementById(field.id);
      for (const name of twin ? ["aria-invalid", "aria-describedby"] : []) {
        if (twin.hasAttribute(name)) field.setAttribute(name, twin.getAttribute(name)); else field.removeAttribute(name);
      }
      return true;
    } catch (error) {
      if (error.name === "AbortError") return;
      if (button && button.id === "upload") state(`This could not be uploaded: ${error.message}`);
      else gnomon.announce(`This could not be checked: ${error.message}`);
    } finally {
      if (asking === mine) form().inert = false;
      clearTimeout(dim);
      clearInterval(steps);
      document.querySelector(".side").classList.remove("stale");
    }
  }
  const soon = (event) => {
    if (!event.target.closest("#new-job")) return;
    clearTimeout(due);
    if (asking) asking.abort(); // its answer knows nothing of this input, and would take it back
    if (event.target.id === "file") { form().requestSubmit(document.getElementById("upload")); return; }
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
