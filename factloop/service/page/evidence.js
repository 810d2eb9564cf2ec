// What stands behind a verdict: passages with their sources, queries, the rationale.
import { escaped, h, said, trail, webAddress } from "./dom.js";
import { citedBy, moment } from "./words.js";

// A passage with the sentence marked that the judge quotes from it.
const marked = (text, quote) => {
  const words = quote.split(/\s+/).filter(Boolean).map(escaped);
  const found = words.length > 0 && new RegExp(words.join("\\s+"), "u").exec(text);
  if (!found) return text;
  const end = found.index + found[0].length;
  return [text.slice(0, found.index), h("mark", { class: "deciding" }, h("span", { class: "unseen" }, "[deciding sentence: "), found[0], h("span", { class: "unseen" }, "]")), text.slice(end)];
};

// `number` is the one by which a rationale speaks of it: [2].
export const passage = (item, cited, withQuery = true, number = null, quote = "") => {
  const address = webAddress(item.source);
  const name = item.section ? [said(item.title || item.source), " › ", said(item.section)] : said(item.title || item.source);
  return h("li", { class: cited ? "evidence is-cited" : "evidence" },
    h("p", { class: "source" }, number !== null && `[${number}] `, address ? h("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, name) : h("b", {}, name), cited && h("span", { class: "tag" }, "cited")),
    h("blockquote", { dir: "auto", tabindex: item.passage.length > 1200 ? "0" : null }, marked(item.passage, cited ? quote : "")),
    h("p", { class: "provenance" }, item.title && [said(item.source), " · "], item.published && [said(item.published), " · "], item.query ? `result ${item.rank}` : "shown with all there is", withQuery && item.query && [" for “", said(item.query), `” · retrieved ${moment(item.retrieved_at)}`]));
};

export const passages = (items, cited, quote = "") => {
  const named = new Set(cited);
  const shown = (isCited) => items.flatMap((one, place) => named.has(one.id) === isCited ? [passage(one, isCited, true, place + 1, quote)] : []);
  return h("ol", { class: "evidences" }, shown(true), shown(false));
};

export const listed = (texts) => h("ol", { class: "queries" }, texts.map((text) => h("li", {}, said(text))));

// The body of a judged claim, of one still under way or of one that stayed unscored.
export const grounds = (claim, { original, toOriginal, toSentence }) => {
  const record = claim.record;
  const sentence = toSentence ? h("button", { type: "button", class: "link", onclick: toSentence }, said(claim.sentence)) : said(claim.sentence);
  if (!record) return [trail(["Sentence", sentence], claim.queries.length > 0 && ["Asked so far", listed(claim.queries)])];
  const judgement = record.judgement;
  return [
    record.duplicate_of !== null && h("p", { class: "duplicate" }, "Says the same as ", original ? h("button", { type: "button", class: "link", onclick: toOriginal }, `claim ${original}`) : "another claim", ", whose judgement stands for both."),
    judgement.rationale && h("p", { class: "rationale of-judge", dir: "auto" }, judgement.rationale),
    record.evidence.length > 0 && [h("h3", {}, "Evidence"), passages(record.evidence, citedBy(record), judgement.quote)],
    h("h3", {}, "How it was checked"),
    trail(["Sentence", sentence], ["Fact as split", said(record.text)]),
    h("div", { class: "of-judge" }, trail(
      record.queries.length > 0 && [record.queries.length === 1 ? "Query" : "Queries", listed(record.queries)],
      record.missing.length > 0 && ["Was missing", listed(record.missing)],
      judgement.judged_by && ["Judged by", said(judgement.judged_by)],
      judgement.score !== null && ["Degree of support", `${judgement.score.toFixed(2)} of 1`])),
  ];
};
