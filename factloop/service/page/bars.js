// A bar of verdicts, as the reports draw it.
import { svg } from "./dom.js";
import { STATUSES, many } from "./words.js";

export const verdictBar = (counts = {}, none = "no claims yet") => {
  const bar = svg("svg", { class: "bar", role: "img", preserveAspectRatio: "none" });
  fillBar(bar, counts, none);
  return bar;
};

// `counts` has the number of claims by status.
export const fillBar = (bar, counts, none = "no claims yet") => {
  const present = Object.keys(STATUSES).filter((status) => counts[status]);
  let drawn = 0;
  bar.replaceChildren(...present.map((status) => {
    const part = svg("rect", { class: `is-${status}`, x: drawn, y: 0, width: counts[status], height: 1 });
    drawn += counts[status];
    return part;
  }));
  bar.setAttribute("viewBox", `0 0 ${Math.max(1, drawn)} 1`);
  bar.setAttribute("aria-label", present.map((status) => `${many(counts[status])} ${STATUSES[status].words}`).join(", ") || none);
};
