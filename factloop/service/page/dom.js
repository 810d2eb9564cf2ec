// Elements made of data: text becomes text nodes, and never markup.

const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/gu;
const WEB_ADDRESS = /^https?:\/\/[^\s<>"'`\\\u0000-\u001f\u007f-\u009f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]+$/i;

// What would reorder or hide text becomes a visible symbol, as in the reports.
export const visible = (text) => String(text).replaceAll("\r\n", "\n").replace(UNSAFE, (found) => {
  const code = found.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
});

export const webAddress = (source) => (WEB_ADDRESS.test(source) && URL.canParse(source) ? source : null);

// Text as a part of a regular expression that means itself.
export const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

// One element. Attributes are attributes, `on...` functions listen, null and false are left out.
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

// Text of others, which keeps its own direction.
export const said = (text) => h("bdi", {}, text);

const SVG = "http://www.w3.org/2000/svg";
export const svg = (tag, attributes, ...children) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

// Work of one kind, done once a frame however often it was asked for.
export const eachFrame = (work) => {
  let asked = 0;
  return () => {
    if (!asked) asked = requestAnimationFrame(() => { asked = 0; work(); });
  };
};

// For work that leads to another view: goes to its address, unless the reader has gone elsewhere meanwhile.
export const leadingOn = () => {
  const from = location.hash;
  return (address) => { if (location.hash === from) location.hash = address; };
};

// A list of facts: name and value, the rows that have one.
export const trail = (...rows) => h("dl", { class: "trail" }, rows.filter(Boolean).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));

export const heading = (text) => h("h1", { id: "title", tabindex: "-1", dir: "auto", class: text.length > 160 ? "long" : null }, text);

export const figure = (name, value, basis, kind = null) => h("div", { class: kind }, h("dt", {}, name), h("dd", {}, h("b", {}, value), " ", h("span", {}, basis)));

export const notices = (label, texts, quiet = false) => texts.length > 0 && h("ul", { class: quiet ? "warnings is-quiet" : "warnings", "aria-label": label }, texts.map((text) => h("li", {}, said(text))));

export const button = (label, act, attributes = {}) => h("button", { type: "button", class: "quiet", onclick: act, ...attributes }, label);
