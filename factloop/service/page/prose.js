// The response with its sentences marked in place, as claims are found in them and judged.
import { escaped, h, replace, webAddress } from "./dom.js";
import { STATUSES, WORST_FIRST, capital, mark, many, noClaim, sourceSays } from "./words.js";

const LONG_BLOCK = 4000;

// Cut where a paragraph ends, so that a browser lays out again no more than what changed. The blocks joined are the text.
export const blocksOf = (text) => {
  const blocks = [];
  let start = 0;
  const paragraph = /\n[ \t\r]*\n+/g;
  for (let found = paragraph.exec(text); found; found = paragraph.exec(text)) {
    blocks.push(...cut(text, start, paragraph.lastIndex));
    start = paragraph.lastIndex;
  }
  if (start < text.length) blocks.push(...cut(text, start, text.length));
  return blocks;
};

// A paragraph of many pages breaks after a line, a sentence or, where there is neither, anywhere.
const cut = (text, start, end) => {
  const parts = [];
  while (end - start > 2 * LONG_BLOCK) {
    const stretch = text.slice(start + LONG_BLOCK, start + 2 * LONG_BLOCK);
    const at = stretch.search(/\n/) + 1 || stretch.search(/[.!?。]\s/) + 2;
    let next = start + LONG_BLOCK + (at > 1 || stretch[0] === "\n" ? at : LONG_BLOCK);
    if (/[\udc00-\udfff]/.test(text[next])) next += 1;
    parts.push([start, next]);
    start = next;
  }
  parts.push([start, end]);
  return parts;
};

export class Prose {
  // `chosen(claim)` hears which claim's sentence was chosen; `layout` has the Markdown of the response as parts.
  constructor(unfolding, chosen, layout = null) {
    this.unfolding = unfolding;
    this.chosen = chosen;
    this.spans = []; // sentences in order, none within another: { start, end, claims, why, pieces }
    this.spanOf = new Map(); // of a claim's id
    this.faults = null; // those that the report knows: { start, end, status, said }, in order
    this.dirty = new Set();
    this.restated = new Set();
    this.element = h("div", { class: "prose", dir: "auto", tabindex: "0", role: "region", "aria-label": "The response, its sentences marked" });
    if (layout?.parts.length) this.settleOn(laidOut(layout.parts, unfolding.at));
    else this.showPlain();
    this.raw = layout?.is_marked_up && h("details", { class: "raw" }, h("summary", {}, "Raw text"), h("pre", { dir: "auto", tabindex: "0" }, unfolding.response));
  }

  // Blocks in the order of the response: { start, end, runs, element }, each run with its place and, where it shows something
  // else than the response has there, a text.
  settleOn({ roots, blocks }) {
    this.blocks = blocks;
    for (const span of this.spans) span.pieces = [];
    for (const block of blocks) this.dirty.add(block);
    replace(this.element, roots);
  }

  showPlain() {
    const { response } = this.unfolding;
    const blocks = blocksOf(response).map(([start, end]) => ({ start, end, runs: [{ start, end, text: null }], element: h("div", { class: "block plain" }, response.slice(start, end)) }));
    this.settleOn({ roots: blocks.map((block) => block.element), blocks });
    this.isPlain = true;
    this.dirty.clear();
    for (const span of this.spans) this.redraw(span);
  }

  // A claim was found or judged; nothing is drawn before `draw`.
  take(claim) {
    if (this.spanOf.has(claim.id)) {
      this.restated.add(this.spanOf.get(claim.id));
      return;
    }
    const next = this.spans[firstAtOrAfter(this.spans, claim.start)];
    if (next && next.start === claim.start && next.end === claim.end) {
      next.claims.push(claim);
      this.spanOf.set(claim.id, next);
      this.restated.add(next);
      return;
    }
    const span = this.put(claim.start, claim.end, [claim]);
    if (span) this.spanOf.set(claim.id, span);
  }

  // What the report knows: what has no claim, and why; and the words that fail. All claims have their places by now.
  settle(silent, faults) {
    for (const { start, end, why } of silent) this.put(start, end, [], noClaim(why));
    const { at } = this.unfolding;
    this.faults = faults?.map((one) => ({ ...one, start: at(one.start), end: at(one.end) })) ?? null;
    for (const span of this.spans) this.restated.add(span);
  }

  // Each character goes to the sentence that starts first, so what overlaps gets what is left, or no mark of its own.
  put(from, to, claims, why = "") {
    const place = firstAtOrAfter(this.spans, from);
    const next = this.spans[place];
    const start = Math.max(from, this.spans[place - 1]?.end ?? 0);
    const end = next ? Math.min(to, next.start) : to;
    if (start >= end) return null;
    const span = { start, end, claims, why, pieces: [] };
    this.spans.splice(place, 0, span);
    this.redraw(span);
    return span;
  }

