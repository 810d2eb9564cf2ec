// What was typed in the forms: it stays while other views are looked at, and when the page is loaded anew.
const PLACE = "factloop-draft";

const against = () => ({ kind: null, name: null, pasted: [{ title: "", text: "" }], widely: false });
const limits = () => ({ deadline_s: "", max_calls: "", budget_usd: "" });
const empty = () => ({ prompt: "", response: "", k: "", limits: limits(), question: "", answer: "", check: against(), trust: against() });

// Another version of the page may have kept it: what does not fit is left as it is in an empty draft.
const filled = (fresh, kept) => Object.fromEntries(Object.entries(fresh).map(([name, value]) => [name, fitting(value, kept?.[name])]));
const fitting = (value, kept) => {
  if (value === null) return typeof kept === "string" ? kept : null;
  if (Array.isArray(value)) return Array.isArray(kept) && kept.length ? kept.map((one) => filled(value[0], one)) : value;
  if (typeof value === "object") return filled(value, kept);
  return typeof kept === typeof value ? kept : value;
};

const recalled = () => { try { return JSON.parse(sessionStorage.getItem(PLACE)); } catch { return null; } };

export const draft = filled(empty(), recalled());

// For the tab alone, until it is closed.
export const keepDraft = () => addEventListener("pagehide", () => {
  try { sessionStorage.setItem(PLACE, JSON.stringify(draft)); } catch { /* too long, or nothing may be kept: then not */ }
});
