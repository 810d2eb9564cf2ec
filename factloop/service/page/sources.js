// What a response is held against: registered documents, pasted ones, or what the service has of its own.
import { button, h, replace } from "./dom.js";
import { plural } from "./words.js";

// `own`: the words for what the service itself has, or null where it has nothing. `chosen` is that part of the draft.
export const sourceChoice = (info, chosen, own, { mayWiden = false } = {}) => {
  const kinds = [
    info.documents.length > 0 && ["registered", "Registered documents"],
    ["pasted", "Documents I paste"],
    own && ["own", own],
  ].filter(Boolean);
  if (!kinds.some(([kind]) => kind === chosen.kind)) chosen.kind = kinds.find(([kind]) => kind !== "pasted")?.[0] ?? "pasted";
  const more = h("div", { class: "more" });
  const fill = () => replace(more,
    chosen.kind === "registered" && registered(info, chosen),
    chosen.kind === "pasted" && pasted(chosen),
    chosen.kind !== "own" && mayWiden && widening(chosen));
  const choices = kinds.map(([kind, label]) => {
    const radio = h("input", { type: "radio", name: "against", value: kind, onchange: () => { chosen.kind = kind; fill(); } });
    radio.checked = chosen.kind === kind;
    return h("label", { class: "choice" }, radio, label);
  });
  fill();
  return h("fieldset", {}, h("legend", {}, kinds.length === 1 ? "Documents to check against" : "Check against"), h("div", { class: "choices", hidden: kinds.length === 1 }, choices), more);
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
  const select = h("select", { "aria-label": "Registered documents", onchange: () => { chosen.name = select.value; } },
    documents.map(({ name, title, n_files: n }) => h("option", { value: name }, `${title || name} (${plural(n, "file")})`)));
  select.value = chosen.name;
  return select;
};

const pasted = (chosen) => {
  const list = h("ol", { class: "documents" });
  const fill = () => replace(list, chosen.pasted.map((one, index) => {
    const title = h("input", { type: "text", "aria-label": `Title of document ${index + 1}`, placeholder: "Title (optional)", autocomplete: "off", oninput: () => { one.title = title.value; } });
    const text = h("textarea", { rows: 4, dir: "auto", "aria-label": `Text of document ${index + 1}`, placeholder: "Its text", spellcheck: "false", oninput: () => { one.text = text.value; } });
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
  const read = async () => {
    const found = await Promise.all([...files.files].map(async (file) => ({ title: file.name, text: await file.text() })));
    chosen.pasted = [...chosen.pasted.filter(({ text }) => text.trim()), ...found];
    files.value = "";
    fill();
  };
  const files = h("input", { type: "file", hidden: true, multiple: true, "aria-label": "Text files", accept: ".txt,.md,.markdown,text/plain,text/markdown", onchange: read });
  fill();
  return h("div", {}, list, h("div", { class: "actions" }, button("Add another document", add), button("Read text files", () => files.click()), files));
};
