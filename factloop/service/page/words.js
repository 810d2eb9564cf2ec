// The words and signs of the reports, and numbers as they write them.
import { h } from "./dom.js";

export const STATUSES = {
  supported: { words: "supported", symbol: "✓" },
  contradicted: { words: "contradicted", symbol: "✗" },
  no_evidence: { words: "no evidence found", symbol: "○" },
  irrelevant: { words: "irrelevant", symbol: "–" },
  unscored: { words: "unscored", symbol: "?" },
  pending: { words: "being checked", symbol: "…" },
};
export const PROBLEMS = ["contradicted", "no_evidence", "unscored"]; // what a reader has to look into
export const WORST_FIRST = ["contradicted", "no_evidence", "unscored", "pending", "supported", "irrelevant"];

const REASONS = {
  parse_failure: "the judge's reply could not be read",
  tool_failure: "a model or search call failed",
  refusal: "the model declined to answer",
  budget: "the budget was used up",
  timeout: "no answer in time",
  ambiguous: "the response leaves the claim ambiguous",
  other_language: "in another language than the judge reads",
  no_source: "no source to check against",
  too_few_distractors: "too few distractors for a question",
};
export const reason = (name) => REASONS[name] ?? String(name).replaceAll("_", " ");

// Why a sentence has no claim: in words, and of several.
const NO_CLAIMS = {
  heading: ["heading", "headings"],
  question: ["question", "questions"],
  remark: ["remark", "remarks"],
  no_statement: ["states nothing", "states nothing"],
  no_claim: ["no claim found", "no claim found"],
  code: ["code, not read", "code, not read"],
  not_read: ["not read", "not read"],
};
const noClaims = (name) => NO_CLAIMS[name] ?? [reason(name), reason(name)];
export const noClaim = (name) => noClaims(name)[0];

// How many sentences have no claim, the most frequent reason first; empty where each has one.
export const withoutClaim = (sentences) => {
  const counts = new Map();
  for (const { no_claim: name } of sentences) if (name) counts.set(name, (counts.get(name) ?? 0) + 1);
  const silent = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const reasons = [...counts].sort((one, other) => other[1] - one[1]).map(([name, count]) => plural(count, ...noClaims(name)));
  return silent ? `${many(silent)} of ${many(sentences.length)}: ${reasons.join(", ")}` : "";
};

// What a verdict rests on: nothing where no evidence was found, though the judge may name the nearest passages.
export const citedBy = ({ judgement }) => (judgement.contradicted === false ? [] : judgement.cited);

// `1836 · the source says 1826`, where the judge names both.
export const sourceSays = ({ judgement }) => (judgement.wrong && judgement.instead ? `${judgement.wrong} · the source says ${judgement.instead}` : "");

export const statusOf = (judgement) => {
  if (judgement.verdict === "not_supported") return judgement.contradicted ? "contradicted" : "no_evidence";
  return judgement.verdict ?? "unscored";
};

export const JOBS = {
  queued: { words: "waiting", symbol: "…", tone: "pending" },
  running: { words: "running", symbol: "…", tone: "pending" },
  done: { words: "done", symbol: "✓", tone: "supported" },
  failed: { words: "failed", symbol: "✗", tone: "contradicted" },
  cancelled: { words: "stopped", symbol: "–", tone: "irrelevant" },
};
export const jobState = (status) => JOBS[status] ?? { words: String(status), symbol: "?", tone: "unscored" };
export const isOver = (job) => ["done", "failed", "cancelled"].includes(job.status);

export const mark = (status, tone = status) => h("span", { class: `mark is-${tone}`, "aria-hidden": "true" }, STATUSES[status]?.symbol ?? status);
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
export const many = (number) => Number(number).toLocaleString("en");
export const plural = (count, noun, several = `${noun}s`) => `${many(count)} ${count === 1 ? noun : several}`;
export const twoDigits = (value) => (value === null || value === undefined ? "–" : value.toFixed(2));

export const cost = (usage) => {
  const dollars = usage.cost_usd;
  if (dollars === null || dollars === undefined) return usage.calls ? "price unknown" : "no model calls";
  const decimals = dollars === 0 || dollars >= 0.1 ? 2 : Math.min(12, 2 - Math.floor(Math.log10(dollars)));
  return `$${dollars.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals })}`;
};
// Whether a model was asked, or its answers came from the cache: only then is there a cost to speak of.
export const usedAModel = (usage) => Boolean(usage.calls || usage.failed_calls || usage.cache_hits || usage.cost_usd);
// What a job that ended early was paid for, as the service kept it.
export const spentInWords = ({ progress: { usage } }) => {
  if (!usage) return "";
  const paid = usage.calls || usage.searches;
  return paid ? ` It cost ${usage.cost_usd === null ? "an unknown amount" : cost(usage)}: ${plural(usage.calls, "model call")}, ${plural(usage.searches, "search", "searches")}.` : " It cost nothing.";
};
export const BEGUN_ANEW = "It was begun anew after a service was stopped whose answers could not be reached: part of it was paid for twice.";
export const tokens = (usage) => `${usage.approximate_tokens ? "~" : ""}${many(usage.prompt_tokens + usage.completion_tokens)}`;

export const duration = (seconds) => {
  if (seconds < 1) return `${seconds.toFixed(2)} s`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};
export const moment = (stamp, length = 16) => {
  const when = new Date(stamp);
  return Number.isNaN(when.getTime()) ? String(stamp ?? "") : `${when.toISOString().slice(0, length).replace("T", " ")} UTC`;
};
// Jobs of the same title are told apart by it.
export const second = (stamp) => moment(stamp, 19);

// What precision rests on.
export const precisionBasis = (counts) => {
  const scored = counts.supported + counts.not_supported;
  const total = scored + counts.irrelevant + counts.unscored;
  if (!total) return "The response makes no claim that can be checked.";
  const basis = scored ? `${many(counts.supported)} of ${plural(scored, "scored claim")} supported` : "no claim was scored";
  return counts.unscored ? `${basis}, ${many(counts.unscored)} unscored` : basis;
};

export const judgeOf = (fingerprint) => {
  const engine = fingerprint.engine === "offline" ? "the offline engine (a baseline)" : fingerprint.model ?? "a model";
  return `${engine}, ${fingerprint.plan} plan`;
};
