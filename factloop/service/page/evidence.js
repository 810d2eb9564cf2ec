// What stands behind a verdict: passages with their sources, queries, the rationale.
import { escaped, h, said, trail, webAddress } from "./dom.js";
import { offsets } from "./unfolding.js";
import { citedBy, moment } from "./words.js";

const NO_PASSAGE = "No passage was read for this claim.";

// Before there is a report: where the first of the passages that the judge names has the words that it quotes.
const quoted = ({ evidence, judgement }) => {
  const words = (judgement.quote ?? "").split(/\s+/).filter(Boolean).map(escaped);
  if (words.length === 0) return null;
  const pattern = new RegExp(words.join("\\s+"), "u");
  for (const item of evidence.filter(({ id }) => judgement.cited.includes(id))) {
    const match = pattern.exec(item.passage);
    if (match) return { item, section: item.section, start: match.index, end: match.index + match[0].length, decides: judgement.contradicted !== false };
  }
  return null;
};

// The sentence that the verdict rests on, or the one that comes nearest to the claim, as the report marks it.
const markedSentence = ({ record, mark }) => {
  if (mark === undefined) return quoted(record);
  const item = record.evidence.find(({ id }) => id === mark?.evidence_id);
  if (!item) return null;
  const at = offsets(item.passage);
  return { item, section: mark.section, start: at(mark.start), end: at(mark.end), decides: mark.decides };
};

const marked = (item, place) => {
  if (place?.item !== item) return item.passage;
  const { start, end } = place;
  const kind = place.decides ? "deciding" : "nearest";
  const mark = h("mark", { class: kind }, h("span", { class: "unseen" }, `[${kind} sentence: `), item.passage.slice(start, end), h("span", { class: "unseen" }, "]"));
  return [item.passage.slice(0, start), mark, item.passage.slice(end)];
};

const source = (item, section = item.section) => {
  const address = webAddress(item.source);
  const name = section ? [said(item.title || item.source), " › ", said(section)] : said(item.title || item.source);
  return address ? h("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, name) : h("b", {}, name);
};

const foundBy = ({ rank, query }, queries) => {
  const at = queries.indexOf(query);
  if (at < 0) return [`result ${rank} for “`, said(query), "”"];
  return queries.length === 1 ? `result ${rank}` : `result ${rank} of query ${at + 1}`;
};

// Where a passage is from and how it was found. How many queries a claim took hints at its verdict.
const provenance = (item, queries) => {
  const from = [item.title && said(item.source), item.published && said(item.published)].filter(Boolean).flatMap((one) => [one, " · "]);
  if (!item.query) return [from, "shown with all there is"];
  const dot = from.pop();
  return [from, h("span", { class: "of-judge" }, dot, foundBy(item, queries), ` · retrieved ${moment(item.retrieved_at)}`)];
};

// `number` is the one by which a rationale speaks of it: [2].
const passage = (item, cited, number, { place = null, queries = [] }) => h("li", { class: cited ? "evidence is-cited" : "evidence", "data-number": number },
  h("p", { class: "source" }, `[${number}] `, source(item), cited && h("span", { class: "tag" }, "cited")),
  h("blockquote", { dir: "auto", tabindex: item.passage.length > 1200 ? "0" : null }, marked(item, place)),
  h("p", { class: "provenance" }, provenance(item, queries)));

// All passages: the one with the marked sentence (`place`), then the others that are cited, then the rest. `queries`
// stand below them.
export const passages = (items, cited, { place = null, queries = [] } = {}) => {
  const named = new Set(cited);
  const rank = ({ item }) => (item === place?.item ? 0 : named.has(item.id) ? 1 : 2);
  const shown = items.map((item, at) => ({ item, number: at + 1 })).sort((one, other) => rank(one) - rank(other));
  return h("ol", { class: "evidences" }, shown.map(({ item, number }) => passage(item, named.has(item.id), number, { place, queries })));
};

// Beside a contradicted claim: the sentence that decides, with its source; null where it is not known.
export const decidedBy = (claim) => {
  const place = claim.status === "contradicted" && claim.record && markedSentence(claim);
  if (!place) return null;
  return h("p", { class: "decided-by" }, h("q", { dir: "auto" }, place.item.passage.slice(place.start, place.end)), " ",
    h("span", { class: "provenance" }, source(place.item, place.section), place.item.title && [" · ", said(place.item.source)]));
};

// Beside a claim without evidence: what was found in its place.
const isWhyBeside = ({ record, status }) => Boolean(status === "no_evidence" && record?.judgement.rationale);
export const whyBeside = (claim) => isWhyBeside(claim) && h("span", { class: "rationale of-judge", dir: "auto" }, claim.record.judgement.rationale);

export const listed = (texts) => h("ol", { class: "queries" }, texts.map((text) => h("li", {}, said(text))));

const ofJudge = (element) => {
  element.classList.add("of-judge");
  return element;
};

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
      record.evidence.length > 0 ? passages(record.evidence, citedBy(record), { place: markedSentence(claim), queries: record.queries }) : h("p", { class: "nothing" }, NO_PASSAGE)],
    h("h3", {}, "How it was checked"),
    trail(["Sentence", sentence], record.text !== record.self_contained && ["Fact as split", said(record.text)]),
    ofJudge(trail(
      record.queries.length > 0 && [record.queries.length === 1 ? "Query" : "Queries", listed(record.queries)],
      record.missing.length > 0 && ["Was missing", listed(record.missing)],
      judgement.judged_by && ["Judged by", said(judgement.judged_by)],
      judgement.score !== null && ["Degree of support", `${judgement.score.toFixed(2)} of 1`])),
  ];
};
