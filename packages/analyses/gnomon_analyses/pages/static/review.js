// Counts the seconds for which an item was looked at; the server counts from when the page was made otherwise.
"use strict";
(() => {
  let counted = 0, since = document.hidden ? null : performance.now();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && since !== null) { counted += performance.now() - since; since = null; }
    else if (!document.hidden && since === null) since = performance.now();
  });
  document.addEventListener("submit", (event) => {
    const field = event.target.matches("[data-timed]") && event.target.querySelector("input[name=seconds]");
    if (field) field.value = ((counted + (since === null ? 0 : performance.now() - since)) / 1000).toFixed(1);
  });
})();
