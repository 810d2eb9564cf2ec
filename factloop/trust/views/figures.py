"""The numbers of TrustScores in words, and the claims of a long response by standing: the same on every surface."""

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
    TrustBC,
    TrustFC,
    TrustReport,
    TrustSummary,
)
from factloop.checking.views.segments import segments
from factloop.core.reasons import UnscoredReason
from factloop.core.records import Verdict
from factloop.reports.figures import plural
from factloop.trust.views.words import (
    BELIEF_REASONS,
    DOCUMENT_REASONS,
    LEVEL_WORDS,
    SOURCE_WORDS,
    Belief,
    belief_of,
    documents_of,
)

NOTHING = "–"
"""Stands where there is no number."""


def number(value: float | None) -> str:
    """The number to two digits, or a dash for None."""
    return NOTHING if value is None else f"{value:.2f}"


def score(value: float | None) -> str:
    """A value of the paper's tables as it is written there: `1`, `0.8`, `0`; or a dash."""
    return NOTHING if value is None else f"{value:g}"


def belief_basis(bc: TrustBC) -> str:
    """The basis of TrustBC: `consistent in 10 of 10 checks`, or where it ended, or why it has no value."""
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
    """How many checks were asked and do not count, in a sentence; empty where all count.

    That distractors were few, and checks fewer or repetitive for it, stands in the record's own notes.
    """
    spare = sum(not check.counted for check in bc.checks)
    verb = "does" if spare == 1 else "do"
    return f"{plural(spare, 'check')}, asked beside the one that ended it, {verb} not count." if spare else ""


def graded_words(bc: TrustBC) -> str:
    """The graded score with what it rests on, or why there is none; empty where the server gave no probabilities."""
    if bc.letters_mass is None:
        return ""
    held = f"the five letters held {bc.letters_mass:.2f} of the probability"
    return f"none: {held}" if bc.graded is None else f"{bc.graded:.2f}  mean probability of the answer; {held}"


def documents_basis(fc: TrustFC) -> str:
    """How many passages were judged and how many are cited, or why there is no relation."""
    if fc.relation is None:
        return _unscored(fc, DOCUMENT_REASONS)
    cited = f", {len(fc.cited):,} cited" if fc.cited else ", none cited"
    return f"{plural(len(fc.passages), 'passage')} judged{cited}"


def _unscored(part: TrustBC | TrustFC, reasons: Mapping[UnscoredReason, str]) -> str:
    """Why a part has no value. Where the subject gave no answer neither a choice nor a judge of passages failed."""
    if part.rationale.startswith(NOT_ANSWERED):
        return "unscored: the subject gave no answer"
    return f"unscored: {reasons[part.unscored_reason]}" if part.unscored_reason else "unscored"


def in_plain_words(report: TrustReport) -> str:
    """Both parts in plain words, a sentence each."""
    return f"{belief_of(report.trust_bc).sentence} {documents_of(report.trust_fc).sentence}"


def mean_basis(mean: MeanScore) -> str:
    """The basis of a mean: how many answers have the score and how many are unscored."""
    basis = f"mean of {plural(mean.n_scored, 'answer')}" if mean.n_scored else "no answer was scored"
    return f"{basis}, {mean.n_unscored:,} unscored" if mean.n_unscored else basis


def named_means(summary: TrustSummary) -> list[tuple[str, MeanScore]]:
    """The means in reading order; the graded one only where some server gave probabilities."""
    graded = [("TrustBC, graded", summary.trust_bc_graded)] if summary.trust_bc_graded.n_scored else []
    return [("TrustOV", summary.trust_ov), ("TrustBC", summary.trust_bc), *graded, ("TrustFC", summary.trust_fc)]


def choice(check: ConsistencyCheck) -> str:
    """The subject's choice in words: `chose C, the answer`, `chose D instead of the answer, B`, or why it made none."""
    if check.chosen is None:
        return f"unscored: {BELIEF_REASONS[check.unscored_reason]}" if check.unscored_reason else "unscored"
    if check.consistent:
        return f"chose {check.chosen}, the answer"
    return f"chose {check.chosen} instead of the answer, {check.response_letter}"


