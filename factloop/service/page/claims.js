// The list of claims beside the response: filtered by verdict and words, each opened to its grounds.
import { button, h, replace, said } from "./dom.js";
import { decidedBy, grounds, whyBeside } from "./evidence.js";
import { outcome, searched } from "./unfolding.js";
import { PROBLEMS, STATUSES, WORST_FIRST, capital, many, mark, plural } from "./words.js";

const MOST_OPEN = 100;
const TYPING_MS = 120;
const PROBLEM = "problem"; // the filter that shows all problems

export class ClaimList {
  // `located(claim)` goes to a claim's sentence; `beside(claim)` shows it beside the claim.
  constructor(unfolding, { hasSentence, located, beside }) {
    Object.assign(this, { unfolding, hasSentence, located, beside });
    this.items = new Map(); // claim id to its item of the list
    this.numbers = new Map();
    this.chosen = new Set(); // statuses that are shown, or problems; none means all
    this.isTouched = false; // whether the reader has chosen what to see
    this.isStandard = false; // whether what is chosen is the page's own choice
    this.words = "";
    this.changed = new Set();
    this.moved = false;
    this.isSettled = false; // problems stand first
    this.isInLine = false; // unless all are to be labelled
    this.problem = null; // the one that was stepped to
    this.list = h("ol", { role: "list" });
    this.chips = new Map([[PROBLEM, this.chip(PROBLEM)], ["", this.chip("")], ...WORST_FIRST.map((status) => [status, this.chip(status)])]);
    this.shown = h("p", { class: "shown" });
    this.openAll = button("Open all", () => this.toggleAll());
    this.nothing = h("p", { class: "nothing", hidden: true }, "No claim matches. ", button("Show all claims", () => { this.reset(); this.search.focus(); }));
    this.search = h("input", { id: "search", type: "search", placeholder: "Search claims and evidence", "aria-label": "Search claims and evidence", autocomplete: "off", spellcheck: "false", oninput: () => this.typed() });
    this.stepped = h("p", { class: "shown", "aria-live": "polite" });
    this.steps = h("div", { class: "steps", role: "group", "aria-label": "From problem to problem", hidden: true },
      button(["‹ Previous ", h("span", { class: "unseen" }, "problem")], () => this.toProblem(-1), { "aria-keyshortcuts": "p" }), this.stepped,
      button(["Next ", h("span", { class: "unseen" }, "problem"), " ›"], () => this.toProblem(1), { "aria-keyshortcuts": "n" }));
    this.letters = h("input", { id: "shortcuts", type: "checkbox", checked: true });
    this.keys = h("footer", { class: "keys", hidden: true },
      h("p", {}, h("span", { class: "of-problems" }, h("kbd", {}, "n"), " ", h("kbd", {}, "p"), " next and previous problem · "), h("kbd", {}, "↓"), " ", h("kbd", {}, "↑"), " next and previous claim · ", h("kbd", {}, "Enter"), " open · ", h("kbd", {}, "/"), " search"),
      h("label", {}, this.letters, " Single-key shortcuts"));
    this.toolbar = h("form", { class: "toolbar", role: "search", "aria-label": "Filter the claims", onsubmit: (event) => event.preventDefault() },
      h("div", { class: "chips", role: "group", "aria-label": "By verdict" }, [...this.chips.values()].map((chip) => chip.element)),
      h("div", { class: "find" }, this.search, this.shown, this.openAll), this.steps);
    this.toolbar.addEventListener("keydown", (event) => { if (event.key === "Escape" && this.search.value) { event.preventDefault(); this.reset(); } });
    this.list.addEventListener("keydown", (event) => this.pressed(event));
    this.empty = h("p", { class: "nothing" });
    this.toLabel = h("button", { type: "button", class: "quiet", "aria-pressed": "false", "aria-keyshortcuts": "l", hidden: true }, "Label claims ", h("kbd", { "aria-hidden": "true" }, "L"));
    this.head = h("div", { class: "list-head" }, h("h2", { id: "list-title" }, "Claims"), this.toLabel);
    this.element = h("section", { class: "claims", id: "list", tabindex: "-1", "aria-labelledby": "list-title" }, this.head, this.toolbar, this.list, this.nothing, this.empty, this.keys);
    this.draw();
  }

