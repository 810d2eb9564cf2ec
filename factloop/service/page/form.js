// The first view: what a reader fills in to have a response checked.
import { advanced, advancedAsked, restoreAdvanced, wrongIn } from "./advanced.js";
import { post } from "./api.js";
import { button, h, replace } from "./dom.js";
import { draft } from "./draft.js";
import { EXAMPLE } from "./example.js";
import { Trouble, area, jobForm } from "./fields.js";
import { dropZone, fileButton, textsOf } from "./files.js";
import { documentsOf, restore, sourceChoice } from "./sources.js";

const LOAD = "Load an example";

// A check done before, back in the form.
export const again = ({ prompt, response, documents, mode, k, limits }) => {
  Object.assign(draft, { prompt: prompt ?? "", response });
  restoreAdvanced({ k, limits });
  restore(draft.check, documents, mode);
  location.hash = "#/";
};

export const showForm = (view, info) => {
  const trouble = new Trouble();
  const prompt = area("prompt", "Prompt", "What the model was asked, if you know it.", 2, { most: info.limits.max_prompt_chars });
  const response = responseField(info, trouble);
  const against = sourceChoice(info, draft.check, info.can_search ? "The service's own search" : null, { mayWiden: info.can_search, trouble });
  const rest = advanced(info);
  const fields = { prompt: prompt.field, response: response.field, ...rest.fields };
  const send = async () => {
    if (!draft.response.trim()) return trouble.say("There is nothing to check yet: paste a response.", response.field);
    const asked = asking();
    if (asked.documents?.length === 0) return trouble.say("Paste at least one document, or choose something else to check against.", against.field());
    const wrong = wrongIn();
    if (wrong) return trouble.say(wrong[1], fields[wrong[0]]);
    return `#/checks/${encodeURIComponent((await post("/v1/checks", { ...asked, ...advancedAsked() })).id)}`;
  };
  let askedOf = null;
  const example = button(LOAD, () => {
    if (isTyped() && askedOf !== JSON.stringify(typed())) {
      askedOf = JSON.stringify(typed());
      example.textContent = "Replace what you typed?";
      return;
    }
    Object.assign(draft, { prompt: EXAMPLE.prompt, response: EXAMPLE.response });
    restore(draft.check, EXAMPLE.documents, "faithfulness");
    showForm(view, info);
    view.querySelector(".go").focus();
  });
  const form = jobForm("Check", trouble, { main: [prompt.element, response.element], side: [against.element, rest.element], send, fieldOf: (name) => fields[name] ?? against.field(name) });
  form.addEventListener("input", () => {
    if (askedOf !== JSON.stringify(typed())) example.textContent = LOAD;
  });
  replace(view, h("section", { class: "intro" },
    h("h1", { id: "title", tabindex: "-1" }, "Which of its claims hold?"),
    h("p", { class: "byline" }, "Paste what a language model wrote: each of its claims is held against documents or a search. ", `Judged by ${info.judge}.`),
    h("div", { class: "actions" }, example)), form);
};

// Whether the draft has words of the reader's, which the example would take away.
const isTyped = () => {
  const { prompt, response, documents } = EXAMPLE;
  const ours = new Set([prompt, response, ...documents.flatMap(({ title, text }) => [title, text])]);
  return typed().some((text) => text.trim() && !ours.has(text));
};

const typed = () => [draft.prompt, draft.response, ...draft.check.pasted.flatMap(({ title, text }) => [title, text])];

const responseField = (info, trouble) => {
  const take = async (files) => {
    const [one] = await textsOf(files.slice(0, 1), info.limits.max_body_bytes);
    if (!one) return;
    if (one.wrong) trouble.say(one.wrong, response.field);
    else {
      response.field.value = one.text;
      response.field.dispatchEvent(new Event("input"));
      response.field.focus();
    }
  };
  const response = area("response", "Response to check", "What it answered: paste it, or drop a text file.", 9, { most: info.limits.max_response_chars, beside: h("span", {}, fileButton("Read it from a file", take)) });
  dropZone(response.element, take);
  return response;
};

const asking = () => {
  const { kind, widely } = draft.check;
  const documents = documentsOf(draft.check);
  return {
    response: draft.response,
    mode: kind === "own" || widely ? "factuality" : "faithfulness",
    ...(draft.prompt.trim() && { prompt: draft.prompt }),
    ...(documents !== null && { documents }),
  };
};
