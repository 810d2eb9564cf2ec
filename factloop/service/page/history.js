// Jobs of this reader, newest first; two checks can be chosen to be compared.
import { get } from "./api.js";
import { button, h, replace, said } from "./dom.js";
import { capital, isOver, jobState, many, mark, plural, second, twoDigits } from "./words.js";

const PAGE = 25;
const REFRESH_MS = 3000;
export const KINDS = { check: "Check", trust: "TrustScore", long_form: "Long answer", audit: "Audit" };
const addressOf = (job) => `#/${{ check: "checks", trust: "trust", long_form: "long-form", audit: "audits" }[job.kind]}/${encodeURIComponent(job.id)}`;

export const showHistory = async (view, parameters, { signal }) => {
  const chosen = new Map(); // id to title, in the order of choosing
  const rows = new Map();
  let next = null;
  const list = h("ol", { class: "jobs", role: "list" });
  const kind = choice("Kind", [["", "All kinds"], ...Object.entries(KINDS).map(([value, words]) => [value, words])], () => start());
  const status = choice("State", [["", "All states"], ...["queued", "running", "done", "failed", "cancelled"].map((one) => [one, capital(jobState(one).words)])], () => start());
  const more = button("Show more", () => load(next));
  const none = h("p", { class: "nothing", hidden: true }, "Nothing yet. ", h("a", { href: "#/" }, "Check a response"), " and it will be listed here.");
  const hint = h("p", { class: "byline", role: "status" });
  const compare = h("a", { class: "quiet is-strong", hidden: true }, "Compare the two");

  const tell = () => {
    const ids = [...chosen.keys()];
    replace(hint, ids.length === 0 ? "Choose two finished checks to compare them." : ids.length === 1 ? ["Chosen: “", said(chosen.get(ids[0])), "”. Choose one more to compare."] : ["Chosen: “", said(chosen.get(ids[0])), "” and “", said(chosen.get(ids[1])), "”."]);
    compare.hidden = ids.length !== 2;
    compare.href = ids.length === 2 ? `#/compare/${ids.map(encodeURIComponent).join("/")}` : "#/history";
    for (const [id, { box }] of rows) if (box) box.checked = chosen.has(id);
  };
  const choose = (job, on) => {
    if (on && chosen.size === 2) chosen.delete([...chosen.keys()][1]);
    if (on) chosen.set(job.id, named(job));
    else chosen.delete(job.id);
    tell();
  };
  const put = (job) => {
    const row = rowOf(job, (on) => choose(job, on));
    rows.get(job.id)?.element.replaceWith(row.element) ?? list.append(row.element);
    rows.set(job.id, row);
  };
  const load = async (before) => {
    const query = new URLSearchParams({ limit: PAGE, ...(kind.value && { kind: kind.value }), ...(status.value && { status: status.value }), ...(before && { before }) });
    const page = await get(`/v1/jobs?${query}`, signal);
    page.jobs.forEach(put);
    next = page.next;
    more.hidden = next === null;
    none.hidden = rows.size > 0;
    tell();
  };
  const start = () => {
    rows.clear();
    replace(list);
    return load(null);
  };
  // What is still running is asked for again while this view is open.
  const refresh = async () => {
    for (const [id, { job }] of rows) {
      if (isOver(job) || signal.aborted) continue;
      const now = await get(`/v1/jobs/${encodeURIComponent(id)}`, signal).catch(() => null);
      if (now && !rows.get(id)?.element.contains(document.activeElement)) put(now);
    }
    tell();
  };

  replace(view, h("section", { "aria-labelledby": "title" }, h("h1", { id: "title", tabindex: "-1" }, "History"),
    h("div", { class: "filters" }, kind, status), h("div", { class: "compare-bar" }, hint, compare)), list, none, more);
  const first = parameters.get("first");
  if (first) {
    const job = await get(`/v1/jobs/${encodeURIComponent(first)}`, signal);
    chosen.set(job.id, named(job));
  }
  await start();
  const timer = setInterval(refresh, REFRESH_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
};

const named = (job) => `${job.title}, ${second(job.created_at)}`;

const choice = (label, options, changed) => h("select", { "aria-label": label, onchange: changed }, options.map(([value, words]) => h("option", { value }, words)));

const rowOf = (job, chosen) => {
  const state = jobState(job.status);
  const comparable = job.kind === "check" && job.status === "done";
  const box = comparable ? h("input", { type: "checkbox", "aria-label": `Compare: ${named(job)}`, onchange: () => chosen(box.checked) }) : null;
  const element = h("li", { class: "job" }, h("span", { class: "pick" }, box),
    h("div", {}, h("a", { href: addressOf(job), dir: "auto" }, job.title || "(without words)"), h("p", { class: "outcome" }, mark(state.symbol, state.tone), ` ${KINDS[job.kind] ?? job.kind}, ${state.words} · ${second(job.created_at)}${summed(job)}`)));
  return { job, box, element };
};

export const summed = ({ summary, status, progress, error }) => {
  if (status === "failed") return error ? ` · ${error.message}` : "";
  if (status === "running" && progress.n_claims_found) return ` · ${many(progress.n_claims_judged)} of ${plural(progress.n_claims_found, "claim")} judged`;
  if (!summary) return "";
  if (summary.kind === "check" || summary.kind === "long_form") {
    const { counts, standings } = summary;
    const insisted = standings ? `, ${many(standings.unsupported_insisted ?? 0)} unsupported and insisted on` : "";
    return ` · precision ${twoDigits(summary.precision)} of ${plural(counts.supported + counts.not_supported, "scored claim")}${counts.unscored ? `, ${many(counts.unscored)} unscored` : ""}${insisted}`;
  }
  if (summary.kind === "trust") return ` · TrustOV ${twoDigits(summary.trust_ov)}, TrustBC ${twoDigits(summary.trust_bc)}, TrustFC ${twoDigits(summary.trust_fc)}`;
  return ` · ${plural(summary.n_claims, "claim")}, ${plural(summary.evaluators.length, "evaluator")}`;
};
