"use strict";
(() => {
  const one = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];

  // Without a script everything stands on one long page. With it, what is chosen does.
  const form = one("#choices");
  const [group, evaluator, threshold] = ["group", "evaluator", "threshold"].map((name) => one(`#choose-${name}`));
  const scopes = all(".scope");
  const blocks = all(".at");
  const lines = all("[data-of]");
  const parts = all(".part");
  const drawn = all(".picture [data-series]");

  const apply = () => {
    const chosen = evaluator.value;
    scopes.forEach((scope) => { scope.hidden = scope.dataset.group !== group.value; });
    blocks.forEach((block) => { block.hidden = threshold !== null && block.dataset.threshold !== threshold.value; });
    lines.forEach((line) => { line.hidden = chosen !== "" && !line.dataset.of.includes(` ${chosen} `); });
    // A part that says nothing of the evaluator.
    parts.forEach((part) => { part.hidden = !part.querySelector("tr[data-of]:not([hidden]), td[data-of]:not([hidden])"); });
    drawn.forEach((mark) => { mark.classList.toggle("is-dim", chosen !== "" && mark.dataset.series !== chosen); });
    const said = [group, evaluator, threshold].filter((select) => select !== null);
    one("#shown").textContent = said.map((select) => `${select.labels[0].textContent}: ${select.selectedOptions[0].text}`).join(", ");
  };
  form.addEventListener("change", apply);
  form.addEventListener("submit", (event) => event.preventDefault());

  // A table that was tabbed to must not end up under the choices.
  new ResizeObserver(() => {
    const covers = getComputedStyle(form).position === "sticky";
    document.documentElement.style.scrollPaddingTop = covers ? `${form.offsetHeight + 8}px` : "0";
  }).observe(form);

  form.hidden = false;
  apply();
})();