def belief_of_check(check: ConsistencyCheck) -> Belief:
    """The score that this check alone would give."""
    return {True: Belief.CONSISTENT, False: Belief.INCONSISTENT, None: Belief.UNSCORED}[check.consistent]


def replacement(distractor: Distractor) -> str:
    """`Solomon → David`."""
    return f"{distractor.replaced} → {distractor.by}"


def making(distractor: Distractor) -> str:
    """Level and source of a distractor, and why this substitute."""
    made = f"{LEVEL_WORDS[distractor.level]}, {SOURCE_WORDS[distractor.source]}"
    return f"{made}: {distractor.detail}" if distractor.detail else made


def distractor_of(option: Option, bc: TrustBC) -> Distractor | None:
    """The distractor that an option shows, where the report lists it."""
    place = option.distractor
    return bc.distractors[place] if place is not None and place < len(bc.distractors) else None


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text in three parts, the middle one to be marked; joined they are the text."""

    before: str
    marked: str
    after: str

    def near(self, context: int) -> MarkedText:
        """The marked part with at most `context` characters on either side; an ellipsis stands for the rest."""
        before = f"…{self.before[-context:]}" if len(self.before) > context else self.before
        after = f"{self.after[:context]}…" if len(self.after) > context else self.after
        marked = f"{self.marked[:context]}…" if len(self.marked) > context else self.marked
        return MarkedText(before, marked, after)


def substituted(distractor: Distractor, response: str) -> MarkedText:
    """The text of a distractor with its substitute marked, which may stand in another case than `by`.

    An article before it may have changed with it, so the place is counted from the end. Where it cannot be found,
    nothing is marked.
    """
    text, by = distractor.text, distractor.by
    after = response[distractor.span[1] :]
    end = len(text) - len(after) if text.endswith(after) else -1
    start = end - len(by)
    if start < 0 or text[start:end].casefold() != by.casefold():
        start = text.find(by)
        end = start + len(by)
    return MarkedText(text[:start], text[start:end], text[end:]) if start >= 0 and by else MarkedText(text, "", "")


OPTION_CONTEXT = 160
"""Characters of a long option shown on either side of what was put in."""


def option_marked(option: Option, check: ConsistencyCheck, bc: TrustBC) -> MarkedText:
    """The text of an option with the substitute marked; a long one is cut around it, the others at the end."""
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
"""The order of groups: what evidence speaks against and the subject insists upon is what a reader must know first."""


@dataclass(frozen=True)
class MarkedSentence:
    """A stretch of the response with the claims made in it and their numbers; none between sentences."""

    text: str
    claims: tuple[tuple[int, ClaimTrust], ...] = ()

    @property
    def standing(self) -> ClaimStanding:
        """The worst of its claims; irrelevant ones decide only where there are no others. ValueError without claims."""
        placed = [one.standing for _, one in self.claims if one.claim.judgement.verdict is not Verdict.IRRELEVANT]
        return worst(placed or [one.standing for _, one in self.claims])


def worst(standings: Iterable[ClaimStanding]) -> ClaimStanding:
    return min(standings, key=WORST_FIRST.index)


def sentences(report: LongFormTrustReport) -> list[MarkedSentence]:
    """The response in order: the texts joined are the response, character by character."""
    numbered = {one.claim.id: (number, one) for number, one in enumerate(report.claims, 1)}
    return [
        MarkedSentence(part.text, tuple(numbered[claim.id] for claim in part.claims))
        for part in segments(report.factuality)
    ]


def group(report: LongFormTrustReport, standing: ClaimStanding) -> list[tuple[int, ClaimTrust]]:
    """The claims of this standing with their numbers, in the order of the response."""
    return [(number, one) for number, one in enumerate(report.claims, 1) if one.standing is standing]
