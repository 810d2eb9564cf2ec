// One job. Its progress is shown while it runs, and its report is shown in a frame afterwards.
import { follow, get, opened, post, put, remove, save, tried } from "./api.js";
import { button, h, heading, leadingOn, mark, replace, said, troubleLine } from "./dom.js";
import { again } from "./form.js";
import { BEGUN_ANEW, KINDS, STATES, isOver, lookOf, many, moment, outcome, plural, verdictOf } from "./words.js";

const SPEAK_MS = 2500; // minimum time between announcements of progress for screen readers

export const showJob = async (view, info, id, { signal, announce }) => {
  const path = `/v1/jobs/${encodeURIComponent(id)}`;
  const job = await get(path, signal);
  const trouble = troubleLine();
  const state = h("p", { class: "byline" });
  const actions = h("div", { class: "actions" });
  const list = h("ol", { class: "live", "aria-label": "Claims" });
  replace(view, h("section", { class: "intro", "aria-labelledby": "title" }, h("p", { class: "label" }, KINDS[job.kind]), heading(job.title || "(untitled)", { class: "plain" }), state, trouble.element, actions), list);
  const over = job.status === "done" ? job : await watch(path, job, info, { state, actions, list, trouble, signal, announce });
  if (signal.aborted || !over) return;
  const { words, symbol, tone } = lookOf(over);
  replace(state, mark(tone, symbol), ` ${words} · ${moment(over.created_at)}${outcome(over)}`, over.begun_anew && ` · ${BEGUN_ANEW}`);
  const address = over.status === "done" && await opened(`${path}/report.html`, info);
  if (address) showReport(list, address, signal, labelsOf(path, signal, trouble.say));
  replace(actions, address && tab(address), afterwards(path, over, trouble));
  announce(`${KINDS[over.kind]} ${STATES[over.status].words}.`);
};

// Shows claims as they are found and judged, including those of a job that ended early. Returns the job when it is over.
const watch = async (path, job, info, { state, actions, list, trouble, signal, announce }) => {
  const claims = new Map();
  let over = null, waiting = "", isLost = false;
  const tell = () => {
    const judged = [...claims.values()].filter((one) => one.isJudged).length;
    replace(state, isLost ? "The service is not responding; trying again. The check continues." : waiting || (claims.size ? `${many(judged)} of ${plural(claims.size, "claim")} judged` : STATES[job.status].words));
  };
  if (!isOver(job)) replace(actions, button("Stop", trouble.trying(() => post(`${path}/cancel`, {})), { class: "quiet is-strong" }));
  tell();
  const spoken = setInterval(() => announce(state.textContent), SPEAK_MS);
  signal.addEventListener("abort", () => clearInterval(spoken));
  await follow(path, info, {
    signal,
    told: (isOpen) => { isLost = !isOpen; tell(); },
    heard: (type, data) => {
      waiting = type === "waiting" ? `${data.server} is not accepting requests (${data.cause}): waiting ${Math.round(data.waited_s)} of ${many(data.patience_s)} s.` : "";
      if (type === "job_finished") over = data;
      take(claims, list, type, data);
      tell();
    },
  });
  clearInterval(spoken);
  return over;
};

const take = (claims, list, type, data) => {
  if (type !== "claim_found" && type !== "claim_judged") return;
  const { id, self_contained: text, judgement } = type === "claim_found" ? { id: data.claim_id, ...data } : data.claim;
  if (claims.get(id)?.isJudged) return;
  const { status, words, symbol } = judgement ? verdictOf(judgement) : { status: "pending", words: "being checked", symbol: "…" };
  const element = h("li", {}, mark(status, symbol), h("span", { dir: "auto" }, text), h("span", { class: `verdict is-${status}` }, words));
  if (claims.has(id)) claims.get(id).element.replaceWith(element);
  else list.append(element);
  claims.set(id, { element, isJudged: Boolean(judgement) });
};

const afterwards = (path, job, trouble) => {
  const name = `${job.kind.replace("_", "-")}-${job.id}`;
  const saving = (label, from, suffix) => button(label, trouble.trying(() => save(`${path}/${from}`, `${name}.${suffix}`)));
  let asked = false;
  const deleting = button("Delete", trouble.trying(async () => {
    if (!asked) {
      asked = true;
      deleting.textContent = "Delete permanently?";
      return;
    }
    const goTo = leadingOn();
    await remove(path);
    goTo("#/history");
  }));
  return [
    job.status === "done" && [saving("Download JSON", "result", "json"), job.kind === "check" && saving("Download CSV", "claims.csv", "csv"), saving("Download HTML", "report.html", "html")],
    (job.kind === "check" || job.kind === "trust") && button("Edit and repeat", trouble.trying(async () => again(job.kind, await get(`${path}/request`)))),
    deleting,
  ];
};

const tab = (address) => h("a", { class: "quiet is-strong", href: address, target: "_blank", rel: "noopener noreferrer" }, "Open in a new tab ↗");

