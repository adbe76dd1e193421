// Shows a stop on the time line, on the maps and in the table at once while it is pointed at or in focus.
"use strict";
(() => {
  const light = (event) => {
    const part = event.target.closest("[data-stop]");
    const stop = part ? part.dataset.stop : "";
    for (const old of document.querySelectorAll(".trip-lit")) if (old.dataset.stop !== stop) old.classList.remove("trip-lit");
    if (stop) for (const same of document.querySelectorAll(`[data-stop="${CSS.escape(stop)}"]`)) same.classList.add("trip-lit");
  };
  document.addEventListener("pointerover", light);
  document.addEventListener("focusin", light);
})();
