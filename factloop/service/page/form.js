// The forms for checks and TrustScores. Typed text is kept until the tab is closed.
import { post } from "./api.js";
import { button, h, heading, leadingOn, replace, said, troubleLine } from "./dom.js";
import { many, plural } from "./words.js";

const EXAMPLE = {
  question: "Tell me about the Menai Suspension Bridge.",
  response: "The Menai Suspension Bridge was designed by Thomas Telford. It was opened on 30 January 1836. The bridge joins the island of Anglesey to the mainland of Wales.\n\nIts main span is 176 metres long. Before the bridge was built, travellers crossed the strait by ferry. The bridge is painted green every spring. I hope this helps!",
  documents: [
    { title: "The bridge over the Menai Strait", text: "The Menai Suspension Bridge was designed by Thomas Telford. It was opened on 30 January 1826. The bridge joins the island of Anglesey to the mainland of Wales. The main span of the bridge is 176 metres long." },
    { title: "Crossing the strait", text: "Before the bridge was built, travellers crossed the Menai Strait by ferry. Cattle on their way to the markets of England had to swim." },
  ],
};
const LIMITS = { deadline_s: ["Deadline in seconds", "any"], max_calls: ["Model calls", 1], budget_usd: ["Budget in dollars", "any"] };
const PLAIN = /\.(txt|md|markdown)$/i; // these files are read here; the service reads all others
const SUFFIXES = ".txt,.md,.markdown,.pdf,.docx,.pptx,.xlsx,.html,.htm,.csv,.tsv,.json,.jsonl,text/plain,text/markdown";

const PLACE = "factloop-draft-2";
const sources = () => ({ kind: null, name: null, pasted: [{ title: "", text: "" }], widely: false });
const recalled = () => { try { return JSON.parse(sessionStorage.getItem(PLACE)); } catch { return null; } };
const draft = { response: "", k: "", deadline_s: "", max_calls: "", budget_usd: "", question: "", answer: "", check: sources(), trust: sources(), ...recalled() };
addEventListener("pagehide", () => {
  try { sessionStorage.setItem(PLACE, JSON.stringify(draft)); } catch { /* too long, or storage is not allowed */ }
});

// Puts an earlier request back into its form.
export const again = (kind, request) => {
  const { documents, mode, k, limits } = request;
  if (kind === "trust") Object.assign(draft, { question: request.question, answer: request.response ?? "" });
  else Object.assign(draft, { question: request.question ?? request.prompt ?? "", response: request.response, k: (k ?? []).join(", ") });
  for (const name of Object.keys(LIMITS)) draft[name] = String(limits?.[name] ?? "");
  restore(draft[kind], documents, mode);
  location.hash = kind === "trust" ? "#/trust" : "#/";
};

const restore = (chosen, documents, mode) => {
  chosen.widely = mode === "factuality";
  if (typeof documents === "string") Object.assign(chosen, { kind: "registered", name: documents });
  else if (documents?.length) Object.assign(chosen, { kind: "pasted", pasted: asGiven(documents) });
  else chosen.kind = "own";
};

// Returns documents as they were entered: the pages of a file are grouped, and all other documents can be edited.
const asGiven = (documents) => {
  const found = [];
  for (const one of documents) {
    const { title, text, ...rest } = one;
    const last = found.at(-1);
    if (!one.metadata?.page) found.push({ title: title ?? "", text, rest });
    else if (last?.parts && last.title === one.source) last.parts.push(one);
    else found.push({ title: one.source ?? "", text: "", parts: [one] });
  }
  return found;
};

