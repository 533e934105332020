// The ranking follows the sliders: the same form, asked again for the ranking alone. Without this, a button asks.
(() => {
  const bench = document.getElementById("bench");
  const ranking = document.getElementById("ranking");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const WAIT = 120;
  let waiting = 0;
  let asking = null;

  bench.querySelector("[data-without-script]").hidden = true;

  const told = (input) => {
    const output = bench.querySelector(`output[for="${input.id}"]`);
    if (output) output.textContent = Number(input.value).toFixed(Number(input.dataset.digits || 0)) + (input.dataset.unit || "");
  };

  // What stands as it was when the page came is left out, so that the settings of the question itself still decide.
  const first = new Map(new FormData(bench));
  const touched = new Set(new URLSearchParams(location.search).keys());
  const asked = () => {
    const said = new URLSearchParams();
    for (const [name, value] of new FormData(bench)) {
      if (value !== "" && (name === "q" || name === "namespace" || touched.has(name) || first.get(name) !== value)) said.set(name, value);
    }
    return said;
  };

  const places = () => new Map([...ranking.querySelectorAll("[data-id]")].map((row) => [row.dataset.id, row.getBoundingClientRect().top]));

  const slide = (before) => {
    if (calm.matches) return;
    for (const row of ranking.querySelectorAll("[data-id]")) {
      const was = before.get(row.dataset.id);
      const by = was === undefined ? 0 : was - row.getBoundingClientRect().top;
      if (was === undefined) row.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 200 });
      else if (Math.abs(by) > 1) row.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], { duration: 220, easing: "ease-out" });
    }
  };

  const show = async () => {
    if (asking) asking.abort();
    asking = new AbortController();
    const said = asked();
    const [path, own] = bench.dataset.fragment.split("?");
    new URLSearchParams(own || "").forEach((value, name) => said.has(name) || said.set(name, value));
    ranking.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(`${path}?${said}`, { signal: asking.signal, headers: { Accept: "text/html" } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const before = places();
      ranking.replaceChildren(...(answer.ok ? page.body.childNodes : page.querySelector("main").childNodes));
      slide(before);
      history.replaceState(null, "", `/sandbox?${said}`);
    } catch (error) {
      if (error.name === "AbortError") return;
      const note = document.createElement("p");
      note.className = "notice wary";
      note.textContent = "The server did not answer. Move a slider to try again.";
      ranking.replaceChildren(note);
    }
    ranking.removeAttribute("aria-busy");
  };

  bench.addEventListener("input", (event) => {
    if (event.target.type === "range") told(event.target);
    if (event.target.name) touched.add(event.target.name);
    clearTimeout(waiting);
    waiting = setTimeout(show, WAIT);
  });
  bench.addEventListener("submit", (event) => { event.preventDefault(); show(); });
})();
