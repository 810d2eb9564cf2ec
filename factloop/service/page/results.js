// Audits, experiments and runs that the operator registered, and audits done here.
import { at, every, get, post, save } from "./api.js";
import { button, figure, h, replace, said } from "./dom.js";
import { Trouble } from "./fields.js";
import { deleteButton, stopButton } from "./keeping.js";
import { KINDS, summed } from "./rows.js";
import { capital, isOver, jobState, mark, moment } from "./words.js";

const REFRESH_MS = 2000;

export const showResults = async (view, info, { signal }) => {
  const { results } = await get("/v1/results", signal);
  const trouble = new Trouble();
  replace(view, h("section", { "aria-labelledby": "title" }, h("h1", { id: "title", tabindex: "-1" }, "Results"),
    h("p", { class: "byline" }, "Audits, experiments and runs that were put into the service's folder of results.")), trouble.element,
  results.length ? h("ol", { class: "jobs", role: "list" }, results.map((one) => resultRow(one, info, trouble)))
    : h("p", { class: "nothing" }, "There are no results. The operator of the service shows a folder of them with ", h("code", {}, "factloop serve --results FOLDER"), "."));
};

const resultRow = ({ name, kind, title, created_at: made, summary, figures }, info, trouble) => {
  const path = `/v1/results/${encodeURIComponent(name)}`;
  return h("li", { class: "job" }, h("span", {}), h("div", {},
    h("h2", { class: "plain", dir: "auto" }, title || name),
    h("p", { class: "outcome" }, said(capital(kind)), summary && [" ", said(summary)], made && ` · ${moment(made)}`, title && title !== name && [" · file ", said(name)]),
    figures.length > 0 && h("dl", { class: "figures is-inline" }, figures.map((one) => figure(said(one.name), one.value, said(one.basis)))),
    pageAndData(`${path}/page.html`, `${path}.json`, name, title || name, info, trouble)));
};

// A link carries no key: where one is needed, an address to open is asked for.
const pageAndData = (page, data, name, title, info, trouble) => {
  const file = name.replace(/[^\w.-]/g, "_");
  const trying = (work) => async () => {
    trouble.say("");
    try { await work(); } catch (error) { trouble.say(error.message); }
  };
  const opening = `Open its page ↗ (${title}, in a new tab)`;
  const saving = (path, as) => trying(() => save(path, as));
  return h("div", { class: "actions" },
    info.needs_key ? button("Open its page ↗", trying(async () => { open((await post("/v1/tickets", { page })).address, "_blank", "noopener,noreferrer"); }), { class: "quiet is-strong", "aria-label": opening })
      : h("a", { href: at(page), target: "_blank", rel: "noopener noreferrer", class: "quiet is-strong", "aria-label": opening }, "Open its page ↗"),
    button("Download HTML", saving(page, `${file}.html`), { "aria-label": `Download HTML of ${title}` }),
    button("Download JSON", saving(data, `${file}.json`), { "aria-label": `Download JSON of ${title}` }));
};

// A job without a view of its own: its state, and what came of it.
export const showJob = async (view, info, id, { signal }) => drawJob(view, info, await get(`/v1/jobs/${encodeURIComponent(id)}`, signal), signal);

const drawJob = (view, info, job, signal) => {
  const path = `/v1/jobs/${encodeURIComponent(job.id)}`;
  const state = jobState(job.status);
  const trouble = new Trouble();
  replace(view, h("section", { "aria-labelledby": "title" }, h("p", { class: "label" }, KINDS[job.kind]), h("h1", { id: "title", tabindex: "-1", dir: "auto" }, job.title),
    h("p", { class: "byline" }, mark(state.symbol, state.tone), ` ${state.words} · ${moment(job.created_at)}${summed(job)}`)), trouble.element,
  job.status === "done" && pageAndData(`${path}/report.html`, `${path}/result`, `${job.kind}-${job.id}`, job.title, info, trouble),
  h("div", { class: "actions" }, isOver(job) ? deleteButton(path, (text) => trouble.say(text)) : stopButton("Stop it", path, (text) => trouble.say(text))));
  if (isOver(job)) return;
  // Drawn anew once, when there is something new: a second drawing would take back a button that was pressed meanwhile.
  every(REFRESH_MS, signal, async () => {
    const now = await get(path, signal).catch(() => job);
    if (signal.aborted || now.status === job.status) return false;
    drawJob(view, info, now, signal);
    return true;
  });
};
