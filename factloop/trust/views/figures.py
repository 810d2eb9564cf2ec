"""Describes TrustScores in words and groups a long response's claims, for all views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from factloop.agents.trustscore.records import (
    NOT_ANSWERED,
    ClaimStanding,
    ClaimTrust,
    ConsistencyCheck,
    Distractor,
    LongFormTrustReport,
    MeanScore,
    Option,
    OptionKind,
    SampleAgreement,
    TrustBC,
    TrustFC,
    TrustReport,
    TrustSummary,
)
from factloop.checking.views.segments import segments
from factloop.core.reasons import UnscoredReason
from factloop.core.records import Verdict
from factloop.reports.figures import plural
from factloop.reports.sheet.table import NOTHING
from factloop.trust.views.words import (
    BELIEF_REASONS,
    DOCUMENT_REASONS,
    LEVEL_WORDS,
    SOURCE_WORDS,
    Belief,
    belief_of,
    documents_of,
)


def number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"


def score(value: float | None) -> str:
    """Formats a value as in the paper's tables: `1`, `0.8`, `0`, or a dash."""
    return NOTHING if value is None else f"{value:g}"


def belief_basis(bc: TrustBC) -> str:
    """Returns the basis of TrustBC, such as `consistent in 10 of 10 checks`, or why it has no value."""
    if bc.value is None:
        return _unscored(bc, BELIEF_REASONS)
    unscored = f", {bc.n_unscored:,} unscored" if bc.n_unscored else ""
    if bc.value == 1:
        asked = bc.n_consistent + bc.n_inconsistent + bc.n_unscored
        return f"consistent in {bc.n_consistent:,} of {plural(asked, 'check')}{unscored}"
    broken = next((check.number for check in bc.checks if check.counted and check.consistent is False), None)
    place = "inconsistent" if broken is None else f"inconsistent in check {broken}"
    return f"{place}, after {bc.n_consistent:,} consistent{unscored}" if bc.n_consistent else f"{place}{unscored}"


def spare_checks(bc: TrustBC) -> str:
    """Says how many questions were asked but do not count. Returns an empty string if all of them count."""
    spare = sum(not check.counted for check in bc.checks)
    verb = "does" if spare == 1 else "do"
    return f"{plural(spare, 'check')} asked along with the deciding check {verb} not count." if spare else ""


def graded_words(bc: TrustBC) -> str:
    """Returns the graded score and its basis, or why it is missing, or "" if the server returned no probabilities."""
    if bc.letters_mass is None:
        return ""
    held = f"the five letters have {bc.letters_mass:.2f} of the probability"
    return f"none: {held}" if bc.graded is None else f"{bc.graded:.2f}  mean probability of the answer; {held}"


def agreement_basis(found: SampleAgreement | None) -> str:
    """Returns the agreement and its basis, such as `0.67 over 5 samples`, or "" if `found` is None."""
    if found is None:
        return ""
    unscored = f", {found.n_unscored:,} unscored" if found.n_unscored else ""
    return f"{number(found.value)} over {plural(found.n, 'sample')}{unscored}"


def documents_basis(fc: TrustFC) -> str:
    """Says how many passages were judged and how many cited, or why there is no relation."""
    if fc.relation is None:
        return _unscored(fc, DOCUMENT_REASONS)
    cited = f", {len(fc.cited):,} cited" if fc.cited else ", none cited"
    return f"{plural(len(fc.passages), 'passage')} judged{cited}"


def _unscored(part: TrustBC | TrustFC, reasons: Mapping[UnscoredReason, str]) -> str:
    if part.rationale.startswith(NOT_ANSWERED):
        return "unscored: the subject gave no answer"
    return f"unscored: {reasons[part.unscored_reason]}" if part.unscored_reason else "unscored"


def in_plain_words(report: TrustReport) -> str:
    """Describes belief and support in one sentence each."""
    return f"{belief_of(report.trust_bc).sentence} {documents_of(report.trust_fc).sentence}"


def mean_basis(mean: MeanScore) -> str:
    """Says how many answers have the score, and how many are unscored."""
    basis = f"mean of {plural(mean.n_scored, 'answer')}" if mean.n_scored else "no answer was scored"
    return f"{basis}, {mean.n_unscored:,} unscored" if mean.n_unscored else basis


def named_means(summary: TrustSummary) -> list[tuple[str, MeanScore]]:
    """Returns the means in reading order. Includes the graded mean only if a server returned probabilities."""
    graded = [("TrustBC, graded", summary.trust_bc_graded)] if summary.trust_bc_graded.n_scored else []
    return [("TrustOV", summary.trust_ov), ("TrustBC", summary.trust_bc), *graded, ("TrustFC", summary.trust_fc)]


