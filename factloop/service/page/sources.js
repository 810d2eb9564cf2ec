// What a response is held against: registered documents, pasted ones, or what the service has of its own.
import { button, h, replace } from "./dom.js";
import { dropZone, fileButton, textsOf } from "./files.js";
import { plural } from "./words.js";

// `own`: the words for what the service itself has, or null where it has nothing. `chosen` is that part of the draft.
// `field(name)` is the field that a refusal of the service is about.
export const sourceChoice = (info, chosen, own, { mayWiden = false, trouble }) => {
  const kinds = [
    info.documents.length > 0 && ["registered", "Registered documents"],
    ["pasted", "Documents I paste"],
    own && ["own", own],
  ].filter(Boolean);
  if (!kinds.some(([kind]) => kind === chosen.kind)) chosen.kind = kinds.find(([kind]) => kind !== "pasted")?.[0] ?? "pasted";
  const more = h("div", { class: "more" });
  const fill = () => replace(more,
    chosen.kind === "registered" && registered(info, chosen),
    chosen.kind === "pasted" && pasted(chosen, take),
    chosen.kind !== "own" && mayWiden && widening(chosen));
  const radios = kinds.map(([kind]) => h("input", { type: "radio", name: "against", value: kind, onchange: () => choose(kind) }));
  const choose = (kind) => {
    chosen.kind = kind;
    for (const radio of radios) radio.checked = radio.value === kind;
    fill();
  };
  const take = async (files) => {
    const read = await textsOf(files, info.limits.max_body_bytes);
    const found = read.filter((one) => !one.wrong).map(({ title, text }) => ({ title, text }));
    if (found.length) chosen.pasted = [...chosen.pasted.filter(({ text }) => text.trim()), ...found];
    choose("pasted");
    const wrong = read.filter((one) => one.wrong).map((one) => one.wrong).join(" ");
    if (wrong) trouble.say(wrong, field());
  };
  const field = (name = "") => {
    const [, at] = /^documents\.(\d+)/.exec(name) ?? [];
    const sent = chosen.pasted.flatMap(({ text }, index) => (text.trim() ? [index] : []));
    return more.querySelector(`#document-${(sent[at ?? 0] ?? 0) + 1}`) ?? more.querySelector("select");
  };
  choose(chosen.kind);
  return {
    field,
    element: dropZone(h("fieldset", {}, h("legend", {}, kinds.length === 1 ? "Documents to check against" : "Check against"),
      h("div", { class: "choices", hidden: kinds.length === 1 }, kinds.map(([, label], index) => h("label", { class: "choice" }, radios[index], label))), more), take),
  };
};

// What to send of it; null where the service's own is wanted.
export const documentsOf = (chosen) => {
  if (chosen.kind === "own") return null;
  if (chosen.kind === "registered") return chosen.name;
  return chosen.pasted.filter(({ text }) => text.trim()).map(({ title, text }) => (title.trim() ? { title, text } : { text }));
};

// A request made before, as a choice.
export const restore = (chosen, documents, mode) => {
  chosen.widely = mode === "factuality";
  if (typeof documents === "string") Object.assign(chosen, { kind: "registered", name: documents });
  else if (documents?.length) Object.assign(chosen, { kind: "pasted", pasted: documents.map(({ title, text }) => ({ title: title ?? "", text })) });
  else chosen.kind = "own";
};

const widening = (chosen) => {
  const box = h("input", { type: "checkbox", onchange: () => { chosen.widely = box.checked; } });
  box.checked = chosen.widely;
  return h("label", { class: "tick" }, box, "Search beyond these documents, too ", h("span", { class: "hint" }, "(factuality; without it: faithfulness to the documents)"));
};

const registered = ({ documents }, chosen) => {
  if (!documents.some(({ name }) => name === chosen.name)) chosen.name = documents[0].name;
  const select = h("select", { id: "registered", "aria-label": "Registered documents", onchange: () => { chosen.name = select.value; } },
    documents.map(({ name, title, n_files: n }) => h("option", { value: name }, `${title || name} (${plural(n, "file")})`)));
  select.value = chosen.name;
  return select;
};

const pasted = (chosen, take) => {
  const list = h("ol", { class: "documents" });
  const fill = () => replace(list, chosen.pasted.map((one, index) => {
    const title = h("input", { type: "text", "aria-label": `Title of document ${index + 1}`, placeholder: "Title (optional)", autocomplete: "off", oninput: () => { one.title = title.value; } });
    const text = h("textarea", { id: `document-${index + 1}`, rows: 4, dir: "auto", "aria-label": `Text of document ${index + 1}`, placeholder: "Its text", spellcheck: "false", oninput: () => { one.text = text.value; } });
    title.value = one.title;
    text.value = one.text;
    return h("li", {}, title, text, chosen.pasted.length > 1 && button("Remove", () => {
      chosen.pasted.splice(index, 1);
      fill();
      list.querySelector("input").focus();
    }, { "aria-label": `Remove document ${index + 1}` }));
  }));
  const add = () => {
    chosen.pasted.push({ title: "", text: "" });
    fill();
    list.lastElementChild.querySelector("input").focus();
  };
  fill();
  return h("div", {}, list, h("div", { class: "actions" }, button("Add another document", add), fileButton("Read text files", take, { multiple: true }), h("span", { class: "hint" }, "or drop them here")));
};
