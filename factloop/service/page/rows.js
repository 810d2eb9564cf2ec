// A job as a row of a list: what tells it apart from others of the same question.
import { verdictBar } from "./bars.js";
import { h, said } from "./dom.js";
import { BEGUN_ANEW, capital, cost, jobState, many, mark, plural, second, twoDigits } from "./words.js";

export const KINDS = { check: "Check", trust: "TrustScore", long_form: "Long answer", audit: "Audit" };
const addressOf = (job) => `#/${{ check: "checks", trust: "trust", long_form: "long-form", audit: "audits" }[job.kind]}/${encodeURIComponent(job.id)}`;
export const named = (job) => `${job.title}, ${second(job.created_at)}`;

// `chosen` hears whether a finished check is to be compared.
export const jobRow = (job, chosen) => {
  const comparable = job.kind === "check" && job.status === "done";
  const box = comparable ? h("input", { type: "checkbox", "aria-label": `Compare: ${named(job)}`, onchange: () => chosen(box.checked) }) : null;
  const element = h("li", { class: "job" }, h("span", { class: "pick" }, box),
    h("div", {},
      h("a", { href: addressOf(job), dir: "auto" }, job.title || "(without words)"),
      job.answer && job.answer !== job.title && h("p", { class: "first-words", dir: "auto" }, job.answer),
      distribution(job.summary),
      h("p", { class: "outcome" }, stateOf(job), summed(job)),
      h("p", { class: "outcome" }, facts(job).map((fact, index) => [index > 0 && " · ", fact]))));
  return { job, box, element };
};

const distribution = (summary) => {
  if (!summary?.counts) return null;
  const { counts, n_contradicted: contradicted } = summary;
  const { not_supported: unsupported, ...others } = counts;
  return verdictBar({ ...others, contradicted, no_evidence: unsupported - contradicted }, "no claims");
};

const stateOf = (job) => {
  const state = jobState(job.status);
  return [mark(state.symbol, state.tone), ` ${KINDS[job.kind] ?? job.kind}, ${state.words}`];
};

const facts = ({ summary, against, created_at: made, begun_anew: isAnew }) => [
  summary?.judge && said(capital(summary.judge)),
  against && ["against ", said(against)],
  summary && summary.n_calls !== undefined && cost({ calls: summary.n_calls, cost_usd: summary.cost_usd || summary.n_calls ? summary.cost_usd : null }),
  isAnew && BEGUN_ANEW,
  h("time", { datetime: made }, second(made)),
].filter(Boolean);

// What came of a job, in figures.
export const summed = ({ summary, status, progress, error }) => {
  if (status === "failed") return `${error ? ` · ${error.message}` : ""}${spent(progress)}`;
  if (status !== "done") return `${progress.n_claims_found ? ` · ${many(progress.n_claims_judged)} of ${plural(progress.n_claims_found, "claim")} judged` : ""}${status === "cancelled" ? spent(progress) : ""}`;
  if (!summary) return "";
  if (summary.kind === "check" || summary.kind === "long_form") {
    const { counts, standings } = summary;
    const insisted = standings ? `, ${many(standings.unsupported_insisted ?? 0)} unsupported and insisted on` : "";
    return ` · precision ${twoDigits(summary.precision)} of ${plural(counts.supported + counts.not_supported, "scored claim")}${counts.unscored ? `, ${many(counts.unscored)} unscored` : ""}${insisted}`;
  }
  if (summary.kind === "trust") return ` · TrustOV ${twoDigits(summary.trust_ov)}, TrustBC ${twoDigits(summary.trust_bc)}, TrustFC ${twoDigits(summary.trust_fc)}`;
  return ` · ${plural(summary.n_claims, "claim")}, ${plural(summary.evaluators.length, "evaluator")}`;
};

const spent = ({ usage }) => (usage ? ` · ${cost(usage)}` : "");