export const showForm = (view, info) => {
  const question = field("question", "Question", "What the model was asked, if you know it.", area(2));
  const response = field("response", "Response to check", "Paste the model's answer here.", area(9, { required: true }));
  const against = sourceChoice(info, draft.check, info.can_search ? "The service's own search" : null, info.can_search);
  const k = field("k", "K for F1@K", "How many supported facts a reader wants. Separate several values with commas.", h("input", { type: "text", inputmode: "numeric", pattern: " *[1-9][0-9]{0,5}( *, *[1-9][0-9]{0,5})* *" }));
  const limits = Object.entries(LIMITS).map(([name, [label, step]]) => {
    const most = info.limits.each_check[name];
    return field(name, label, most === null ? "The maximum for this check." : `This service allows up to ${many(most)}.`, h("input", { type: "number", min: step === 1 ? 1 : 0, step }));
  });
  const isUsed = [k, ...limits].some((one) => one.input.value);
  const more = h("details", { class: "advanced", open: isUsed }, h("summary", {}, "Advanced"), k.element, limits.map((one) => one.element));
  const send = async () => {
    const { kind, widely } = draft.check;
    const given = Object.entries(LIMITS).map(([name]) => [name, draft[name]]).filter(([, value]) => value);
    const job = await post("/v1/checks", {
      response: draft.response,
      mode: kind === "own" || widely ? "factuality" : "faithfulness",
      ...(draft.question.trim() && { question: draft.question }),
      ...documentsOf(draft.check),
      ...(draft.k.trim() && { k: draft.k.split(",").map(Number) }),
      ...(given.length && { limits: Object.fromEntries(given.map(([name, value]) => [name, Number(value)])) }),
    });
    return `#/jobs/${job.id}`;
  };
  const example = button("Load an example", () => {
    if (draft.response.trim() && draft.response !== EXAMPLE.response && example.textContent === "Load an example") {
      example.textContent = "Replace your text?";
      return;
    }
    Object.assign(draft, { question: EXAMPLE.question, response: EXAMPLE.response });
    restore(draft.check, EXAMPLE.documents, "faithfulness");
    showForm(view, info);
    view.querySelector(".go").focus();
  });
  const form = jobForm("Check", [question, response], [against.element, more], send, against);
  form.addEventListener("input", () => { example.textContent = "Load an example"; });
  replace(view, h("section", { class: "intro" }, heading("Which claims are supported?"),
    h("p", { class: "byline" }, "Paste a language model's answer. Each of its claims is checked against documents or a search. ", `Judged by ${info.judge}.`),
    h("div", { class: "actions" }, example)), form);
};

export const showTrustForm = (view, info) => {
  const question = field("question", "Question", "What the model was asked.", area(2, { required: true }));
  const answer = field("answer", "Answer", info.has_subject ? "Leave this empty to let the model answer first." : "The answer to score.", area(4, { required: !info.has_subject }));
  const against = sourceChoice(info, draft.trust, "No documents", false);
  const send = async () => {
    const job = await post("/v1/trust", { question: draft.question, ...(draft.answer.trim() && { response: draft.answer }), ...documentsOf(draft.trust) });
    return `#/jobs/${job.id}`;
  };
  replace(view, h("section", { class: "intro" }, h("p", { class: "label" }, "TrustScore"), heading("Does the model stand by its answer?"),
    h("p", { class: "byline" }, "The model is asked repeatedly to pick its answer out of distractors. If you add documents, the answer is also checked against them.",
      !info.has_subject && " This service has no subject model, so answers are only checked against documents. To set one, use factloop serve --subject-model.")),
  jobForm("Score", [question, answer], [against.element], send, against));
};

const area = (rows, attributes = {}) => h("textarea", { rows, dir: "auto", spellcheck: "false", ...attributes });

// A labelled field whose text stays in the draft.
const field = (name, label, hint, input) => {
  const id = name.replaceAll("_", "-");
  input.id = id;
  input.setAttribute("aria-describedby", `${id}-hint`);
  input.value = draft[name];
  input.addEventListener("input", () => { draft[name] = input.value; });
  return { input, element: h("div", { class: `field${input.rows ? "" : " is-short"}` }, h("label", { for: id }, label), h("p", { class: "hint", id: `${id}-hint` }, hint), input) };
};

