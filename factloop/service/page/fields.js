// Parts of the forms.
import { h, leadingOn, replace } from "./dom.js";
import { draft } from "./draft.js";
import { many } from "./words.js";

// A text of several lines; its length is shown from a few hundred characters on. `beside` stands in the line of the hint.
export const area = (id, label, hint, rows, { most = Infinity, beside = null } = {}) => {
  const size = h("span", { class: "size", id: `${id}-size` });
  const field = h("textarea", { id, rows, dir: "auto", "aria-describedby": `${id}-hint`, spellcheck: "false", oninput: () => { draft[id] = field.value; measure(); } });
  const measure = () => {
    const n = field.value.length;
    size.textContent = n > most ? `${many(n)} characters, and ${many(most)} are allowed` : n > 200 ? `${many(n)} characters` : "";
    size.classList.toggle("is-contradicted", n > most);
  };
  field.value = draft[id];
  measure();
  return { field, element: h("div", { class: "field" }, h("label", { for: id }, label), h("div", { class: "hint" }, h("span", { id: `${id}-hint` }, hint, " ", size), beside), field) };
};

// A short value; `kept` holds it under `name`.
export const line = (id, label, hint, kept, name, { inputmode = "numeric" } = {}) => {
  const field = h("input", { id, type: "text", inputmode, autocomplete: "off", "aria-describedby": `${id}-hint`, oninput: () => { kept[name] = field.value; } });
  field.value = kept[name];
  return { field, element: h("div", { class: "field is-short" }, h("label", { for: id }, label), h("p", { class: "hint", id: `${id}-hint` }, hint), field) };
};

// What went wrong: beside its field, which gets the focus, until that is changed; or, about no field, in a line read aloud.
export class Trouble {
  constructor() {
    this.element = h("p", { class: "trouble", role: "alert", hidden: true });
    this.settle = () => {};
  }

  say(text, field = null) {
    this.settle();
    replace(this.element, field ? "" : text);
    this.element.hidden = !text || Boolean(field);
    if (field && text) this.point(field, text);
  }

  point(field, text) {
    const note = h("p", { class: "trouble is-beside", id: `${field.id}-trouble` }, text);
    const described = field.getAttribute("aria-describedby");
    this.settle = () => {
      note.remove();
      field.removeAttribute("aria-invalid");
      if (described) field.setAttribute("aria-describedby", described);
      else field.removeAttribute("aria-describedby");
    };
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", [note.id, described].filter(Boolean).join(" "));
    field.addEventListener("input", this.settle, { once: true });
    field.after(note);
    const folded = field.closest("details");
    if (folded) folded.open = true;
    field.focus();
  }
}

// A form that sends one job and goes to it. `main` and `side` stand next to each other where there is room; `send` gives the
// address to go to, or null where `trouble` was told; `fieldOf` finds the field that a refusal of the service names.
export const jobForm = (label, trouble, { main, side, send, fieldOf }) => {
  const go = h("button", { type: "submit", class: "go", "aria-keyshortcuts": "Control+Enter Meta+Enter" }, label);
  const submit = async (event) => {
    event.preventDefault();
    if (go.disabled) return;
    trouble.say("");
    go.disabled = true;
    const goTo = leadingOn();
    try {
      const address = await send();
      if (address) goTo(address);
    } catch (error) {
      trouble.say(error.message, error.field ? fieldOf(error.field) : null);
    } finally {
      go.disabled = false;
    }
  };
  const pressed = (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.requestSubmit();
  };
  const form = h("form", { class: "ask", "aria-labelledby": "title", novalidate: true, onsubmit: submit, onkeydown: pressed },
    h("div", { class: "column" }, main), h("div", { class: "column" }, side),
    h("div", { class: "sending" }, trouble.element, go, h("span", { class: "hint keys-hint" }, h("kbd", {}, "Ctrl"), " + ", h("kbd", {}, "Enter"))));
  return form;
};
