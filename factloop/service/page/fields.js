// Parts of the forms, and what was typed in them: it stays while other views are looked at.
import { h, replace } from "./dom.js";
import { many } from "./words.js";

const against = () => ({ kind: null, name: null, pasted: [{ title: "", text: "" }], widely: false });
export const draft = { prompt: "", response: "", k: "", question: "", answer: "", check: against(), trust: against() };

// A text of several lines; its length is shown from a few hundred characters on.
export const area = (id, label, hint, rows, { most = Infinity } = {}) => {
  const size = h("span", { class: "size", id: `${id}-size` });
  const field = h("textarea", { id, rows, dir: "auto", "aria-describedby": `${id}-hint`, spellcheck: "false", oninput: () => { draft[id] = field.value; measure(); } });
  const measure = () => {
    const n = field.value.length;
    size.textContent = n > most ? `${many(n)} characters, and ${many(most)} are allowed` : n > 200 ? `${many(n)} characters` : "";
    size.classList.toggle("is-contradicted", n > most);
  };
  field.value = draft[id];
  measure();
  return { field, element: h("div", { class: "field" }, h("label", { for: id }, label), h("p", { class: "hint", id: `${id}-hint` }, hint, " ", size), field) };
};

// A line that says what went wrong, read aloud at once.
export class Trouble {
  constructor() { this.element = h("p", { class: "trouble", role: "alert", hidden: true }); }

  say(text, field = null) {
    if (this.field) this.field.removeAttribute("aria-invalid");
    this.field = field;
    replace(this.element, text);
    this.element.hidden = !text;
    field?.setAttribute("aria-invalid", "true");
    field?.focus();
  }
}

// A form that sends one job and goes to it.
export const jobForm = (label, parts, send) => {
  const trouble = new Trouble();
  const go = h("button", { type: "submit", class: "go" }, label);
  const submit = async (event) => {
    event.preventDefault();
    trouble.say("");
    go.disabled = true;
    try {
      const address = await send(trouble);
      if (address) location.hash = address;
    } catch (error) {
      trouble.say(error.message);
    } finally {
      go.disabled = false;
    }
  };
  return h("form", { class: "ask", "aria-labelledby": "title", novalidate: true, onsubmit: submit }, parts, trouble.element, h("div", { class: "actions" }, go));
};
