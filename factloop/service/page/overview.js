// The head of a check: what was asked, how far it is, and at the end its numbers with what they rest on.
import { fillBar, verdictBar } from "./bars.js";
import { figure, h, heading, notices, replace } from "./dom.js";
import { STATUSES, cost, duration, judgeOf, many, mark, moment, plural, precisionBasis, tokens, twoDigits, usedAModel, withoutClaim } from "./words.js";

// As in the reports: of a model's work only where there was some.
export const usageFigures = (usage) => [
  ...(usedAModel(usage) ? [figure("Cost", cost(usage), plural(usage.calls, "call")), figure("Tokens", tokens(usage), "prompt and completion")] : []),
  figure("Time", duration(usage.wall_s), usage.searches ? plural(usage.searches, "search", "searches") : ""),
];

export class Overview {
  constructor(prompt) {
    this.byline = h("p", { class: "byline" });
    this.figures = h("dl", { class: "figures of-judge" });
    this.bar = verdictBar();
    this.legend = h("ul", { class: "legend of-judge" });
    this.without = h("p", { class: "byline", hidden: true });
    this.notices = h("div", {});
    this.actions = h("div", { class: "actions" });
    this.element = h("section", { class: "overview", "aria-labelledby": "title" },
      h("p", { class: "label" }, prompt ? "Prompt" : "Response without a prompt"),
      heading(prompt || "Which of its claims hold?"), this.byline, this.figures, this.bar, this.legend, this.without, this.notices, this.actions);
  }

  loading() { replace(this.byline, "Loading…"); }

  // While the check runs, and after one that ended without a report.
  progress(unfolding, byline, spent) {
    const { claims, nJudged, nSentences } = unfolding;
    const usage = spent ?? unfolding.usage;
    replace(this.byline, byline);
    replace(this.figures,
      figure("Judged", `${many(nJudged)} of ${many(claims.length)}`, `claims found so far${nSentences === null ? "" : ` in ${plural(nSentences, "sentence")}`}`, "lead"),
      usage && usageFigures(usage));
    this.distribution(unfolding);
  }

  report(report, unfolding) {
    const { usage, counts } = report;
    replace(this.byline, `Checked by ${judgeOf(report.fingerprint)}, ${moment(report.created_at)}`);
    replace(this.figures,
      figure("Precision", twoDigits(report.precision), precisionBasis(counts), "lead"),
      report.at_k.map((at) => figure(`F1@${at.k}`, twoDigits(at.f1), `recall ${twoDigits(at.recall)}`)),
      usageFigures(usage));
    this.distribution(unfolding);
    const without = withoutClaim(report.sentences ?? []);
    replace(this.without, without && `Sentences without a claim: ${without}.`);
    this.without.hidden = !without;
    replace(this.notices, notices("Warnings", report.warnings));
  }

  distribution({ counts }) {
    const present = Object.keys(STATUSES).filter((status) => counts[status]);
    fillBar(this.bar, counts);
    replace(this.legend, present.map((status) => h("li", {}, mark(status), " ", h("b", {}, many(counts[status])), ` ${STATUSES[status].words}`)));
  }
}
