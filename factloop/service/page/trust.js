// TrustScore: does the model stand by its answer among distractors, and do documents support it?
import { follow, get, post, save } from "./api.js";
import { button, figure, h, heading, notices, replace, said, trail } from "./dom.js";
import { draft } from "./draft.js";
import { passages } from "./evidence.js";
import { Trouble, area, jobForm } from "./fields.js";
import { deleteButton, stopButton } from "./keeping.js";
import { documentsOf, restore, sourceChoice } from "./sources.js";
import { capital, cost, isOver, jobState, mark, moment, plural, reason, spentInWords, twoDigits } from "./words.js";

const RELATIONS = {
  support: { words: "documents support the answer", tone: "supported" },
  neutral: { words: "documents neither support nor contradict it", tone: "no_evidence" },
  contradict: { words: "documents contradict the answer", tone: "contradicted" },
};

export const showTrustForm = (view, info) => {
  const trouble = new Trouble();
  const question = area("question", "Question", "What was asked.", 2, { most: info.limits.max_prompt_chars });
  const answer = area("answer", "Answer", "Leave it empty to let the model answer first.", 4, { most: info.limits.max_response_chars });
  const against = sourceChoice(info, draft.trust, "No documents of mine", { trouble });
  const fields = { question: question.field, response: answer.field };
  const send = async () => {
    if (!draft.question.trim()) return trouble.say("There is no question yet.", question.field);
    const documents = documentsOf(draft.trust);
    if (documents?.length === 0) return trouble.say("Paste at least one document, or choose something else to check against.", against.field());
    const asked = { question: draft.question, ...(draft.answer.trim() && { response: draft.answer }), ...(documents !== null && { documents }) };
    return `#/trust/${encodeURIComponent((await post("/v1/trust", asked)).id)}`;
  };
  replace(view, h("section", { class: "intro" }, h("p", { class: "label" }, "TrustScore"), h("h1", { id: "title", tabindex: "-1" }, "Does the model stand by its answer?"),
    h("p", { class: "byline" }, "The answer is put before the model among distractors, again and again; and documents, where there are any, are asked whether they support it.")),
  jobForm("Score", trouble, { main: [question.element, answer.element], side: [against.element], send, fieldOf: (name) => fields[name] ?? against.field(name) }));
};

// A score made before, back in the form.
const again = ({ question, response, documents }) => {
  Object.assign(draft, { question, answer: response ?? "" });
  restore(draft.trust, documents, null);
  location.hash = "#/trust";
};

export const showTrust = async (view, id, { signal, announce }) => {
  const path = `/v1/jobs/${encodeURIComponent(id)}`;
  const [found, request] = await Promise.all([get(path, signal), get(`${path}/request`, signal)]);
  let job = found;
  const trouble = new Trouble();
  const refused = (text) => trouble.say(text);
  const state = h("p", { class: "byline", role: "status" });
  const actions = h("div", { class: "actions" });
  const afterwards = () => [button("Edit and score again", () => again(request)), deleteButton(path, refused)];
  replace(view, h("section", { class: "overview", "aria-labelledby": "title" }, h("p", { class: "label" }, "Question"), heading(request.question), state, trouble.element, actions));
  if (!isOver(job)) {
    replace(state, "The model is being asked…");
    replace(actions, stopButton("Stop this score", path, refused));
    await follow(id, { signal, told: (open) => replace(state, open === "lost" ? "The service does not answer; trying again." : "The model is being asked…"), heard: (event) => { if (event.type === "job_finished") job = event.data; } });
    if (signal.aborted) return;
  }
  if (job.status !== "done") {
    replace(state, `${capital(jobState(job.status).words)}${job.error ? `: ${job.error.message}` : "."}${spentInWords(job)}`);
    replace(actions, afterwards());
    return;
  }
  drawTrust(view, path, job, await get(`${path}/result`, signal), trouble, afterwards());
  announce("TrustScore finished.");
};