  // Single-key shortcuts from problem to problem, which users of speech input can switch off. They end with `signal`.
  hearKeys(signal) {
    document.addEventListener("keydown", (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || this.steps.hidden || !this.letters.checked) return;
      if (!["n", "p"].includes(event.key) || event.target.closest("input:not([type=checkbox]), textarea, select, dialog")) return;
      event.preventDefault();
      this.toProblem(event.key === "n" ? 1 : -1).summary.focus({ preventScroll: true });
    }, { signal });
  }

  // What is scrolled to must not end up under the toolbar, whose height changes with the window. Until `signal`.
  keepClear(signal) {
    const { style } = document.documentElement;
    const watching = new ResizeObserver(() => {
      const covers = getComputedStyle(this.toolbar).position === "sticky";
      style.scrollPaddingTop = covers ? `${this.toolbar.offsetHeight + 8}px` : "";
    });
    watching.observe(this.toolbar);
    signal.addEventListener("abort", () => {
      watching.disconnect();
      style.scrollPaddingTop = "";
    });
  }

  chip(status) {
    const count = h("b", {}, "0");
    const words = { "": "All", [PROBLEM]: "Problems" }[status];
    const element = h("button", { type: "button", class: words ? "chip" : `chip is-${status}`, "aria-pressed": String(!status), onclick: () => this.choose(status) },
      !words && mark(status), ` ${words ?? capital(STATUSES[status].words)} `, count);
    return { element, count };
  }

  // A claim was found, searched or judged; nothing is drawn before `draw`.
  take(claim) {
    if (!this.items.has(claim.id)) {
      this.items.set(claim.id, this.item(claim));
      this.moved = true;
    }
    this.changed.add(claim);
  }

  // Says whether numbers of claims have changed.
  draw() {
    const { claims, counts } = this.unfolding;
    const renumbered = this.moved && this.place(claims);
    for (const claim of this.changed) this.restate(claim);
    for (const [status, { element, count }] of this.chips) {
      const n = status === PROBLEM ? PROBLEMS.reduce((sum, one) => sum + counts[one], 0) : status ? counts[status] : claims.length;
      count.textContent = many(n);
      element.hidden = status !== "" && n === 0 && !this.chosen.has(status);
      element.setAttribute("aria-pressed", String(status ? this.chosen.has(status) : this.chosen.size === 0));
    }
    this.toolbar.hidden = claims.length === 0;
    for (const claim of this.changed) this.filterOne(claim);
    this.changed.clear();
    this.moved = false;
    this.countShown();
    return renumbered;
  }

  // Items into their order, moving only those out of place. Claims are numbered as they stand in the response. Says
  // whether a number has changed.
  place(claims) {
    let at = this.list.firstElementChild;
    const wanted = new Set(claims.map((claim) => claim.id));
    const numbers = new Map(claims.map((claim, index) => [claim.id, index + 1]));
    for (const [id, item] of this.items) {
      if (wanted.has(id)) continue;
      if (item.element === at) at = at.nextElementSibling;
      item.element.remove();
      this.items.delete(id);
    }
    let renumbered = false;
    for (const { id } of this.ordered) {
      const { element, number } = this.items.get(id);
      if (element === at) at = at.nextElementSibling;
      else this.list.insertBefore(element, at);
      if (this.numbers.get(id) === numbers.get(id)) continue;
      this.numbers.set(id, numbers.get(id));
      number.textContent = many(numbers.get(id));
      renumbered = true;
    }
    return renumbered;
  }

  item(claim) {
    const item = { number: h("span", {}), sign: h("span", {}), statement: h("span", { class: "statement", dir: "auto" }), outcome: h("span", { class: "outcome of-judge" }), body: h("div", { class: "body" }), filled: false };
    item.summary = h("summary", {}, item.sign, item.statement, item.outcome, h("span", { class: "number" }, h("span", { class: "unseen" }, "Claim "), item.number));
    item.details = h("details", { ontoggle: () => { if (item.details.open) this.fill(claim, item); } }, item.summary, item.body);
    item.element = h("li", { class: "claim", onfocusin: () => this.noticed?.(claim) }, item.details);
    return item;
  }

  restate(claim) {
    const item = this.items.get(claim.id);
    if (!item) return;
    const [words, instead, beside] = outcome(claim);
    replace(item.sign, mark(claim.status));
    replace(item.statement, claim.statement);
    replace(item.outcome, h("span", { class: `verdict is-${claim.status}` }, words), instead && [" · ", h("b", {}, said(instead))], beside && ` · ${beside}`);
    item.element.querySelectorAll(":scope > .decided-by, summary > .rationale").forEach((one) => one.remove());
    item.outcome.after(...[whyBeside(claim)].filter(Boolean));
    item.details.after(...[decidedBy(claim)].filter(Boolean));
    item.filled = false;
    if (item.details.open) this.fill(claim, item);
  }

  fill(claim, item) {
    if (item.filled) return;
    item.filled = true;
    const original = claim.record?.duplicate_of ?? null;
    replace(item.body, grounds(claim, {
      original: this.numbers.get(original),
      toOriginal: () => this.reveal(this.unfolding.byId.get(original)),
      toSentence: this.hasSentence(claim) ? () => this.located(claim) : null,
    }));
    globalThis.Labelling.arrange(item.element);
  }

  matches(claim) {
    return (this.chosen.size === 0 || this.shows(claim.status)) && (!this.words || searched(claim).includes(this.words));
  }

  filterOne(claim) {
    const item = this.items.get(claim.id);
    if (item) item.element.hidden = !this.matches(claim);
  }

  filter() {
    for (const claim of this.unfolding.claims) this.filterOne(claim);
    this.draw();
  }

  countShown() {
    const total = this.unfolding.claims.length;
    this.keys.hidden = total === 0;
    const n = this.chosen.size || this.words ? this.unfolding.claims.filter((claim) => this.matches(claim)).length : total;
    this.shown.textContent = n === total ? plural(total, "claim") : `${many(n)} of ${plural(total, "claim")}`;
    this.nothing.hidden = n > 0 || total === 0;
    if (!this.opened) this.openAll.textContent = n > MOST_OPEN ? `Open the first ${MOST_OPEN}` : "Open all";
    this.nShown = n;
  }

  // Claims as they are listed: in the order of the response, once all is judged with the problems first, worst first.
  get ordered() {
    if (!this.isSettled || this.isInLine) return this.unfolding.claims;
    const rank = ({ status }) => (PROBLEMS.includes(status) ? PROBLEMS.indexOf(status) : PROBLEMS.length);
    return [...this.unfolding.claims].sort((one, other) => rank(one) - rank(other));
  }

  // All claims in the order of the response, to be labelled: problems first would tell the verdict.
  line(on) {
    this.isInLine = on;
    this.moved = true;
    if (on) this.reset();
    else this.draw();
  }

  get problems() { return this.ordered.filter((claim) => PROBLEMS.includes(claim.status)); }

  // All is judged: problems first, and alone unless the reader has chosen what to see. A claim that is read stays in its place.
  settle() {
    const n = this.problems.length;
    this.steps.hidden = n === 0;
    this.keys.classList.toggle("is-without-problems", n === 0);
    this.stepped.textContent = plural(n, "problem");
    if (this.list.querySelector("details[open]") || this.list.contains(document.activeElement)) return;
    this.isSettled = this.moved = true;
    if (n > 0 && !this.isTouched) {
      this.isStandard = true;
      this.chosen.add(PROBLEM);
    }
    this.filter();
  }

  // The last problem opened so is closed again, and the sentence of the next is shown beside. Gives its item.
  toProblem(by) {
    const { problems } = this;
    const here = problems.findIndex((claim) => this.items.get(claim.id).element.contains(document.activeElement));
    const from = here < 0 ? problems.indexOf(this.problem) : here;
    const at = Math.min(Math.max(from + by, 0), problems.length - 1);
    if (this.problem && this.problem !== problems[at]) this.items.get(this.problem.id).details.open = false;
    this.problem = problems[at];
    this.beside(this.problem);
    this.stepped.textContent = `Problem ${many(at + 1)} of ${many(problems.length)}`;
    return this.open(this.problem);
  }

  // The page's own choice gives way to the reader's first. A filter of what is shown anyway shows that alone: added to
  // the others, it would do nothing.
  choose(status) {
    this.isTouched = true;
    if (!status) this.chosen.clear();
    else if (!this.chosen.delete(status)) {
      const added = this.unfolding.claims.filter((claim) => (status === PROBLEM ? PROBLEMS : [status]).includes(claim.status));
      if (this.isStandard || added.every((claim) => this.shows(claim.status))) this.chosen.clear();
      this.chosen.add(status);
    }
    this.isStandard = false;
    this.filter();
    this.uncover();
  }

  shows(status) { return this.chosen.has(status) || (this.chosen.has(PROBLEM) && PROBLEMS.includes(status)); }

  // What a reader has filtered must not end up under the toolbar.
  uncover() {
    const first = this.list.querySelector(".claim:not([hidden])") ?? this.nothing;
    if (!first.hidden && first.getBoundingClientRect().top < this.toolbar.getBoundingClientRect().bottom) first.scrollIntoView();
  }

  typed() {
    this.isTouched = true;
    clearTimeout(this.typing);
    this.typing = setTimeout(() => {
      this.words = this.search.value.trim().toLowerCase();
      this.filter();
      this.uncover();
    }, TYPING_MS);
  }

  reset() {
    this.isStandard = false;
    this.chosen.clear();
    this.words = this.search.value = "";
    this.filter();
  }

  toggleAll() {
    this.opened = !this.opened;
    const items = this.seen.map((claim) => this.items.get(claim.id));
    (this.opened ? items.slice(0, MOST_OPEN) : [...this.items.values()]).forEach((item) => { item.details.open = this.opened; });
    this.openAll.textContent = this.opened ? "Close all" : "Open all";
    this.countShown();
  }

  // Claims that are shown, in the order of the list.
  get seen() { return this.ordered.filter((claim) => this.matches(claim)); }

  // Opens a claim to be labelled, alone, and goes there.
  turnTo(claim, focuses) {
    const item = this.items.get(claim.id);
    if (this.turnedTo && this.turnedTo !== item) this.turnedTo.details.open = false;
    this.turnedTo = item;
    this.list.querySelectorAll(".claim.is-linked").forEach((one) => one.classList.remove("is-linked"));
    item.element.classList.add("is-linked");
    item.details.open = true;
    if (focuses) item.summary.focus({ preventScroll: true });
    item.summary.scrollIntoView({ block: "start" });
  }

  // Verdicts are hidden, or shown again.
  blind() {
    for (const { element } of this.items.values()) globalThis.Labelling.arrange(element);
  }

  tag(claim, words) {
    const { element, summary } = this.items.get(claim.id);
    summary.querySelector(".given")?.remove();
    element.classList.toggle("is-labelled", Boolean(words));
    globalThis.Labelling.arrange(element);
    if (words) summary.append(h("span", { class: "given" }, words));
  }

  // Opens a claim and goes there.
  reveal(claim) {
    if (claim && this.items.has(claim.id)) this.open(claim).summary.focus({ preventScroll: true });
  }

  open(claim) {
    const item = this.items.get(claim.id);
    if (item.element.hidden) this.reset();
    this.list.querySelectorAll(".claim.is-linked").forEach((one) => one.classList.remove("is-linked"));
    item.element.classList.add("is-linked");
    item.details.open = true;
    item.summary.scrollIntoView({ block: "nearest" });
    return item;
  }

  // Arrows lead from claim to claim, Escape closes the one that is open.
  pressed(event) {
    const item = event.target.closest(".claim");
    if (event.key === "Escape" && item?.firstElementChild.open) {
      item.firstElementChild.open = false;
      item.querySelector("summary").focus();
    } else if (event.target.localName === "summary" && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      this.step(item, event.key === "ArrowDown" ? "nextElementSibling" : "previousElementSibling");
    } else return;
    event.preventDefault();
  }

  step(item, direction) {
    let next = item[direction];
    while (next?.hidden) next = next[direction];
    next?.querySelector("summary").focus();
  }
}