// Shows a report in a frame, whose sandbox keeps the report away from this page's data. The report is sent the theme, and
// `begun` receives a port for the report's labels.
const showReport = (before, address, signal, begun = () => {}) => {
  const frame = h("iframe", { class: "report", title: "Report", sandbox: "allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox", src: address });
  frame.addEventListener("load", () => {
    const { port1, port2 } = new MessageChannel();
    begun(port1);
    frame.contentWindow.postMessage({ theme: document.documentElement.dataset.theme }, "*", [port2]);
  });
  // The frame is as high as the report, which is told how much of the frame is outside the window.
  const seen = () => {
    const { top, bottom } = frame.getBoundingClientRect();
    frame.contentWindow?.postMessage({ above: Math.max(0, -top), below: Math.max(0, bottom - innerHeight) }, "*");
  };
  addEventListener("message", ({ source, data }) => {
    if (source !== frame.contentWindow || !Number.isFinite(data?.height) || !Number.isFinite(data.scrolled)) return;
    frame.style.height = `${data.height + 2}px`; // with its border
    scrollBy(0, data.scrolled); // the report scrolled before the frame was high enough
    seen();
  }, { signal });
  for (const type of ["scroll", "resize"]) addEventListener(type, seen, { signal, passive: true });
  document.addEventListener("themechange", () => frame.contentWindow.postMessage({ theme: document.documentElement.dataset.theme }, "*"), { signal });
  before.replaceWith(frame);
};

// Saves the labels set in the report. Labels that could not be saved are sent again with the next label.
const labelsOf = (path, signal, failed) => {
  const unsent = new Map(); // maps claim ids to labels, or to null
  let sending = Promise.resolve();
  const send = async () => {
    for (const [claim, label] of [...unsent]) {
      const place = `${path}/labels/${encodeURIComponent(claim)}`;
      await (label ? put(place, label) : remove(place));
      if (unsent.get(claim) === label) unsent.delete(claim);
    }
  };
  const answer = async ({ claim, label }) => {
    failed("");
    if (claim === undefined) return (await get(`${path}/labels`, signal).catch((error) => { failed(error.message); throw error; })).labels;
    unsent.set(claim, label);
    sending = sending.catch(() => {}).then(send);
    await sending.catch((error) => { throw new Error(`Not saved: ${error.message} The label will be sent again with the next one.`); });
    return null;
  };
  addEventListener("beforeunload", (event) => { if (unsent.size) event.preventDefault(); }, { signal });
  return (port) => {
    port.onmessage = async ({ data: { id, ...asked } }) => {
      try { port.postMessage({ id, labels: await answer(asked) }); } catch (error) { port.postMessage({ id, error: error.message }); }
    };
  };
};

// Results that the operator registered: audits, experiments and runs. `against` names a result to compare with.
export const showResults = async (view, info, name, { signal, parameters }) => {
  const { results } = await get("/v1/results", signal);
  const found = results.find((one) => one.name === name);
  const against = parameters.get("against");
  if (name && found) {
    const path = `/v1/results/${encodeURIComponent(name)}`;
    const asking = (address) => (against ? `${address}${address.includes("?") ? "&" : "?"}against=${encodeURIComponent(against)}` : address);
    if (against) await tried(asking(`${path}/page.html`), signal);
    const address = asking(await opened(`${path}/page.html`, info));
    const place = h("div");
    const trouble = troubleLine();
    const saved = against ? [asking(`${path}/page.html`), `${name}-against-${against}.html`] : [`${path}.json`, `${name}.json`];
    replace(view, h("section", { class: "intro", "aria-labelledby": "title" }, h("p", { class: "label" }, against ? "comparison" : said(found.kind)), heading(against ? `${name} and ${against}` : found.title || name, { class: "plain" }), trouble.element,
      h("div", { class: "actions" }, tab(address), button(`Download ${against ? "HTML" : "JSON"}`, trouble.trying(() => save(...saved))))), place);
    showReport(place, address, signal);
    return;
  }
  const { bar, box } = comparing(results);
  replace(view, h("section", { "aria-labelledby": "title" }, heading("Results"), h("p", { class: "byline" }, "Audits, experiments and runs in the service's results folder."), bar),
    results.length ? h("ol", { class: "jobs" }, results.map((one) => h("li", { class: "job" }, h("a", { href: `#/results/${encodeURIComponent(one.name)}`, dir: "auto" }, one.title || one.name),
      h("p", { class: "outcome" }, [one.kind, one.summary, one.created_at && moment(one.created_at), `file ${one.name}`].filter(Boolean).join(" · ")),
      one.figures.length > 0 && h("p", { class: "outcome" }, one.figures.map((figure) => [said(figure.name), ` ${figure.value} `, h("small", {}, said(figure.basis)), h("br")])),
      box(one))))
      : h("p", { class: "nothing" }, "There are no results. To show a folder of results, the operator can start the service with ", h("code", {}, "factloop serve --results FOLDER"), "."));
};

// A check box for each run and experiment, and a bar whose button compares the two that are checked: the older one is A.
const comparing = (results) => {
  const chosen = new Set();
  const words = h("span", { class: "byline", role: "status" });
  const go = button("Compare", () => {
    const [second, first] = results.filter((one) => chosen.has(one)).map((one) => encodeURIComponent(one.name)); // newest first
    location.hash = `#/results/${first}?against=${second}`;
  });
  const tell = () => {
    const kinds = new Set([...chosen].map((one) => one.kind));
    go.disabled = chosen.size !== 2 || kinds.size > 1;
    replace(words, kinds.size > 1 ? "A run and an experiment cannot be compared." : chosen.size > 2 ? "Select only two." : chosen.size === 2 ? "" : "Select two runs, or two experiments, to compare them.");
  };
  const box = (one) => one.is_comparable && h("label", { class: "tick outcome" }, h("input", { type: "checkbox", onchange: ({ target }) => { chosen[target.checked ? "add" : "delete"](one); tell(); } }), ` Compare ${one.name}`);
  tell();
  return { bar: results.filter((one) => one.is_comparable).length > 1 && h("div", { class: "actions" }, go, words), box };
};
