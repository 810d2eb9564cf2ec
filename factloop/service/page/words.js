// Formats numbers, times and states for the page.
import { VERDICTS } from "./verdicts.js";

export const KINDS = { check: "Check", trust: "TrustScore", long_form: "Long answer", audit: "Audit" };
export const STATES = {
  queued: { words: "waiting", symbol: "…", tone: "pending" },
  running: { words: "running", symbol: "…", tone: "pending" },
  done: { words: "done", symbol: "✓", tone: "supported" },
  failed: { words: "failed", symbol: "✗", tone: "contradicted" },
  cancelled: { words: "stopped", symbol: "–", tone: "irrelevant" },
};
export const BEGUN_ANEW = "Restarted after the service stopped, so some calls were billed twice.";

// Returns the symbol of a job. A finished check has the symbol of its worst verdict.
export const lookOf = ({ status, summary }) => {
  const look = STATES[status];
  const counts = summary?.counts;
  if (status !== "done" || !counts) return { ...look, ...(status === "done" && { tone: "irrelevant", symbol: "·" }) };
  const kinds = [[summary.n_contradicted, "contradicted"], [counts.not_supported - summary.n_contradicted, "not in the sources"], [counts.unscored, "could not be decided"]].filter(([n]) => n);
  if (!kinds.length) return { ...look, words: "no problems" };
  const { status: tone, symbol } = VERDICTS[summary.n_contradicted ? "contradicted" : counts.not_supported ? "no_evidence" : "needs_reading"];
  return { tone, symbol, words: kinds.map(([n, words], at) => `${at ? many(n) : plural(n, "claim")} ${words}`).join(", ") };
};

export const isOver = (job) => ["done", "failed", "cancelled"].includes(job.status);
// Status, words and symbol of a judgement.
export const verdictOf = ({ verdict, contradicted, unscored_reason: reason }) => VERDICTS[reason ?? (verdict === "not_supported" ? (contradicted ? "contradicted" : "no_evidence") : verdict)];

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
export const many = (number) => Number(number).toLocaleString("en");
export const plural = (count, noun, several = `${noun}s`) => `${many(count)} ${count === 1 ? noun : several}`;
export const twoDigits = (value) => (value === null || value === undefined ? "–" : value.toFixed(2));
export const moment = (stamp) => {
  const when = new Date(stamp);
  return Number.isNaN(when.getTime()) ? String(stamp ?? "") : `${when.toISOString().slice(0, 19).replace("T", " ")} UTC`;
};

export const cost = (calls, dollars) => {
  if (dollars === null || dollars === undefined) return calls ? "price unknown" : "no model calls";
  return `$${dollars === 0 || dollars >= 0.1 ? dollars.toFixed(2) : dollars.toPrecision(2)}`;
};
// The cost of a job that ended early.
const spent = ({ usage }) => (usage ? ` · ${cost(usage.calls, usage.cost_usd)}, ${plural(usage.calls, "model call")}, ${plural(usage.searches, "search", "searches")}` : "");

// The outcome of a job, in numbers.
export const outcome = ({ summary, status, progress, error }) => {
  const judged = progress.n_claims_found ? ` · ${many(progress.n_claims_judged)} of ${plural(progress.n_claims_found, "claim")} judged` : "";
  if (status === "failed") return `${error ? ` · ${error.message}` : ""}${spent(progress)}`;
  if (status !== "done") return `${judged}${status === "cancelled" ? spent(progress) : ""}`;
  if (summary.kind === "trust") return ` · TrustOV ${twoDigits(summary.trust_ov)}, TrustBC ${twoDigits(summary.trust_bc)}, TrustFC ${twoDigits(summary.trust_fc)}`;
  if (summary.kind === "audit") return ` · ${plural(summary.n_claims, "claim")}, ${plural(summary.evaluators.length, "evaluator")}`;
  const { counts, standings } = summary;
  const insisted = standings ? `, ${many(standings.unsupported_insisted ?? 0)} unsupported and insisted on` : "";
  const scored = counts.supported + counts.not_supported;
  const n = scored + counts.unscored;
  if (!n) return " · no claims";
  // As in main_figure of the reports: precision alone would look like a score of the whole answer.
  const bounds = counts.unscored ? ` among those, ${twoDigits(counts.supported / n)} to ${twoDigits((counts.supported + counts.unscored) / n)} if the rest were wrong or right` : "";
  const among = scored ? `: ${many(counts.supported)} supported, precision ${twoDigits(summary.precision)}${bounds}` : "";
  return ` · ${many(scored)} of ${plural(n, "claim")} decided${among}${insisted}`;
};