const drawTrust = (view, path, job, report, trouble, more) => {
  const { trust_bc: bc, trust_fc: fc, trust_ov: ov } = report;
  const relation = RELATIONS[fc.relation];
  const saving = (from, kind) => () => save(from, `trust-${job.id.replace(/[^\w-]/g, "")}.${kind}`).catch((error) => trouble.say(error.message));
  replace(view, h("section", { class: "overview", "aria-labelledby": "title" },
    h("p", { class: "label" }, "Question"), heading(report.question || "(no question)"),
    h("p", { class: "label given" }, report.answered_by ? ["Response of ", said(report.answered_by)] : "Response"), h("p", { class: "rationale", dir: "auto" }, report.response || "(empty)"),
    h("p", { class: "byline" }, "Asked of ", said(report.fingerprint.subject_model ?? "no model"), `, ${moment(report.created_at)} · ${cost(report.usage)}`),
    h("dl", { class: "figures" },
      figure("TrustOV", twoDigits(ov.value), ov.missing ? `no value: ${ov.missing}` : "both together", "lead"),
      figure("TrustBC", twoDigits(bc.value), basisOf(bc)),
      bc.graded !== null && figure("TrustBC, graded", twoDigits(bc.graded), "mean probability of the answer"),
      figure("TrustFC", twoDigits(fc.value), relation ? relation.words : `unscored: ${reason(fc.unscored_reason)}`)),
    notices("Warnings", report.warnings), trouble.element,
    h("div", { class: "actions" }, button("Download JSON", saving(`${path}/result`, "json")), button("Download HTML", saving(`${path}/report.html`, "html")), more)),
  h("section", { class: "part" }, h("h2", {}, "Does the model stand by it?"), bc.value === null && h("p", { class: "rationale", dir: "auto" }, bc.rationale), notices("Notes", bc.notes ?? [], true), h("ol", { class: "checks" }, bc.checks.map(checkItem))),
  h("section", { class: "part" }, h("h2", {}, "Do documents support it?"), relation && h("p", { class: "outcome" }, mark({ supported: "✓", contradicted: "✗", no_evidence: "○" }[relation.tone], relation.tone), ` ${capital(relation.words)}.`),
    fc.rationale && h("p", { class: "rationale", dir: "auto" }, fc.rationale), fc.passages.length > 0 && passages(fc.passages, fc.cited), (fc.query || fc.judged_by) && trail(fc.query && ["Query", said(fc.query)], fc.judged_by && ["Judged by", said(fc.judged_by)])));
};

const basisOf = (bc) => (bc.value === null ? `unscored: ${reason(bc.unscored_reason)}` : `chose its answer in ${bc.n_consistent} of ${plural(bc.n_asked, "check")}`);

const checkItem = (check) => {
  const own = check.options.find((option) => option.kind === "response").letter;
  const [tone, words] = check.chosen === null ? ["unscored", `unscored: ${reason(check.unscored_reason)}`] : check.chosen === own ? ["supported", `chose its answer, ${own}`] : ["contradicted", `chose ${check.chosen}, its answer was ${own}`];
  return h("li", { class: "claim" }, h("details", {},
    h("summary", {}, mark({ supported: "✓", contradicted: "✗", unscored: "?" }[tone], tone), h("span", { class: "statement" }, `Check ${check.number}`), h("span", { class: "outcome" }, h("span", { class: `verdict is-${tone}` }, capital(words)), check.counted ? "" : " · not counted")),
    h("div", { class: "body" }, check.reply && h("p", { class: "rationale" }, "It said: ", said(check.reply)), h("ol", { class: "options" }, check.options.map((option) => h("li", {}, h("b", {}, `${option.letter} `), said(option.text), option.letter === own && [" ", h("span", { class: "tag" }, "the answer")], option.letter === check.chosen && [" ", h("span", { class: "tag" }, "chosen")]))))));
};
