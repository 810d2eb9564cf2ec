"use strict";
// Functions shared by both kinds of lists.
const many = (number) => number.toLocaleString("en");
const foundOf = (kept, total, noun) => {
  const all = `${many(total)} ${total === 1 ? noun : `${noun}s`}`;
  return kept === total ? all : `${many(kept)} of ${all}`;
};
const whenTyped = (search, filter) => {
  let typing = 0;
  search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(filter, 120);
  });
};

// Lets readers hide columns of wide tables. The browser remembers the hidden columns of tables with the same name.
document.querySelectorAll(".scroll > table.wide").forEach((table) => {
  const names = [...table.tHead.rows[0].cells].map((head) => head.textContent.trim());
  if (names.length < 6) return;
  const place = `factloop-columns-${table.parentElement.getAttribute("aria-label")}`;
  let hidden = new Set();
  try { hidden = new Set(JSON.parse(localStorage.getItem(place) ?? "[]")); } catch { /* for this visit only */ }
  const element = (tag, ...children) => { const made = document.createElement(tag); made.append(...children); return made; };
  const summary = element("summary");
  const show = () => {
    for (const row of table.rows) [...row.cells].forEach((cell, at) => { cell.hidden = hidden.has(names[at]); });
    const n = names.filter((name) => hidden.has(name)).length;
    summary.textContent = n ? `Columns (${n} hidden)` : "Columns";
  };
  const boxes = names.slice(1).map((name) => {
    const box = element("input");
    Object.assign(box, { type: "checkbox", checked: !hidden.has(name) });
    box.addEventListener("change", () => {
      hidden[box.checked ? "delete" : "add"](name);
      try { localStorage.setItem(place, JSON.stringify([...hidden])); } catch { /* for this visit only */ }
      show();
    });
    return element("label", box, ` ${name}`);
  });
  const choice = element("details", summary, ...boxes);
  choice.className = "columns";
  table.parentElement.before(choice);
  show();
});