  redraw(span) {
    this.restated.add(span);
    for (let at = lastBefore(this.blocks, span.start); at < this.blocks.length && this.blocks[at].start < span.end; at += 1) this.dirty.add(this.blocks[at]);
  }

  draw() {
    for (const block of this.dirty) this.fill(block);
    if (!this.isPlain && [...this.restated].some((span) => this.isLost(span))) {
      this.showPlain();
      for (const block of this.dirty) this.fill(block);
    }
    for (const span of this.restated) this.restate(span);
    this.dirty.clear();
    this.restated.clear();
  }

  // Whether Markdown leaves the sentence out, as it does what is nested too deep: then the response stands as it was written.
  isLost({ start, end, pieces }) { return !pieces.some(hasWords) && /\S/.test(this.unfolding.response.slice(start, end)); }

  // Numbers of claims have changed.
  renumber(numbers) {
    this.numbers = numbers;
    for (const span of this.spans) this.restated.add(span);
  }

  fill(block) {
    const focused = block.element.contains(document.activeElement) ? document.activeElement : null;
    const parts = this.cut(block).map(({ span, runs }) => (span ? this.piece(span, block, runs) : this.shown(runs)));
    replace(block.element, parts);
    focused?.focus({ preventScroll: true });
  }

  // The runs of a block by the sentences that they belong to.
  cut(block) {
    const groups = [];
    const add = (span, run) => {
      if (groups.length && groups.at(-1).span === span) groups.at(-1).runs.push(run);
      else groups.push({ span, runs: [run] });
    };
    for (const run of block.runs) {
      let at = lastBefore(this.spans, run.start);
      if (run.text !== null) { // of one piece, whatever it stands for
        const span = this.spans[at];
        add(span && span.start <= run.start && run.start < span.end ? span : null, run);
        continue;
      }
      let reached = run.start;
      for (; at < this.spans.length && this.spans[at].start < run.end; at += 1) {
        const start = Math.max(this.spans[at].start, run.start);
        const end = Math.min(this.spans[at].end, run.end);
        if (start >= end) continue;
        if (reached < start) add(null, { ...run, start: reached, end: start });
        add(this.spans[at], { ...run, start, end });
        reached = end;
      }
      if (reached < run.end) add(null, { ...run, start: reached });
    }
    return groups;
  }

  // A sentence has a piece in each block that it runs through; in one of several tags, each of these is a block.
  piece(span, block, runs) {
    const known = span.pieces.find((one) => one.block === block && one.start === runs[0].start);
    span.pieces = span.pieces.filter((one) => one.block !== block || one === known);
    if (known && known.runs.at(-1).end === runs.at(-1).end) return known.element;
    const text = runs.map((run) => run.text ?? this.unfolding.response.slice(run.start, run.end)).join("");
    const element = h("span", { class: span.why ? "silent" : "sentence", title: span.why ? capital(span.why) : null, onclick: span.why ? null : (event) => this.clicked(event, span) });
    span.pieces = [...span.pieces.filter((one) => one !== known), { block, start: runs[0].start, runs, text, element }].sort((one, other) => one.start - other.start);
    this.restated.add(span);
    return element;
  }

  clicked(event, span) {
    if (event.target.closest("a:not(.signs)") || (!event.target.closest(".signs") && String(getSelection()))) return;
    event.preventDefault();
    this.choose(span);
  }

  choose(span) {
    this.link(span.claims[0]);
    this.chosen((!this.isBlind && span.claims.find((claim) => claim.status === worst(span))) || span.claims[0]);
  }

  // Shows where a claim stands: the signs of its sentence, or null where it stands nowhere.
  link(claim) {
    this.element.querySelectorAll(".is-linked").forEach((one) => one.classList.remove("is-linked"));
    const span = this.spanOf.get(claim.id);
    span?.pieces.forEach(({ element }) => element.classList.add("is-linked"));
    return span?.signs ?? null;
  }

  // Each piece in the look of its sentence; the first one that has words carries the signs.
  restate(span) {
    const first = span.pieces.find(hasWords);
    const faults = span.why ? [] : this.faultsOf(span);
    const said = span.why ? `${capital(span.why)}: ` : `${capital(this.told(span))}: `;
    if (first && !span.why) this.sign(span, first, said);
    for (const piece of span.pieces) {
      const lead = piece !== first ? [] : [span.why ? h("span", { class: "unseen" }, said) : span.signs];
      if (piece.shownFor !== faults.length || piece.lead !== lead.length || faults.length) replace(piece.element, lead, this.shown(piece.runs, faults));
      Object.assign(piece, { shownFor: faults.length, lead: lead.length });
      if (span.why) continue;
      const linked = piece.element.classList.contains("is-linked") ? " is-linked" : "";
      piece.element.className = `sentence is-${worst(span)}${faults.length ? " has-faults" : ""}${linked}`;
      piece.element.title = capital(this.told(span));
    }
  }