// A form that submits a job and then shows it. The browser reports invalid fields before the form is sent. If the service
// rejects the job, the reason is shown next to the button, and the invalid field gets the focus.
const jobForm = (label, main, side, send, against) => {
  const trouble = troubleLine();
  const go = h("button", { type: "submit", class: "go", "aria-keyshortcuts": "Control+Enter Meta+Enter" }, label);
  const submit = async (event) => {
    event.preventDefault();
    if (go.disabled) return;
    go.disabled = true;
    const goTo = leadingOn();
    await trouble.trying(async () => {
      try { goTo(await send()); } catch (error) {
        const wrong = error.field && (form.querySelector(`#${error.field.split(".").at(-1).replaceAll("_", "-")}`) ?? against.field(error.field));
        wrong?.closest("details")?.setAttribute("open", "");
        wrong?.setAttribute("aria-invalid", "true");
        wrong?.addEventListener("input", () => wrong.removeAttribute("aria-invalid"), { once: true });
        wrong?.focus();
        throw error;
      }
    })();
    go.disabled = false;
  };
  const pressed = (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.requestSubmit();
  };
  const chosen = h("input", { type: "file", hidden: true, multiple: true, "aria-label": "Read files", accept: SUFFIXES, onchange: () => reading([...chosen.files]) });
  const reading = (files) => trouble.trying(async () => {
    go.disabled = true; // nothing is sent without documents that are still being read
    try { against.add(await readAll(files, trouble.say)); } finally { go.disabled = false; }
  })();
  droppedOn(against.element, reading, trouble);
  against.reading.append(button("Read files", () => { chosen.value = ""; chosen.click(); }), chosen);
  const form = h("form", { class: "ask", "aria-labelledby": "title", onsubmit: submit, onkeydown: pressed },
    h("div", { class: "column" }, main.map((one) => one.element)), h("div", { class: "column" }, side),
    h("div", { class: "sending" }, trouble.element, go, h("span", { class: "hint" }, h("kbd", {}, "Ctrl"), " + ", h("kbd", {}, "Enter"))));
  form.addEventListener("invalid", (event) => event.target.closest("details")?.setAttribute("open", ""), true);
  return form;
};

// Reads files as documents, one by one. A file that cannot be read is reported, and all other files are kept.
const readAll = async (files, say) => {
  const found = [];
  for (const [at, file] of files.entries()) {
    say(`Reading ${file.name}, ${many(at + 1)} of ${plural(files.length, "file")} …`);
    try { found.push(await documentOf(file)); } catch (error) {
      if (files.length === 1) throw error;
      found.push({ trouble: error.message });
    }
  }
  say(found.flatMap((one) => one.trouble ?? []).join(" "));
  return found.filter((one) => !one.trouble);
};

// Plain text is read here and can be edited. The service reads the pages of other files.
const documentOf = async (file) => {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (PLAIN.test(file.name)) {
    let text = "\0";
    try { text = new TextDecoder("utf-8", { fatal: true }).decode(bytes); } catch { /* reported below */ }
    if (text.includes("\0")) throw new Error(`${file.name} is not UTF-8 text: paste its text, or save it as UTF-8.`);
    return filled({ title: file.name, text });
  }
  let content = "";
  for (let at = 0; at < bytes.length; at += 0x8000) content += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  const { documents } = await post("/v1/documents", { name: file.name, content: btoa(content) });
  return filled({ title: file.name, text: "", parts: documents });
};
const filled = (file) => {
  if (!isFilled(file)) throw new Error(`${file.title} contains no text.`);
  return file;
};

// Reads the files and folders that are dropped on an element.
const droppedOn = (element, read, trouble) => {
  const over = (isOver) => (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    element.classList.toggle("is-over", isOver);
  };
  element.addEventListener("dragover", over(true));
  element.addEventListener("dragleave", over(false));
  element.addEventListener("drop", (event) => {
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    over(false)(event);
    if (entries.length) trouble.trying(async () => read((await Promise.all(entries.map(filesIn))).flat()))();
  });
};
const filesIn = async (entry) => {
  if (entry.isFile) return [await new Promise((done, failed) => { entry.file(done, failed); })];
  const reader = entry.createReader();
  const found = [];
  for (;;) { // a folder is listed in pieces
    const some = await new Promise((done, failed) => { reader.readEntries(done, failed); });
    if (!some.length) return (await Promise.all(found.filter(({ name }) => !name.startsWith(".")).map(filesIn))).flat();
    found.push(...some);
  }
};

