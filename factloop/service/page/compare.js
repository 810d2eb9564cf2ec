// Two checks claim by claim: what flipped stands first, with both rationales side by side.
import { get } from "./api.js";
import { figure, h, notices, replace, said } from "./dom.js";
import { STATUSES, capital, many, mark, plural, reason, second, statusOf, twoDigits } from "./words.js";

export const showComparison = async (view, first, second, { signal }) => {
  const compared = await get(`/v1/compare?${new URLSearchParams({ first, second })}`, signal);
  const { counts, flips, pairs } = compared;
  const same = pairs.filter((pair) => !pair.flipped);
  replace(view, h("section", { class: "overview", "aria-labelledby": "title" },
    h("p", { class: "label" }, "Compared claim by claim"), h("h1", { id: "title", tabindex: "-1" }, flips.length ? `${capital(plural(flips.length, "claim"))} flipped` : "No claim flipped"),
    h("dl", { class: "sides" }, side("A", compared.first, counts.first), side("B", compared.second, counts.second)),
    h("dl", { class: "figures" },
      figure("Flipped", many(counts.n_flips), `of ${plural(counts.n_pairs - counts.n_unscored_pairs, "claim")} with a verdict of both`, "lead"),
      figure("In both", many(counts.n_pairs), counts.n_unscored_pairs ? `${many(counts.n_unscored_pairs)} of them without a verdict of both` : "same self-contained text"),
      figure("Only in A", many(counts.n_only_first), "found by A alone"), figure("Only in B", many(counts.n_only_second), "found by B alone")),
    notices("Cautions", compared.same_response ? [] : ["The two checks are of different responses."])),
  section("Claims that flipped", flips.map((pair) => pairItem(pair, true)), "Wherever both have a verdict, it is the same."),
  section("Other claims of both", same.map((pair) => pairItem(pair, false)), "There are none."),
  section("Only in A", compared.only_first.map(lone), "There are none."),
  section("Only in B", compared.only_second.map(lone), "There are none."));
};

const side = (letter, job, counts) => h("div", {}, h("dt", {}, letter), h("dd", {}, h("a", { href: `#/checks/${encodeURIComponent(job.id)}` }, said(job.title)), h("small", {}, `${second(job.created_at)} · precision ${twoDigits(job.summary?.precision)} of ${plural(counts.supported + counts.not_supported, "scored claim")}`)));

const section = (title, items, none) => h("section", { class: "part" }, h("h2", {}, `${title}${items.length ? ` (${many(items.length)})` : ""}`), items.length ? h("ol", {}, items) : h("p", { class: "nothing" }, none));

const wordsOf = (one) => (one.unscored_reason ? `${STATUSES.unscored.words}: ${reason(one.unscored_reason)}` : STATUSES[statusOf(one)].words);
const verdict = (one) => h("span", { class: `verdict is-${statusOf(one)}` }, wordsOf(one));
const rationale = (title, one) => h("div", {}, h("h3", {}, title), h("p", { class: "outcome" }, mark(statusOf(one)), " ", verdict(one)), h("p", { class: "rationale", dir: "auto" }, one.rationale || "(no rationale given)"));

const pairItem = ({ claim, first, second }, open) => h("li", { class: "claim" }, h("details", { open },
  h("summary", {}, h("span", { class: "signs" }, mark(statusOf(first)), mark(statusOf(second))), h("span", { class: "statement", dir: "auto" }, claim), h("span", { class: "outcome" }, "A ", verdict(first), ", B ", verdict(second))),
  h("div", { class: "body reasoning" }, rationale("A’s rationale", first), rationale("B’s rationale", second))));

const lone = ({ claim, side: one }) => h("li", { class: "claim" }, h("details", {},
  h("summary", {}, mark(statusOf(one)), h("span", { class: "statement", dir: "auto" }, claim), h("span", { class: "outcome" }, verdict(one))),
  h("div", { class: "body" }, h("p", { class: "rationale", dir: "auto" }, one.rationale || "(no rationale given)"))));
