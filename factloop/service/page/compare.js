// Two checks claim by claim, the older on the left: what changed stands first, with both rationales side by side.
import { get } from "./api.js";
import { figure, h, notices, replace, said } from "./dom.js";
import { STATUSES, many, mark, plural, reason, second, statusOf, twoDigits } from "./words.js";

export const showComparison = async (view, first, other, { signal }) => {
  const compared = await get(`/v1/compare?${new URLSearchParams({ first, second: other })}`, signal);
  const { counts, flips, pairs, only_first: onlyOlder, only_second: onlyNewer } = compared;
  const changed = pairs.filter((pair) => !pair.flipped && (pair.changed || pair.pieces.length));
  const same = pairs.filter((pair) => !pair.changed && !pair.pieces.length);
  replace(view, h("section", { class: "overview", "aria-labelledby": "title" },
    h("p", { class: "label" }, "Compared claim by claim"), h("h1", { id: "title", tabindex: "-1" }, headline(compared)),
    h("dl", { class: "sides" }, side("Older", compared.first, counts.first), side("Newer", compared.second, counts.second)),
    h("dl", { class: "figures" },
      figure("Changed verdict", many(counts.n_flips), `of ${plural(counts.n_pairs - counts.n_unscored_pairs, "claim")} with a verdict of both`, "lead"),
      figure("In both", many(counts.n_pairs), pairs.length === 0 ? "no claim of one is a claim of the other" : [counts.n_reworded ? `${many(counts.n_reworded)} of them in other words` : "in the same words", counts.n_unscored_pairs > 0 && `, ${many(counts.n_unscored_pairs)} without a verdict of both`]),
      figure("Only older", many(onlyOlder.length), "left out by the newer"), figure("Only newer", many(onlyNewer.length), "not in the older")),
    notices("Cautions", compared.same_response ? [] : ["The two checks are of different responses."])),
  pairs.length > 0 && section("Changed verdicts", flips.map((pair) => pairItem(pair, true)), counts.n_pairs > counts.n_unscored_pairs ? "Wherever both have a verdict, it is the same." : "No claim has a verdict of both."),
  changed.length > 0 && section("Other changes", changed.map((pair) => pairItem(pair, false))),
  onlyOlder.length > 0 && section("Only in the older check", onlyOlder.map(lone)),
  onlyNewer.length > 0 && section("Only in the newer check", onlyNewer.map(lone)),
  pairs.length > 0 && section("Unchanged", same.map((pair) => pairItem(pair, false)), "No claim stayed as it was."));
};

const headline = ({ counts, flips, pairs }) => {
  if (pairs.length === 0) return "The two checks share no claim";
  if (counts.n_pairs === counts.n_unscored_pairs) return "No claim has a verdict of both";
  return flips.length ? `${plural(flips.length, "verdict")} changed` : "No verdict changed";
};

const side = (words, job, counts) => h("div", {}, h("dt", {}, words), h("dd", {}, h("a", { href: `#/checks/${encodeURIComponent(job.id)}` }, said(job.title)), h("small", {}, `${second(job.created_at)} · precision ${twoDigits(job.summary?.precision)} of ${plural(counts.supported + counts.not_supported, "scored claim")}`)));

const section = (title, items, none) => h("section", { class: "part" }, h("h2", {}, `${title}${items.length ? ` (${many(items.length)})` : ""}`), items.length ? h("ol", {}, items) : h("p", { class: "nothing" }, none));

const wordsOf = (one) => (one.unscored_reason ? `${STATUSES.unscored.words}: ${reason(one.unscored_reason)}` : STATUSES[statusOf(one)].words);
const verdict = (one) => h("span", { class: `verdict is-${statusOf(one)}` }, wordsOf(one));
const rationale = (title, one) => h("div", {}, h("h3", {}, title), h("p", { class: "outcome" }, mark(statusOf(one)), " ", verdict(one)), h("p", { class: "rationale", dir: "auto" }, one.rationale || "(no rationale given)"));

const pairItem = ({ claim, changed, pieces, first, second: other }, open) => h("li", { class: "claim" }, h("details", { open },
  h("summary", {}, h("span", { class: "signs", "aria-hidden": "true" }, mark(statusOf(first)), changed && ["→", mark(statusOf(other))]),
    h("span", { class: "statement", dir: "auto" }, pieces.length ? bothWordings(pieces, first, other) : claim),
    h("span", { class: "outcome" }, verdict(first), changed && [" → ", verdict(other)])),
  h("div", { class: "body reasoning" }, rationale("Older", first), rationale("Newer", other))));

// Where the wordings part, that of the older stands before that of the newer.
const bothWordings = (pieces, first, other) => pieces.map(({ kind, text }, index) => {
  if (kind === "same") return text;
  const isSecond = kind === "inserted" && pieces[index - 1]?.kind === "removed";
  const one = kind === "removed" ? first : other;
  return [isSecond && " → ", h(kind === "removed" ? "del" : "ins", { class: `is-${statusOf(one)}` }, text)];
});

const lone = ({ claim, side: one }) => h("li", { class: "claim" }, h("details", {},
  h("summary", {}, mark(statusOf(one)), h("span", { class: "statement", dir: "auto" }, claim), h("span", { class: "outcome" }, verdict(one))),
  h("div", { class: "body" }, h("p", { class: "rationale", dir: "auto" }, one.rationale || "(no rationale given)"))));