  told(span) {
    const named = span.claims.map((claim) => this.numbers?.get(claim.id)).filter(Boolean).sort((one, other) => one - other);
    return `${STATUSES[worst(span)].words}, ${named.length === 1 ? "claim" : "claims"} ${named.map(many).join(", ")}`;
  }

  // Links from sentences to their claims are named after verdicts, and lead to the worst, unless these are hidden.
  blind(on) {
    this.isBlind = on;
    for (const { signs, claims } of this.spans.filter((span) => span.signs)) {
      if (on) signs.setAttribute("aria-label", `To claim ${claims.map((claim) => many(this.numbers.get(claim.id))).join(", ")}`);
      else signs.removeAttribute("aria-label");
    }
  }

  // What leads from a sentence to its claims. It stands before the sentence: after it, it would offer a place to break the line.
  sign(span, first, said) {
    span.signs ??= h("a", { class: "signs", href: location.hash || "#/", role: "button", onkeydown: (event) => { if (event.key === " ") { event.preventDefault(); this.choose(span); } } }, h("span", {}), h("span", { class: "unseen" }));
    span.signs.firstChild.replaceWith(mark(worst(span)));
    span.signs.lastChild.textContent = said;
  }

  // The words of a sentence that fail: those that the report knows, before it those that the judge names.
  faultsOf(span) {
    if (!this.faults) return named(this.unfolding.response.slice(span.start, span.end), span);
    const found = [];
    for (let at = lastBefore(this.faults, span.start); at < this.faults.length && this.faults[at].start < span.end; at += 1) {
      if (this.faults[at].end > span.start) found.push(this.faults[at]);
    }
    return found;
  }

  // Runs as elements, cut where words begin or cease to fail.
  shown(runs, faults = []) {
    return runs.flatMap((run) => {
      const parts = [];
      let reached = run.start;
      for (const fault of faults.filter((one) => one.start < run.end && one.end > run.start)) {
        const [start, end] = run.text === null ? [Math.max(fault.start, run.start), Math.min(fault.end, run.end)] : [run.start, run.end];
        if (reached < start) parts.push(this.words({ ...run, start: reached, end: start }));
        if (reached < end) parts.push(h("mark", { class: `fault is-${fault.status}`, title: fault.said }, this.words({ ...run, start, end }), start === fault.start && h("span", { class: "unseen" }, ` (${fault.said})`)));
        reached = Math.max(reached, end);
      }
      return reached < run.end ? [...parts, this.words({ ...run, start: reached })] : parts;
    });
  }

  words({ start, end, text, code, href }) {
    const words = text ?? this.unfolding.response.slice(start, end);
    if (href && webAddress(href)) return h("a", { href, rel: "noopener noreferrer", target: "_blank" }, words);
    return h(code ? "code" : "bdi", {}, words);
  }
}

// The parts of a layout as elements; what stands together between two tags is a block.
const laidOut = (parts, at) => {
  const root = h("div", {});
  const open = [root];
  const blocks = [];
  let block = null;
  for (const part of parts) {
    if (part.kind === "text") {
      if (!block) {
        block = { runs: [], element: h("span", {}) };
        blocks.push(block);
        open.at(-1).append(block.element);
      }
      block.runs.push({ ...part, start: at(part.start), end: at(part.end) });
      continue;
    }
    block = null;
    if (part.closes) {
      open.pop();
      continue;
    }
    const element = h(part.name, part.attributes);
    open.at(-1).append(part.name === "table" ? h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Table" }, element) : element);
    if (!["br", "hr"].includes(part.name)) open.push(element);
  }
  for (const one of blocks) Object.assign(one, { start: one.runs[0].start, end: one.runs.at(-1).end });
  return { roots: [...root.childNodes], blocks };
};

const hasWords = ({ text }) => text.trim() !== "";

const worst = (span) => WORST_FIRST.find((status) => span.claims.some((claim) => claim.status === status));

// The words that contradicted claims fail for, where the judge names them: none within another.
const named = (text, { start, claims }) => {
  const found = [];
  for (const { record } of claims) {
    if (!record?.judgement.contradicted || !record.judgement.wrong?.trim()) continue;
    const words = record.judgement.wrong.trim().split(/\s+/).map(escaped).join("\\s+");
    const match = new RegExp(`(?<![\\p{L}\\p{N}])${words}(?![\\p{L}\\p{N}])`, "iu").exec(text);
    if (!match) continue;
    const one = { start: start + match.index, end: start + match.index + match[0].length, status: "contradicted", said: sourceSays(record) };
    if (!found.some((other) => one.start < other.end && other.start < one.end)) found.push(one);
  }
  return found.sort((one, other) => one.start - other.start);
};

const firstAtOrAfter = (sorted, start) => {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle].start < start) low = middle + 1;
    else high = middle;
  }
  return low;
};
const lastBefore = (sorted, start) => Math.max(0, firstAtOrAfter(sorted, start + 1) - 1);