// Filters, sorts and pages tables with many rows. Without scripts, tables are shown in full.
(() => {
  const PAGE = 25;
  document.querySelectorAll(".tools").forEach((tools) => {
    const table = tools.parentElement.querySelector("table.rows");
    const body = table.tBodies[0];
    let rows = [...body.rows];
    const search = tools.querySelector("input");
    const choices = [...tools.querySelectorAll("select")];
    const steps = [...tools.querySelectorAll("[data-step]")];
    let texts = null; // text of each row in lower case, created by the first search
    let kept = rows;
    let first = 0;

    const show = () => {
      const page = new Set(kept.slice(first, first + PAGE));
      rows.forEach((row) => { row.hidden = !page.has(row); });
      const found = foundOf(kept.length, rows.length, tools.dataset.noun);
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
        if (one === null || other === null) return (one === null) - (other === null); // rows without a value stay last
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
    whenTyped(search, filter);
    choices.forEach((one) => one.addEventListener("change", filter));
    tools.addEventListener("submit", (event) => event.preventDefault());
    tools.hidden = false;
    filter();
  });
})();

// Filters claims by verdict, searches them, steps through them by keys, and links them with their sentences.
(() => {
  const one = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];

  const items = all(".claim");
  if (items.length === 0) return;

  // Filters. Items that match any of the chosen filters are shown, or all items if no filter is chosen. The same filter may
  // be in the table and in the toolbar. The reader's first choice replaces the page's initial choice.
  const toolbar = one(".toolbar");
  const chips = all(".chip");
  const search = one("#search");
  const problems = items.filter((item) => item.dataset.filters.split(" ").includes("problem"));
  const standard = problems.length > 0 && one('[data-filter="problem"]') ? ["problem"] : []; // until the reader chooses
  const chosen = new Set(standard);
  let isStandard = standard.length > 0;
  let texts = null; // text of each item in lower case, created by the first search

  // A passage that belongs to several claims is shown with one claim. Other claims get it when they are opened.
  const passages = new Map();
  const passage = (number) => {
    if (!passages.has(number)) {
      const whole = document.getElementById(`passage-${number}`).cloneNode(true);
      whole.querySelectorAll(".unseen").forEach((element) => element.remove());
      passages.set(number, whole.textContent);
    }
    return passages.get(number);
  };
  const referring = (item) => [...item.querySelectorAll("[data-passage]")];
  const fill = (quote) => {
    const text = passage(quote.dataset.passage);
    const mark = quote.querySelector("mark");
    const said = [...(mark?.childNodes ?? [])].at(1)?.textContent;
    const at = mark ? text.indexOf(said) : -1;
    quote.replaceChildren(...(at < 0 ? [text] : [text.slice(0, at), mark, text.slice(at + said.length)]));
    delete quote.dataset.passage;
  };
  document.addEventListener("toggle", (event) => { if (event.target.open) referring(event.target).forEach(fill); }, true);

  const keysOf = (item) => item.dataset.filters.split(" ");
  const shows = (item) => keysOf(item).some((key) => chosen.has(key));
  const searchable = (item) => [item.textContent, ...referring(item).map((quote) => passage(quote.dataset.passage))].join(" ");
  const apply = () => {
    const words = search.value.trim().toLowerCase();
    if (words) texts ??= items.map((item) => searchable(item).toLowerCase());
    let shown = 0;
    items.forEach((item, index) => {
      const kept = chosen.size === 0 || shows(item);
      item.hidden = !(kept && (!words || texts[index].includes(words)));
      if (!item.hidden) shown += 1;
    });
    chips.forEach((chip) => {
      const key = chip.dataset.filter;
      chip.setAttribute("aria-pressed", String(key ? chosen.has(key) : chosen.size === 0));
    });
    one("#shown").textContent = foundOf(shown, items.length, toolbar.dataset.noun);
    one("#shown").classList.toggle("unseen", !words && chips.length > 1); // the filters show the counts
    one("#nothing").hidden = shown > 0;
  };
  const reset = () => {
    isStandard = false;
    chosen.clear();
    search.value = "";
    apply();
  };
  // Filtered items must not end up under the toolbar.
  const filter = () => {
    apply();
    const first = items.find((item) => !item.hidden) ?? one("#nothing");
    if (first.getBoundingClientRect().top < toolbar.getBoundingClientRect().bottom) first.scrollIntoView();
  };

  // A filter for items that are already shown replaces the other filters, because adding it would change nothing.
  const choose = (key) => {
    if (!key) chosen.clear();
    else if (!chosen.delete(key)) {
      if (isStandard || items.every((item) => !keysOf(item).includes(key) || shows(item))) chosen.clear();
      chosen.add(key);
    }
    isStandard = false;
  };

  chips.forEach((chip) => {
    chip.disabled = chip.matches(".is-empty");
    chip.addEventListener("click", () => {
      choose(chip.dataset.filter);
      filter();
    });
  });
  whenTyped(search, filter);
  // Prints all items unless the reader has chosen some.
  addEventListener("beforeprint", () => { if (isStandard && !search.value) reset(); });
  toolbar.addEventListener("submit", (event) => event.preventDefault());
  one("#reset").addEventListener("click", () => {
    reset();
    search.focus();
  });

  // Links from sentences to their claims and back. All pieces of a sentence list the same claims.
  const piecesOf = (claims) => all(`.sentence[data-claims="${claims}"]`);
  const link = (claims) => {
    all(".is-linked").forEach((element) => element.classList.remove("is-linked"));
    piecesOf(claims).forEach((piece) => piece.classList.add("is-linked"));
    claims.split(" ").forEach((number) => {
      document.getElementById(`claim-${number}`).parentElement.classList.add("is-linked");
    });
  };
  const open = (details) => {
    if (details.parentElement.hidden) reset();
    details.open = true;
    details.scrollIntoView({ block: "nearest" });
    details.firstElementChild.scrollIntoView({ block: "nearest" }); // shows the top of details that are higher than the window
  };
  const reveal = (details) => {
    open(details);
    details.firstElementChild.focus({ preventScroll: true });
  };
  document.addEventListener("click", (event) => {
    const anchor = event.target.closest("a");
    const piece = event.target.closest(".sentence");
    if (anchor?.matches('[href^="#sentence-"]')) {
      const signs = document.getElementById(anchor.hash.slice(1));
      link(signs.closest(".sentence").dataset.claims);
      signs.focus({ preventScroll: true });
      signs.scrollIntoView({ block: "nearest" });
    } else if (anchor?.matches('[href^="#claim-"]') || (piece && !anchor)) {
      if (!anchor && String(getSelection())) return; // words of the sentence are being copied
      const signs = anchor ?? event.target.closest(".fault")?.querySelector(".signs") ?? all(`.sentence[data-claims="${piece.dataset.claims}"] .signs`)[0];
      if (piece) link(piece.dataset.claims);
      reveal(document.getElementById(signs.hash.slice(1)));
    } else return;
    event.preventDefault();
  });

  // Steps from problem to problem, and closes the previous problem. Each problem is shown next to its sentence.
  let at = -1;
  const step = (by) => {
    const here = problems.indexOf(document.activeElement.closest(".claim"));
    const from = here < 0 ? at : here;
    const next = Math.min(Math.max(from + by, 0), problems.length - 1);
    if (at >= 0 && at !== next) problems[at].firstElementChild.open = false;
    at = next;
    const details = problems[at].firstElementChild;
    const number = details.id.slice("claim-".length);
    const piece = all(`.sentence[data-claims~="${number}"]`)[0];
    if (piece) {
      link(piece.dataset.claims);
      piece.scrollIntoView({ block: "nearest" });
    }
    open(details);
    one("#step").textContent = `Problem ${at + 1} of ${problems.length}`;
    return details;
  };
  [["#previous-problem", -1], ["#next-problem", 1]].forEach(([name, by]) => {
    one(name)?.addEventListener("click", () => step(by));
  });

  // Keys. Letter keys can be switched off for people who use speech input.
  const move = (step) => {
    const shown = items.filter((item) => !item.hidden);
    if (shown.length === 0) return;
    const at = shown.indexOf(document.activeElement.closest(".claim"));
    const next = shown[at < 0 ? 0 : Math.min(Math.max(at + step, 0), shown.length - 1)];
    next.querySelector("summary").focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input")) return;
    const onItem = event.target.matches(".claim > details > summary");
    const letters = one("#shortcuts").checked;
    if ((letters && event.key === "j") || (onItem && event.key === "ArrowDown")) move(1);
    else if ((letters && event.key === "k") || (onItem && event.key === "ArrowUp")) move(-1);
    else if (letters && standard.length > 0 && event.key === "n") step(1).firstElementChild.focus({ preventScroll: true });
    else if (letters && standard.length > 0 && event.key === "p") step(-1).firstElementChild.focus({ preventScroll: true });
    else if (letters && event.key === "/") search.focus();
    else return;
    event.preventDefault();
  });

  // Scroll and tab targets must not end up under the toolbar, whose height changes with the window.
  const leaveRoom = () => {
    const covers = getComputedStyle(toolbar).position === "sticky";
    const { style } = document.documentElement;
    style.scrollPaddingTop = covers ? `${toolbar.offsetHeight + 8}px` : "0";
    style.setProperty("--room", style.scrollPaddingTop);
  };
  new ResizeObserver(leaveRoom).observe(toolbar);

  apply();
  toolbar.hidden = false;
  leaveRoom(); // before any scrolling, since the observer learns the first size only when the page is drawn
  one(".keys").hidden = false;

  const addressed = /^#claim-\d+$/.test(location.hash) && one(location.hash);
  if (addressed) reveal(addressed);
})();
