// The first view: what a reader fills in to have a response checked.
import { post } from "./api.js";
import { button, h, replace } from "./dom.js";
import { EXAMPLE } from "./example.js";
import { area, draft, jobForm } from "./fields.js";
import { documentsOf, restore, sourceChoice } from "./sources.js";

// A check done before, back in the form.
export const again = ({ prompt, response, documents, mode, k }) => {
  Object.assign(draft, { prompt: prompt ?? "", response, k: (k ?? []).join(", ") });
  restore(draft.check, documents, mode);
  location.hash = "#/";
};

export const showForm = (view, info) => {
  const { limits } = info;
  const prompt = area("prompt", "Prompt", "What the model was asked, if you know it.", 2, { most: limits.max_prompt_chars });
  const response = area("response", "Response to check", "What it answered.", 8, { most: limits.max_response_chars });
  const against = sourceChoice(info, draft.check, info.can_search ? "The service's own search" : null, { mayWiden: info.can_search });
  const facts = factsWanted();
  const example = button("Load an example", () => {
    Object.assign(draft, { prompt: EXAMPLE.prompt, response: EXAMPLE.response });
    restore(draft.check, EXAMPLE.documents, "faithfulness");
    showForm(view, info);
    view.querySelector(".go").focus();
  });
  const send = async (trouble) => {
    if (!draft.response.trim()) return trouble.say("There is nothing to check yet: paste a response.", response.field);
    if (!ksOf(draft.k)) return trouble.say("K is a whole number from 1 on, or several with commas between them.", facts.field);
    const asked = asking();
    if (asked.documents?.length === 0) return trouble.say("Paste at least one document, or choose something else to check against.", against.querySelector("textarea"));
    return `#/checks/${encodeURIComponent((await post("/v1/checks", asked)).id)}`;
  };
  replace(view, h("section", { class: "intro" }, h("p", { class: "label" }, "New check"),
    h("h1", { id: "title", tabindex: "-1" }, "Which of its claims hold?"),
    h("p", { class: "byline" }, "Paste what a language model wrote: it is split into single claims, each is held against documents or a search, and you see which are supported, contradicted or without evidence."),
    h("p", { class: "byline" }, `Judged by ${info.judge}.`),
    h("div", { class: "actions" }, example)),
  jobForm("Check", [prompt.element, response.element, against, facts.element], send));
};

const asking = () => {
  const { kind, widely } = draft.check;
  const documents = documentsOf(draft.check);
  return {
    response: draft.response,
    mode: kind === "own" || widely ? "factuality" : "faithfulness",
    ...(draft.prompt.trim() && { prompt: draft.prompt }),
    ...(documents !== null && { documents }),
    ...(draft.k.trim() && { k: ksOf(draft.k) }),
  };
};

const factsWanted = () => {
  const field = h("input", { id: "k", type: "text", inputmode: "numeric", autocomplete: "off", "aria-describedby": "k-hint", oninput: () => { draft.k = field.value; } });
  field.value = draft.k;
  return { field, element: h("div", { class: "field is-short" }, h("label", { for: "k" }, "K of F1@K"), h("p", { class: "hint", id: "k-hint" }, "How many supported facts a reader wants. Empty: as the service has it."), field) };
};

// Several are apart by commas; null for what is none.
const ksOf = (text) => {
  const given = text.split(",").map((one) => one.trim()).filter(Boolean);
  return (given.length || !text.trim()) && given.every((one) => /^[1-9]\d{0,5}$/.test(one)) ? given.map(Number) : null;
};