// What to check against: registered or pasted documents, or the service's own sources (labelled `own`).
const sourceChoice = (info, chosen, own, mayWiden) => {
  const kinds = [info.documents.length > 0 && ["registered", "Registered documents"], ["pasted", "My documents"], own && ["own", own]].filter(Boolean);
  if (!kinds.some(([kind]) => kind === chosen.kind)) chosen.kind = kinds.find(([kind]) => kind !== "pasted")?.[0] ?? "pasted";
  const more = h("div", { class: "more" });
  const reading = h("div", { class: "actions" }, button("Add another document", () => {
    chosen.pasted.push({ title: "", text: "" });
    fill();
    more.querySelector("li:last-child input").focus();
  }));
  const fill = () => replace(more,
    chosen.kind === "registered" && registered(info, chosen),
    chosen.kind === "pasted" && h("ol", { class: "documents" }, chosen.pasted.map((one, at) => pasted(chosen, one, at, fill))),
    chosen.kind === "pasted" && reading,
    chosen.kind === "pasted" && h("p", { class: "hint" }, "Or drop files and folders here: PDF, Word, HTML, text, tables."),
    chosen.kind !== "own" && mayWiden && widening(chosen));
  const radios = kinds.map(([kind]) => h("input", { type: "radio", name: "against", value: kind, onchange: () => choose(kind) }));
  const choose = (kind) => {
    chosen.kind = kind;
    for (const radio of radios) radio.checked = radio.value === kind;
    fill();
  };
  choose(chosen.kind);
  return {
    reading,
    add: (documents) => {
      chosen.pasted = [...chosen.pasted.filter(isFilled), ...documents];
      if (!chosen.pasted.length) chosen.pasted.push({ title: "", text: "" });
      choose("pasted");
    },
    // Returns the field that the service rejected. Empty documents are not sent.
    field: (name) => {
      const sent = chosen.pasted.flatMap((one, at) => (isFilled(one) ? one.parts?.map(() => at) ?? [at] : []));
      const [, at = 0] = /^documents\.(\d+)/.exec(name) ?? [];
      return more.querySelector(`#document-${(sent[at] ?? 0) + 1}`) ?? more.querySelector("select");
    },
    element: h("fieldset", {}, h("legend", {}, kinds.length === 1 ? "Documents to check against" : "Check against"),
      h("div", { class: "choices", hidden: kinds.length === 1 }, kinds.map(([, label], at) => h("label", { class: "choice" }, radios[at], label))), more),
  };
};

const documentsOf = ({ kind, name, pasted: given }) => {
  if (kind === "own") return {};
  if (kind === "registered") return { documents: name };
  return { documents: given.filter(isFilled).flatMap(({ title, text, parts, rest }) => parts ?? [{ ...rest, ...(title.trim() && { title }), text }]) };
};
const isFilled = ({ text, parts }) => Boolean(text.trim() || parts?.length);

const widening = (chosen) => {
  const box = h("input", { type: "checkbox", onchange: () => { chosen.widely = box.checked; } });
  box.checked = chosen.widely;
  return h("label", { class: "tick" }, box, "Also search beyond these documents ", h("span", { class: "hint" }, "(factuality; otherwise faithfulness to the documents)"));
};

const registered = ({ documents }, chosen) => {
  if (!documents.some(({ name }) => name === chosen.name)) chosen.name = documents[0].name;
  const select = h("select", { "aria-label": "Registered documents", onchange: () => { chosen.name = select.value; } },
    documents.map(({ name, title, n_files: n }) => h("option", { value: name }, `${title || name} (${plural(n, "file")})`)));
  select.value = chosen.name;
  return select;
};

const pasted = (chosen, one, at, fill) => {
  const removing = button("Remove", () => {
    chosen.pasted.splice(at, 1);
    if (!chosen.pasted.length) chosen.pasted.push({ title: "", text: "" });
    fill();
  }, { "aria-label": `Remove document ${at + 1}` });
  if (one.parts) return h("li", { class: "is-file", id: `document-${at + 1}`, tabindex: "-1" }, h("b", {}, said(one.title)), h("span", { class: "hint" }, plural(one.parts.length, one.parts[0]?.metadata.page ? "page" : "part")), removing);
  const title = h("input", { type: "text", "aria-label": `Title of document ${at + 1}`, placeholder: "Title (optional)", autocomplete: "off", oninput: () => { one.title = title.value; } });
  const text = h("textarea", { id: `document-${at + 1}`, rows: 4, dir: "auto", "aria-label": `Text of document ${at + 1}`, placeholder: "Text", spellcheck: "false", oninput: () => { one.text = text.value; } });
  title.value = one.title;
  text.value = one.text;
  return h("li", {}, title, text, chosen.pasted.length > 1 && removing);
};
