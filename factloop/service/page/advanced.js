// What most checks leave as the service has it: K of F1@K, and the limits of this one check.
import { h } from "./dom.js";
import { draft } from "./draft.js";
import { line } from "./fields.js";
import { many } from "./words.js";

const WHOLE = /^[1-9]\d{0,5}$/;
const LIMITS = {
  deadline_s: { label: "Deadline in seconds", says: "The check ends then, with what was judged.", wrong: "A deadline is a number of seconds above 0.", inputmode: "decimal" },
  max_calls: { label: "Model calls", says: "The most that it may make.", wrong: "The calls are a whole number from 1 on.", inputmode: "numeric" },
  budget_usd: { label: "Budget in dollars", says: "The most that it may cost.", wrong: "A budget is a number of dollars above 0.", inputmode: "decimal" },
};

export const advanced = (info) => {
  const k = line("k", "K of F1@K", "How many supported facts a reader wants; several with commas. Empty: as the service has it.", draft, "k");
  const limits = Object.entries(LIMITS).map(([name, { label, says, inputmode }]) => {
    const most = info.limits.each_check[name];
    const allowed = most === null ? "" : ` This service allows ${many(most)}.`;
    return [name, line(name.replaceAll("_", "-"), label, `${says}${allowed}`, draft.limits, name, { inputmode })];
  });
  const isUsed = Boolean(draft.k.trim() || Object.values(draft.limits).some((value) => value.trim()));
  return {
    element: h("details", { class: "advanced", open: isUsed }, h("summary", {}, "Advanced"), k.element, limits.map(([, one]) => one.element)),
    fields: { k: k.field, ...Object.fromEntries(limits.map(([name, one]) => [`limits.${name}`, one.field])) },
  };
};

// What is wrong with it, as the field's name and the words; null where nothing is.
export const wrongIn = () => {
  if (!ksOf(draft.k)) return ["k", "K is a whole number from 1 on, or several with commas between them."];
  const wrong = Object.entries(draft.limits).find(([name, value]) => value.trim() && limitOf(name, value) === null);
  return wrong ? [`limits.${wrong[0]}`, LIMITS[wrong[0]].wrong] : null;
};

// What to send of it.
export const advancedAsked = () => {
  const given = Object.entries(draft.limits).filter(([, value]) => value.trim());
  return {
    ...(draft.k.trim() && { k: ksOf(draft.k) }),
    ...(given.length && { limits: Object.fromEntries(given.map(([name, value]) => [name, limitOf(name, value)])) }),
  };
};

// A request made before, back in the draft.
export const restoreAdvanced = ({ k, limits }) => {
  draft.k = (k ?? []).join(", ");
  for (const name of Object.keys(LIMITS)) draft.limits[name] = String(limits?.[name] ?? "");
};

// Null for what is neither empty nor whole numbers with commas between them.
const ksOf = (text) => {
  const given = text.split(",").map((one) => one.trim()).filter(Boolean);
  return (given.length || !text.trim()) && given.every((one) => WHOLE.test(one)) ? given.map(Number) : null;
};

const limitOf = (name, text) => {
  const value = Number(text);
  return value > 0 && Number.isFinite(value) && (name !== "max_calls" || Number.isInteger(value)) ? value : null;
};
