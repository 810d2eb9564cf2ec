// A check as its events tell it: pure, without a page. Claims turn from found to judged, and none is lost.
import { STATUSES, capital, citedBy, plural, reason, sourceSays, statusOf } from "./words.js";

// The service counts characters, this language halves of some: where the text has such, a table leads from one to the other.
export const offsets = (text) => {
  if (!/[\ud800-\udbff][\udc00-\udfff]/.test(text)) return (at) => Math.min(at, text.length);
  const starts = new Uint32Array(text.length + 1);
  let n = 0;
  for (let at = 0; at < text.length; at += text.codePointAt(at) > 0xffff ? 2 : 1) starts[n++] = at;
  return (at) => (at < n ? starts[at] : text.length);
};

export class Unfolding {
  constructor(response) {
    this.response = response;
    this.at = offsets(response);
    this.claims = []; // in the order of the response
    this.byId = new Map();
    this.counts = Object.fromEntries(Object.keys(STATUSES).map((status) => [status, 0]));
    this.nLeft = 0; // claims that an early end left without a judgement
    this.usage = null;
    this.nSentences = null;
    this.silent = []; // sentences without a claim: { start, end, why }, once the report is there
    this.waiting = null; // for which server, while it accepts nothing
  }

  get nJudged() { return this.claims.length - this.counts.pending - this.nLeft; }

  // The check ended early: claims without a judgement stay without, and are given.
  stop() {
    const left = this.claims.filter((claim) => claim.status === "pending");
    for (const claim of left) claim.status = "unscored";
    this.nLeft = left.length;
    this.counts.unscored += left.length;
    this.counts.pending = 0;
    return left;
  }

  // Takes one event in; gives the claim that it changed, or null.
  take({ type, data }) {
    this.waiting = type === "waiting" ? data : null;
    if (type === "response_split") this.nSentences = data.n_sentences;
    if (type === "claim_found") return this.found(data);
    const claim = this.byId.get(data.claim_id ?? data.claim?.id);
    if (type === "claim_searched" && claim && claim.status === "pending") {
      claim.queries.push(data.query);
      claim.nPassages += data.evidence.length;
      return claim;
    }
    if (type !== "claim_judged") return null;
    this.usage = data.usage;
    return this.judged(data.claim);
  }

  found({ claim_id: id, sentence, span, self_contained: statement }) {
    if (this.byId.has(id)) return this.byId.get(id); // told twice, after a connection broke
    const claim = { id, sentence, statement, start: this.at(span[0]), end: this.at(span[1]), status: "pending", record: null, mark: undefined, queries: [], nPassages: 0, text: null };
    this.byId.set(id, claim);
    this.claims.splice(this.placeOf(claim), 0, claim);
    this.counts.pending += 1;
    return claim;
  }

  judged(record) {
    const claim = this.found({ claim_id: record.id, sentence: record.sentence, span: record.span, self_contained: record.self_contained });
    this.counts[claim.status] -= 1;
    claim.record = record;
    claim.statement = record.self_contained;
    claim.status = statusOf(record.judgement);
    claim.text = null;
    this.counts[claim.status] += 1;
    return claim;
  }

  // The report has the last word: its claims, in its order, and what it marks in their evidence. Gives those of which
  // it says something new.
  settle(report, marks) {
    const same = new Set();
    for (const record of report.claims) {
      const known = this.byId.get(record.id);
      if (known?.record && JSON.stringify(known.record) === JSON.stringify(record)) same.add(known);
      else this.judged(record);
    }
    this.claims = report.claims.map((record) => this.byId.get(record.id));
    this.byId = new Map(this.claims.map((claim) => [claim.id, claim]));
    for (const status of Object.keys(this.counts)) this.counts[status] = 0;
    const markOf = new Map(marks.map((one) => [one.claim_id, one]));
    for (const claim of this.claims) {
      this.counts[claim.status] += 1;
      claim.mark = markOf.get(claim.id) ?? null;
    }
    this.usage = report.usage;
    this.silent = (report.sentences ?? []).filter((one) => one.no_claim)
      .map(({ span, no_claim: why }) => ({ start: this.at(span[0]), end: this.at(span[1]), why }));
    return this.claims.filter((claim) => claim.mark || !same.has(claim));
  }

  // After the claims of the same sentence that came before it.
  placeOf({ start, end }) {
    let low = 0;
    let high = this.claims.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const one = this.claims[middle];
      if (one.start < start || (one.start === start && one.end <= end)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

// What a reader looks for words in: all that is said of the claim.
export const searched = (claim) => {
  claim.text ??= [claim.statement, claim.sentence, claim.record?.text, claim.record?.judgement.rationale,
    ...(claim.record?.queries ?? claim.queries),
    ...(claim.record?.evidence ?? []).flatMap((one) => [one.title, one.source, one.passage])].join("\n").toLowerCase();
  return claim.text;
};

// Where a claim stands, in words: the verdict, what the source says instead, what it rests on.
export const outcome = (claim) => {
  const { record, status } = claim;
  if (!record) {
    if (status === "unscored") return ["Unscored", "", "the check ended before"];
    return claim.queries.length ? ["Being judged", "", `${plural(claim.nPassages, "passage")} found`] : ["Found", "", "not searched yet"];
  }
  const why = record.judgement.unscored_reason;
  const words = capital(why ? `${STATUSES[status].words}: ${reason(why)}` : STATUSES[status].words);
  if (record.duplicate_of !== null) return [words, sourceSays(record), "repeats another claim"];
  const cited = new Set(citedBy(record));
  const sources = new Set(record.evidence.filter((one) => cited.has(one.id)).map((one) => one.source)).size;
  if (sources) return [words, sourceSays(record), `${plural(sources, "source")} cited`];
  return [words, sourceSays(record), record.evidence.length ? `${plural(record.evidence.length, "passage")} read` : ""];
};
