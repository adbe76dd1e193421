// Shows the whole map or the part of it that matters.
"use strict";
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-whole]"), scene = document.querySelector("svg.scene");
  if (!button || !scene) return;
  const isWhole = button.getAttribute("aria-pressed") !== "true", name = isWhole ? "Whole" : "Crop";
  button.setAttribute("aria-pressed", String(isWhole));
  scene.setAttribute("viewBox", scene.dataset[`view${name}`]);
  scene.setAttribute("font-size", scene.dataset[`letters${name}`]);
  scene.classList.toggle("is-whole", isWhole);
});
