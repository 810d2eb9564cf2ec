// Jobs of this reader, newest first, filtered as the address says; two checks can be chosen to be compared.
import { every, get } from "./api.js";
import { button, h, replace, said } from "./dom.js";
import { Trouble } from "./fields.js";
import { KINDS, jobRow, named } from "./rows.js";
import { capital, isOver, jobState } from "./words.js";

const PAGE = 25;
const REFRESH_MS = 3000;
const TYPING_MS = 250;
const STATES = ["queued", "running", "done", "failed", "cancelled"];
const OUTCOMES = { "": "All verdicts", problems: "With problems", contradicted: "With contradicted claims", no_evidence: "With claims without evidence", unscored: "With unscored claims", no_problems: "Without problems" };

export const showHistory = async (view, parameters, { signal }) => {
  const chosen = new Map(); // id to title, in the order of choosing
  const rows = new Map();
  let next = null;
  let turn = 0; // answers to what was asked before the filters changed are passed over
  const list = h("ol", { class: "jobs", role: "list" });
  const filters = {
    kind: choice("Kind", Object.entries({ "": "All kinds", ...KINDS }), parameters),
    status: choice("State", [["", "All states"], ...STATES.map((one) => [one, capital(jobState(one).words)])], parameters, "status"),
    outcome: choice("Verdicts", Object.entries(OUTCOMES), parameters, "outcome"),
    text: h("input", { id: "search", type: "search", "aria-label": "Search history", placeholder: "Search questions, answers, judges", autocomplete: "off", spellcheck: "false", maxlength: "200" }),
  };
  filters.text.value = parameters.get("text") ?? "";
  const more = button("Show more", () => listed(next), { hidden: true });
  const trouble = new Trouble();
  const none = h("p", { class: "nothing", role: "status", hidden: true });
  const hint = h("p", { class: "byline", role: "status" });
  const compare = h("a", { class: "quiet is-strong", hidden: true }, "Compare the two");

  const asked = () => Object.fromEntries(Object.entries(filters).map(([name, { value }]) => [name, value.trim()]).filter(([, value]) => value));
  const tell = () => {
    const ids = [...chosen.keys()];
    replace(hint, ids.length === 0 ? "Choose two finished checks to compare them." : ids.length === 1 ? ["Chosen: “", said(chosen.get(ids[0])), "”. Choose one more to compare."] : ["Chosen: “", said(chosen.get(ids[0])), "” and “", said(chosen.get(ids[1])), "”."]);
    compare.hidden = ids.length !== 2;
    compare.href = ids.length === 2 ? `#/compare/${ids.sort().map(encodeURIComponent).join("/")}` : "#/history";
    for (const [id, { box }] of rows) if (box) box.checked = chosen.has(id);
  };
  const choose = (job, on) => {
    if (on && chosen.size === 2) chosen.delete([...chosen.keys()][1]);
    if (on) chosen.set(job.id, named(job));
    else chosen.delete(job.id);
    tell();
  };
  const put = (job) => {
    const row = jobRow(job, (on) => choose(job, on));
    rows.get(job.id)?.element.replaceWith(row.element) ?? list.append(row.element);
    rows.set(job.id, row);
  };
  const load = async (before) => {
    turn += 1;
    const mine = turn;
    if (!before) more.hidden = true; // it would go on with the list that was there before
    const page = await get(`/v1/jobs?${new URLSearchParams({ limit: PAGE, ...asked(), ...(before && { before }) })}`, signal);
    if (mine !== turn) return;
    if (!before) {
      rows.clear();
      replace(list);
    }
    page.jobs.forEach(put);
    next = page.next;
    more.hidden = next === null;
    more.textContent = page.jobs.length ? "Show more" : "Look further back";
    none.hidden = rows.size > 0;
    replace(none, nothing(Object.keys(asked()).length > 0, next !== null));
    tell();
  };
  // What goes wrong once the view stands is said in it, and the list stays.
  const listed = async (before) => {
    trouble.say("");
    try { await load(before); } catch (error) { trouble.say(error.message); }
  };
  const nothing = (isFiltered, isMore) => {
    if (!isFiltered) return ["Nothing yet. ", h("a", { href: "#/" }, "Check a response"), " and it will be listed here."];
    return [isMore ? "None of the newest matches. " : "Nothing matches. ", h("a", { href: "#/history" }, "Show all")];
  };
  // A filter that is chosen can be taken back with the back button; letters typed cannot one by one.
  const filtered = (keep) => {
    const query = new URLSearchParams(asked());
    history[keep](null, "", `#/history${query.size ? `?${query}` : ""}`);
    return listed(null);
  };
  // What is still running is asked for again while this view is open.
  const refresh = async () => {
    for (const [id, { job }] of rows) {
      if (isOver(job) || signal.aborted) continue;
      const now = await get(`/v1/jobs/${encodeURIComponent(id)}`, signal).catch(() => null);
      if (now && rows.has(id) && !rows.get(id).element.contains(document.activeElement)) put(now);
    }
    if (!signal.aborted) tell();
  };

  let typing = 0;
  for (const select of [filters.kind, filters.status, filters.outcome]) select.addEventListener("change", () => filtered("pushState"));
  filters.text.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => { if (!signal.aborted) filtered("replaceState"); }, TYPING_MS);
  });
  replace(view, h("section", { "aria-labelledby": "title" }, h("h1", { id: "title", tabindex: "-1" }, "History"),
    h("div", { class: "filters", role: "search", "aria-label": "Filter the history" }, Object.values(filters)), h("div", { class: "compare-bar" }, hint, compare)), trouble.element, list, none, more);
  const first = parameters.get("first");
  if (first) {
    const job = await get(`/v1/jobs/${encodeURIComponent(first)}`, signal);
    chosen.set(job.id, named(job));
  }
  await load(null);
  every(REFRESH_MS, signal, refresh);
};

// A choice that begins as the address has it.
const choice = (label, options, parameters, name = label.toLowerCase()) => {
  const wanted = parameters.get(name) ?? "";
  const select = h("select", { "aria-label": label }, options.map(([value, words]) => h("option", { value }, words)));
  select.value = options.some(([value]) => value === wanted) ? wanted : "";
  return select;
};
