// Sets the theme that was chosen before the page is drawn, so that it does not flash.
(() => {
  document.documentElement.classList.add("has-script");
  const theme = localStorage.getItem("theme");
  if (theme) document.documentElement.dataset.theme = theme;
})();
