// Folds the filters on narrow pages, where they would come before the list.
"use strict";
(() => {
  const facets = document.getElementById("facets");
  if (facets && matchMedia("(max-width: 980px)").matches) facets.open = false;
})();
