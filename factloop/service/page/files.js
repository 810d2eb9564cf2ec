// Text files, chosen with a button or dropped: they are read here, and sent as text.
import { button, h } from "./dom.js";
import { many } from "./words.js";

const SUFFIXES = ".txt,.md,.markdown,.csv,.tsv,.json,.jsonl,.html,text/plain,text/markdown";

// Each file's title and text, or why it has none.
export const textsOf = (files, mostBytes) => Promise.all([...files].map(async (file) => {
  if (file.size > mostBytes) return { title: file.name, wrong: `${file.name} has more than the ${many(mostBytes)} bytes that this service takes.` };
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return text.includes("\0") ? notText(file) : { title: file.name, text };
  } catch {
    return notText(file);
  }
}));

const notText = ({ name }) => ({ title: name, wrong: `${name} is not a text file in UTF-8: paste its text, or register it with factloop serve --documents.` });

// A button that chooses files, and the input behind it.
export const fileButton = (label, take, { multiple = false } = {}) => {
  const input = h("input", { type: "file", hidden: true, multiple, "aria-label": label, accept: SUFFIXES, onchange: () => {
    const files = [...input.files];
    input.value = "";
    take(files);
  } });
  return [button(label, () => input.click()), input];
};

export const hasFiles = (event) => event.dataTransfer?.types.includes("Files") ?? false;

// An element on which files can be dropped.
export const dropZone = (element, take) => {
  const over = (is) => element.classList.toggle("is-over", is);
  element.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    over(true);
  });
  element.addEventListener("dragleave", (event) => { if (!element.contains(event.relatedTarget)) over(false); });
  element.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    over(false);
    take([...event.dataTransfer.files]);
  });
  return element;
};