def choice(check: ConsistencyCheck) -> str:
    """Describes the subject's choice, as in `chose D instead of the answer, B`, or says why there was none."""
    if check.chosen is None:
        return f"unscored: {BELIEF_REASONS[check.unscored_reason]}" if check.unscored_reason else "unscored"
    if check.consistent:
        return f"chose {check.chosen}, the answer"
    return f"chose {check.chosen} instead of the answer, {check.response_letter}"


def belief_of_check(check: ConsistencyCheck) -> Belief:
    return {True: Belief.CONSISTENT, False: Belief.INCONSISTENT, None: Belief.UNSCORED}[check.consistent]


def replacement(distractor: Distractor) -> str:
    """Returns the replaced words and their substitute, as in `Solomon → David`."""
    return f"{distractor.replaced} → {distractor.by}"


def making(distractor: Distractor) -> str:
    made = f"{LEVEL_WORDS[distractor.level]}, {SOURCE_WORDS[distractor.source]}"
    return f"{made}: {distractor.detail}" if distractor.detail else made


def distractor_of(option: Option, bc: TrustBC) -> Distractor | None:
    """Returns the distractor that an option shows, if the report lists it."""
    place = option.distractor
    return bc.distractors[place] if place is not None and place < len(bc.distractors) else None


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text split in three, with the middle part marked."""

    before: str
    marked: str
    after: str

    def near(self, context: int) -> MarkedText:
        """Shortens each part to `context` characters, with ellipses for omitted text."""
        before = f"…{self.before[-context:]}" if len(self.before) > context else self.before
        after = f"{self.after[:context]}…" if len(self.after) > context else self.after
        marked = f"{self.marked[:context]}…" if len(self.marked) > context else self.marked
        return MarkedText(before, marked, after)


def substituted(distractor: Distractor, response: str) -> MarkedText:
    """Marks the substitute in a distractor's text, if it is found. Looks first at the same distance from the end,
    because the article before the substitute may have changed as well."""
    text, by = distractor.text, distractor.by
    after = response[distractor.span[1] :]
    end = len(text) - len(after) if text.endswith(after) else -1
    start = end - len(by)
    if start < 0 or text[start:end].casefold() != by.casefold():
        start = text.find(by)
        end = start + len(by)
    return MarkedText(text[:start], text[start:end], text[end:]) if start >= 0 and by else MarkedText(text, "", "")


OPTION_CONTEXT = 160  # number of characters to show on either side of the substitute in a long option


def option_marked(option: Option, check: ConsistencyCheck, bc: TrustBC) -> MarkedText:
    """Returns an option's text with any substitute marked. Long text is shortened around it, or else at the end."""
    distractor = distractor_of(option, bc)
    if distractor is None:
        return MarkedText("", "", option.text).near(2 * OPTION_CONTEXT)
    response = next((other.text for other in check.options if other.kind is OptionKind.RESPONSE), "")
    return substituted(distractor, response).near(OPTION_CONTEXT)


WORST_FIRST = (
    ClaimStanding.UNSUPPORTED_INSISTED,
    ClaimStanding.UNSUPPORTED_WAVERING,
    ClaimStanding.SUPPORTED_WAVERING,
    ClaimStanding.UNPLACED,
    ClaimStanding.SUPPORTED_INSISTED,
)


@dataclass(frozen=True)
class MarkedSentence:
    """A part of the response with its numbered claims. The text between sentences has none."""

    text: str
    claims: tuple[tuple[int, ClaimTrust], ...] = ()

    @property
    def standing(self) -> ClaimStanding:
        """The worst standing of the relevant claims, or else of all claims. Raises ValueError if there are none."""
        placed = [one.standing for _, one in self.claims if one.claim.judgement.verdict is not Verdict.IRRELEVANT]
        return worst(placed or [one.standing for _, one in self.claims])


def worst(standings: Iterable[ClaimStanding]) -> ClaimStanding:
    return min(standings, key=WORST_FIRST.index)


def sentences(report: LongFormTrustReport) -> list[MarkedSentence]:
    """Returns the parts of the response in order. Joining them gives exactly the response."""
    numbered = {one.claim.id: (number, one) for number, one in enumerate(report.claims, 1)}
    return [
        MarkedSentence(part.text, tuple(numbered[claim.id] for claim in part.claims))
        for part in segments(report.factuality)
    ]
