// Before the page is drawn, so that it does not flash in the wrong colours. Without this the system decides.
(() => {
  const kept = (() => { try { return localStorage.getItem("theme"); } catch { return null; } })();
  if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
})();
