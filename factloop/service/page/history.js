// The user's jobs, newest first, with the filters in the URL.
import { every, get } from "./api.js";
import { button, h, heading, mark, replace, said, troubleLine } from "./dom.js";
import { VERDICTS } from "./verdicts.js";
import { BEGUN_ANEW, KINDS, STATES, capital, cost, isOver, lookOf, moment, outcome } from "./words.js";

const PAGE = 25;
const REFRESH_MS = 3000;
const TYPING_MS = 250;
const OUTCOMES = { problems: "Problems", ...Object.fromEntries(["contradicted", "no_evidence", "unscored"].map((name) => [name, capital(VERDICTS[name].words)])), no_problems: "No problems" };

export const showHistory = async (view, parameters, { signal }) => {
  const rows = new Map();
  let next = null;
  let turn = 0; // responses to requests from before a filter changed are ignored
  const list = h("ol", { class: "jobs" });
  const filters = {
    kind: choice("Kind", { "": "All kinds", ...KINDS }),
    status: choice("State", { "": "All states", ...Object.fromEntries(Object.entries(STATES).map(([name, { words }]) => [name, capital(words)])) }),
    outcome: choice("Verdicts", { "": "All verdicts", ...OUTCOMES }),
    text: h("input", { id: "search", type: "search", "aria-label": "Search history", placeholder: "Search questions, answers, judges", autocomplete: "off", spellcheck: "false", maxlength: "200" }),
  };
  for (const [name, field] of Object.entries(filters)) field.value = parameters.get(name) ?? "";
  const trouble = troubleLine();
  const more = button("Show more", () => loadMore(next), { hidden: true });
  const none = h("p", { class: "nothing", role: "status", hidden: true });

  const asked = () => Object.fromEntries(Object.entries(filters).map(([name, { value }]) => [name, value.trim()]).filter(([, value]) => value));
  const show = (job) => {
    const element = rowOf(job);
    if (rows.has(job.id)) rows.get(job.id).element.replaceWith(element);
    else list.append(element);
    rows.set(job.id, { job, element });
  };
  const load = async (before) => {
    turn += 1;
    const mine = turn;
    if (!before) more.hidden = true; // the button would continue the previous list
    const page = await get(`/v1/jobs?${new URLSearchParams({ limit: PAGE, ...asked(), ...(before && { before }) })}`, signal);
    if (mine !== turn) return;
    if (!before) {
      rows.clear();
      replace(list);
    }
    page.jobs.forEach(show);
    next = page.next;
    more.hidden = next === null;
    none.hidden = rows.size > 0;
    replace(none, Object.keys(asked()).length ? ["Nothing matches. ", h("a", { href: "#/history" }, "Show all")] : ["Nothing yet. ", h("a", { href: "#/" }, "Check a response"), " and it will be listed here."]);
  };
  // Once the view is shown, errors appear in it and the list stays.
  const loadMore = (before) => trouble.trying(() => load(before))();
  // A selected filter can be undone with the back button, but typed letters cannot be undone one by one.
  const filtered = (keep) => {
    const query = new URLSearchParams(asked());
    history[keep](null, "", `#/history${query.size ? `?${query}` : ""}`);
    return loadMore(null);
  };
  let typing = 0;
  for (const select of [filters.kind, filters.status, filters.outcome]) select.addEventListener("change", () => filtered("pushState"));
  filters.text.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => { if (!signal.aborted) filtered("replaceState"); }, TYPING_MS);
  });
  replace(view, h("section", { "aria-labelledby": "title" }, heading("History"),
    h("div", { class: "filters", role: "search", "aria-label": "Filter the history" }, Object.values(filters))), trouble.element, list, none, more);
  await load(null);
  every(REFRESH_MS, signal, async () => {
    for (const { job, element } of [...rows.values()].filter((row) => !isOver(row.job))) {
      const now = await get(`/v1/jobs/${encodeURIComponent(job.id)}`, signal).catch(() => null);
      if (now && rows.get(job.id)?.element === element && !element.contains(document.activeElement)) show(now);
    }
  });
};

const choice = (label, options) => h("select", { "aria-label": label }, Object.entries(options).map(([value, words]) => h("option", { value }, words)));

// A job as a row, with what distinguishes it from other jobs with the same question.
const rowOf = (job) => {
  const { words, symbol, tone } = lookOf(job);
  const { summary, against } = job;
  const facts = [summary?.judge, against && `against ${against}`, summary && summary.n_calls !== undefined && cost(summary.n_calls, summary.cost_usd), job.begun_anew && BEGUN_ANEW, moment(job.created_at)];
  return h("li", { class: "job" }, h("a", { href: `#/jobs/${encodeURIComponent(job.id)}`, dir: "auto" }, job.title || "(untitled)"),
    job.answer && job.answer !== job.title && h("p", { class: "outcome", dir: "auto" }, job.answer),
    h("p", { class: "outcome" }, mark(tone, symbol), ` ${KINDS[job.kind]}, ${words}${outcome(job)}`),
    h("p", { class: "outcome" }, said(facts.filter(Boolean).join(" · "))));
};
