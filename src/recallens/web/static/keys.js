// Keys and the choice of colours. Everything can be read and done without this file.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const theme = document.getElementById("theme");
  const shown = document.getElementById("keys-shown");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const name = () => { theme.textContent = dark() ? "Light" : "Dark"; };

  theme.hidden = false;
  name();
  system.addEventListener("change", name);
  theme.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* it holds for this page */ }
    name();
  });

  // An address says what was chosen and nothing else.
  document.addEventListener("formdata", (event) => {
    for (const [field, value] of [...event.formData]) if (value === "") event.formData.delete(field);
  });

  const open = document.getElementById("keys");
  open.hidden = false;
  open.addEventListener("click", () => shown.showModal());

  const results = () => [...document.querySelectorAll("[data-result]")];
  const move = (step) => {
    const all = results();
    if (!all.length) return;
    const here = all.findIndex((one) => one.contains(document.activeElement));
    const next = here < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(here + step, 0), all.length - 1);
    const target = all[next].querySelector("a.name") || all[next];
    target.focus({ preventScroll: true });
    all[next].scrollIntoView({ block: "nearest" });
  };
  const follow = () => {
    const here = results().find((one) => one.contains(document.activeElement));
    const target = (here && here.querySelector("a[data-xray]")) || document.querySelector("a[data-xray]");
    if (target) target.click();
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const typing = event.target.closest("input:not([type=range],[type=checkbox],[type=radio]), textarea, select");
    if (typing) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (shown.open) return;
    const box = document.getElementById("q");
    const acts = {
      "/": () => box && (box.focus(), box.select()),
      j: () => move(1),
      k: () => move(-1),
      x: follow,
      "?": () => shown.showModal(),
    };
    const act = acts[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });
})();
