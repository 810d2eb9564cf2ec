"use strict";
// Tables of many rows: filtered, sorted and shown a page at a time. Without a script they stand whole.
(() => {
  const PAGE = 25;
  document.querySelectorAll(".tools").forEach((tools) => {
    const table = tools.parentElement.querySelector("table.rows");
    const body = table.tBodies[0];
    let rows = [...body.rows];
    const search = tools.querySelector("input");
    const choices = [...tools.querySelectorAll("select")];
    const steps = [...tools.querySelectorAll("[data-step]")];
    const many = (number) => number.toLocaleString("en");
    let texts = null; // lower-cased text of each row, made when the first search needs it
    let kept = rows;
    let first = 0;

    const show = () => {
      const page = new Set(kept.slice(first, first + PAGE));
      rows.forEach((row) => { row.hidden = !page.has(row); });
      const noun = rows.length === 1 ? tools.dataset.noun : `${tools.dataset.noun}s`;
      const found = kept.length === rows.length ? `${many(rows.length)} ${noun}` : `${many(kept.length)} of ${many(rows.length)} ${noun}`;
      const part = kept.length > PAGE ? `, ${many(first + 1)} to ${many(Math.min(first + PAGE, kept.length))} shown` : "";
      tools.querySelector(".shown").textContent = found + part;
      steps.forEach((step) => {
        step.disabled = step.dataset.step < 0 ? first === 0 : first + PAGE >= kept.length;
        step.hidden = kept.length <= PAGE;
      });
    };
    const filter = () => {
      const words = search.value.trim().toLowerCase();
      if (words) texts ??= new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
      kept = rows.filter((row) => choices.every((one) => !one.value || row.dataset[one.dataset.key] === one.value) && (!words || texts.get(row).includes(words)));
      first = 0;
      show();
    };
    const valueOf = (row, column) => {
      const cell = row.cells[column];
      const value = cell.dataset.value;
      if (value === undefined) return cell.textContent.trim().toLowerCase();
      return value === "" ? null : Number(value);
    };
    const heads = [...table.tHead.rows[0].cells];
    const sort = (column) => {
      const down = heads[column].getAttribute("aria-sort") === "ascending" ? -1 : 1;
      heads.forEach((head) => head.removeAttribute("aria-sort"));
      heads[column].setAttribute("aria-sort", down > 0 ? "ascending" : "descending");
      const keyed = rows.map((row) => [valueOf(row, column), row]);
      keyed.sort(([one], [other]) => {
        if (one === null || other === null) return (one === null) - (other === null); // what has no value stays last
        return down * (typeof one === "string" ? one.localeCompare(other) : one - other);
      });
      rows = keyed.map(([, row]) => row);
      body.append(...rows);
      filter();
    };
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(column));
    });
    steps.forEach((step) => step.addEventListener("click", () => {
      first = Math.max(0, first + PAGE * Number(step.dataset.step));
      show();
    }));
    let typing = 0;
    search.addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(filter, 120);
    });
    choices.forEach((one) => one.addEventListener("change", filter));
    tools.addEventListener("submit", (event) => event.preventDefault());
    tools.hidden = false;
    filter();
  });
})();
