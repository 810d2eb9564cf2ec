// Creates elements from data. Text becomes text nodes, and never markup.
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/gu;

// Characters that would reorder or hide text become visible symbols, as in the reports.
const visible = (text) => String(text).replaceAll("\r\n", "\n").replace(UNSAFE, (found) => {
  const code = found.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
});

// Creates an element. Functions listen to the event they are named after (`onclick`). Attributes that are null,
// undefined or false are left out.
export const h = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : visible(value));
  }
  element.append(...nodes(children));
  return element;
};

const nodes = (children) => children.flat(3).filter((one) => one !== null && one !== undefined && one !== false)
  .map((one) => (one instanceof Node ? one : document.createTextNode(visible(one))));

export const replace = (element, ...children) => element.replaceChildren(...nodes(children));

// External text, which keeps its own direction.
export const said = (text) => h("bdi", {}, text);

export const heading = (text, attributes = {}) => h("h1", { id: "title", tabindex: "-1", dir: "auto", ...attributes }, text);

export const button = (label, act, attributes = {}) => h("button", { type: "button", class: "quiet", onclick: act, ...attributes }, label);

export const mark = (status, symbol) => h("span", { class: `mark is-${status}`, "aria-hidden": "true" }, symbol);

// A line for errors and for work in progress (text that ends in an ellipsis). Screen readers read it aloud.
export const troubleLine = () => {
  const element = h("p", { class: "trouble", role: "alert", hidden: true });
  const say = (text) => {
    if (element.textContent !== text) replace(element, text);
    element.classList.toggle("is-progress", text.endsWith(" …"));
    element.hidden = !text;
  };
  // Wraps a button's action, and shows its errors in the line.
  const trying = (act) => async () => {
    say("");
    try { await act(); } catch (error) { say(error.message); }
  };
  return { element, say, trying };
};

// Returns a function that opens another view after an action, unless the user has moved on.
export const leadingOn = () => {
  const from = location.hash;
  return (address) => { if (location.hash === from) location.hash = address; };
};
