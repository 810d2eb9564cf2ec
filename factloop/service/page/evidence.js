// What stands behind a verdict: passages with their sources, queries, the rationale.
import { escaped, h, said, trail, webAddress } from "./dom.js";
import { citedBy, moment } from "./words.js";

const QUOTED = /“([^”\n]{8,600})”|"([^"\n]{8,600})"|«([^»\n]{8,600})»|‘([^’\n]{8,600})’/g;
const NO_PASSAGE = "No passage was read for this claim.";
const FEWEST_WORDS = 3; // of a quote in a rationale: shorter ones name a thing

// What a judge quotes, in its words or beside them.
const quotesOf = ({ quote = "", rationale = "" }) => {
  const within = [...rationale.matchAll(QUOTED)].map((found) => found.slice(1).find(Boolean).replace(/^[ .…]+|[ .…]+$/g, ""));
  return [quote, ...within.filter((one) => one.split(/\s+/).length >= FEWEST_WORDS)];
};

// Where the first of these passages that has a quote has it: { item, start, end }.
const found = (items, quotes) => {
  for (const words of quotes.map((quote) => quote.split(/\s+/).filter(Boolean).map(escaped))) {
    const pattern = words.length > 0 && new RegExp(words.join("\\s+"), "u");
    for (const item of pattern ? items : []) {
      const match = pattern.exec(item.passage);
      if (match) return { item, start: match.index, end: match.index + match[0].length };
    }
  }
  return null;
};

// The sentence that the verdict rests on; of a claim without evidence the one that comes nearest to it.
const markedSentence = (items, cited, judgement) => {
  const decides = judgement.contradicted !== false;
  const first = new Set(decides ? cited : judgement.cited ?? []);
  const named = items.filter((one) => first.has(one.id));
  const place = found(decides ? named : [...named, ...items.filter((one) => !first.has(one.id))], quotesOf(judgement));
  return place && { ...place, kind: decides ? "deciding" : "nearest" };
};

const marked = (item, place) => {
  if (place?.item !== item) return item.passage;
  const { start, end, kind } = place;
  const mark = h("mark", { class: kind }, h("span", { class: "unseen" }, `[${kind} sentence: `), item.passage.slice(start, end), h("span", { class: "unseen" }, "]"));
  return [item.passage.slice(0, start), mark, item.passage.slice(end)];
};

const source = (item) => {
  const address = webAddress(item.source);
  const name = item.section ? [said(item.title || item.source), " › ", said(item.section)] : said(item.title || item.source);
  return address ? h("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, name) : h("b", {}, name);
};

// Where a passage is from and how it was found. How many queries a claim took hints at its verdict.
const provenance = (item, withQuery) => {
  const from = [item.title && said(item.source), item.published && said(item.published)].filter(Boolean).flatMap((one) => [one, " · "]);
  if (!item.query) return [from, "shown with all there is"];
  const dot = from.pop();
  return [from, h("span", { class: "of-judge" }, dot, `result ${item.rank}`, withQuery && [" for “", said(item.query), `” · retrieved ${moment(item.retrieved_at)}`])];
};

// `number` is the one by which a rationale speaks of it: [2].
export const passage = (item, cited, withQuery = true, number = null, place = null) => h("li", { class: cited ? "evidence is-cited" : "evidence", "data-number": number },
  h("p", { class: "source" }, number !== null && `[${number}] `, source(item), cited && h("span", { class: "tag" }, "cited")),
  h("blockquote", { dir: "auto", tabindex: item.passage.length > 1200 ? "0" : null }, marked(item, place)),
  h("p", { class: "provenance" }, provenance(item, withQuery)));

// All passages: the one with the marked sentence, then the others that are cited, then the rest.
export const passages = (items, cited, judgement = {}) => {
  const named = new Set(cited);
  const place = markedSentence(items, cited, judgement);
  const rank = ({ item }) => (item === place?.item ? 0 : named.has(item.id) ? 1 : 2);
  const shown = items.map((item, at) => ({ item, number: at + 1 })).sort((one, other) => rank(one) - rank(other));
  return h("ol", { class: "evidences" }, shown.map(({ item, number }) => passage(item, named.has(item.id), true, number, place)));
};

// Beside a contradicted claim: the sentence that decides, with its source; null where it is not known.
export const decidedBy = ({ record, status }) => {
  const place = status === "contradicted" && record && markedSentence(record.evidence, citedBy(record), record.judgement);
  if (!place) return null;
  return h("p", { class: "decided-by" }, h("q", { dir: "auto" }, place.item.passage.slice(place.start, place.end)), " ",
    h("span", { class: "provenance" }, source(place.item), place.item.title && [" · ", said(place.item.source)]));
};

// Beside a claim without evidence: what was found in its place.
const isWhyBeside = ({ record, status }) => Boolean(status === "no_evidence" && record?.judgement.rationale);
export const whyBeside = (claim) => isWhyBeside(claim) && h("span", { class: "rationale of-judge", dir: "auto" }, claim.record.judgement.rationale);

export const listed = (texts) => h("ol", { class: "queries" }, texts.map((text) => h("li", {}, said(text))));

// The body of a judged claim, of one still under way or of one that stayed unscored.
export const grounds = (claim, { original, toOriginal, toSentence }) => {
  const record = claim.record;
  const sentence = toSentence ? h("button", { type: "button", class: "link", onclick: toSentence }, said(claim.sentence)) : said(claim.sentence);
  if (!record) return [trail(["Sentence", sentence], claim.queries.length > 0 && ["Asked so far", listed(claim.queries)])];
  const judgement = record.judgement;
  return [
    record.duplicate_of !== null && h("p", { class: "duplicate" }, "Says the same as ", original ? h("button", { type: "button", class: "link", onclick: toOriginal }, `claim ${original}`) : "another claim", ", whose judgement stands for both."),
    judgement.rationale && !isWhyBeside(claim) && h("p", { class: "rationale of-judge", dir: "auto" }, judgement.rationale),
    (record.evidence.length > 0 || record.duplicate_of === null) && [h("h3", {}, "Evidence"),
      record.evidence.length > 0 ? passages(record.evidence, citedBy(record), judgement) : h("p", { class: "nothing" }, NO_PASSAGE)],
    h("h3", {}, "How it was checked"),
    trail(["Sentence", sentence], ["Fact as split", said(record.text)]),
    h("div", { class: "of-judge" }, trail(
      record.queries.length > 0 && [record.queries.length === 1 ? "Query" : "Queries", listed(record.queries)],
      record.missing.length > 0 && ["Was missing", listed(record.missing)],
      judgement.judged_by && ["Judged by", said(judgement.judged_by)],
      judgement.score !== null && ["Degree of support", `${judgement.score.toFixed(2)} of 1`])),
  ];
};
