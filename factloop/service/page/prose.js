// The response with its sentences marked in place, as claims are found in them and judged.
import { escaped, h, replace } from "./dom.js";
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
  // `chosen(claim)` hears which claim's sentence was chosen.
  constructor(unfolding, chosen) {
    this.unfolding = unfolding;
    this.chosen = chosen;
    this.spans = []; // sentences in order, none within another: { start, end, claims, why, pieces }
    this.spanOf = new Map(); // of a claim's id
    this.blocks = blocksOf(unfolding.response).map(([start, end]) => ({ start, end, element: h("div", { class: "block" }, unfolding.response.slice(start, end)) }));
    this.dirty = new Set();
    this.restated = new Set();
    this.element = h("div", { class: "prose", dir: "auto", tabindex: "0", role: "region", "aria-label": "The response, its sentences marked" }, this.blocks.map((block) => block.element));
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

  // What has no claim, and why: known with the report, when all claims have their places.
  fallSilent(sentences) {
    for (const { start, end, why } of sentences) this.put(start, end, [], noClaim(why));
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
    this.restated.add(span);
    for (let at = lastBefore(this.blocks, start); at < this.blocks.length && this.blocks[at].start < end; at += 1) this.dirty.add(this.blocks[at]);
    return span;
  }

  draw() {
    for (const block of this.dirty) this.fill(block);
    for (const span of this.restated) restate(span, this.numbers);
    this.dirty.clear();
    this.restated.clear();
  }

  // Numbers of claims have changed.
  renumber(numbers) {
    this.numbers = numbers;
    for (const span of this.spans) this.restated.add(span);
  }

  fill(block) {
    const { response } = this.unfolding;
    const focused = block.element.contains(document.activeElement) ? document.activeElement : null;
    const parts = [];
    let reached = block.start;
    for (let at = lastBefore(this.spans, block.start); at < this.spans.length && this.spans[at].start < block.end; at += 1) {
      const span = this.spans[at];
      const start = Math.max(span.start, block.start);
      const end = Math.min(span.end, block.end);
      if (start >= end) continue;
      parts.push(response.slice(reached, start), this.piece(span, start, end));
      reached = end;
    }
    parts.push(response.slice(reached, block.end));
    replace(block.element, parts.filter((part) => part !== ""));
    focused?.focus({ preventScroll: true });
  }

  // A sentence that runs on in the next block has a piece in each; the first can be chosen.
  piece(span, start, end) {
    const known = span.pieces.find((one) => one.start === start);
    if (known && known.end === end) return known.element;
    const text = this.unfolding.response.slice(start, end);
    const element = span.why ? silent(text, span.why, start === span.start) : start === span.start
      ? h("a", { class: "sentence", href: location.hash || "#/", role: "button", onclick: (event) => { event.preventDefault(); this.choose(span); } }, h("span", { class: "mark", "aria-hidden": "true" }), h("span", { class: "unseen" }), h("bdi", {}, text))
      : h("span", { class: "sentence" }, h("bdi", {}, text));
    if (!span.why) element.addEventListener("keydown", (event) => { if (event.key === " ") { event.preventDefault(); this.choose(span); } });
    span.pieces = [...span.pieces.filter((one) => one.start !== start), { start, end, element, text }];
    this.restated.add(span);
    return element;
  }

  choose(span) {
    this.link(span.claims[0]);
    this.chosen(span.claims.find((claim) => claim.status === worst(span)) ?? span.claims[0]);
  }

  // Shows where a claim stands; false where it stands nowhere.
  link(claim) {
    this.element.querySelectorAll(".is-linked").forEach((one) => one.classList.remove("is-linked"));
    const span = this.spanOf.get(claim.id);
    span?.pieces.forEach(({ element }) => element.classList.add("is-linked"));
    return span?.pieces[0]?.element ?? null;
  }
}

const worst = (span) => WORST_FIRST.find((status) => span.claims.some((claim) => claim.status === status));

const silent = (text, why, isFirst) => h("span", { class: "silent", title: capital(why) }, isFirst && h("span", { class: "unseen" }, `${capital(why)}: `), h("bdi", {}, text));

// The text with the words marked that contradicted claims fail for, where the judge names them.
const withFaults = (text, claims) => {
  const [claim, ...others] = claims.filter(({ record }) => record?.judgement.contradicted && record.judgement.wrong?.trim());
  if (!claim) return [text];
  const words = claim.record.judgement.wrong.trim().split(/\s+/).map(escaped).join("\\s+");
  const found = new RegExp(`(?<![\\p{L}\\p{N}])${words}(?![\\p{L}\\p{N}])`, "iu").exec(text);
  if (!found) return withFaults(text, others);
  const end = found.index + found[0].length;
  const fault = h("mark", { class: "fault is-contradicted", title: sourceSays(claim.record) }, found[0]);
  return [...withFaults(text.slice(0, found.index), others), fault, ...withFaults(text.slice(end), others)];
};

const restate = (span, numbers) => {
  if (span.why) return;
  const status = worst(span);
  const named = span.claims.map((claim) => numbers?.get(claim.id)).filter(Boolean).sort((one, other) => one - other);
  const told = `${STATUSES[status].words}, ${named.length === 1 ? "claim" : "claims"} ${named.map(many).join(", ")}`;
  const isNamed = span.claims.some(({ record }) => record?.judgement.wrong);
  for (const { element, text } of span.pieces) {
    const linked = element.classList.contains("is-linked") ? " is-linked" : "";
    element.className = `sentence is-${status}${linked}`;
    if (isNamed) {
      const shown = withFaults(text, span.claims);
      replace(element.lastChild, ...shown);
      element.classList.toggle("has-faults", shown.length > 1);
    }
    if (element.localName !== "a") continue;
    element.title = capital(told);
    element.firstChild.replaceWith(mark(status));
    element.children[1].textContent = `${capital(told)}: `; // before the sentence: after it, it would offer a place to break the line
  }
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
