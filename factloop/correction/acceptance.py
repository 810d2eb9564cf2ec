"""Decides whether to accept a rewritten text, based on the reports on both texts and on the changes.

A rewritten text is accepted if it meets all these conditions. Otherwise, the first one that it fails is the reason.

1. The text still contains a claim that has a verdict or needs reading.
2. There are no more unscored claims than before.
3. There are no more contradicted claims than before.
4. No rewritten sentence has contradicted claims, unsupported claims that it need not keep, or more unscored or
   irrelevant claims than before. No other sentence has more unsupported claims than before, for example because a
   removed sentence said who *he* is.
5. No remaining sentence has fewer supported claims than before.
6. Every rewritten sentence still states something, including the unproven claims to keep. No other sentence has more
   unscored claims than before.
7. Precision is higher, or fewer claims are contradicted, unscored or irrelevant.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from factloop.core.factuality import count_verdicts, n_contradicted
from factloop.core.records import Claim, Counts, FactualityReport, UnscoredReason
from factloop.correction.records import Rejection
from factloop.reports.figures import plural

ELSEWHERE = -1  # for sentences in the rewritten text that match no sentence in the response

_OF_THE_TEXT = frozenset(
    {UnscoredReason.NEEDS_READING, UnscoredReason.AMBIGUOUS, UnscoredReason.DISPUTED}
    | {UnscoredReason.OTHER_LANGUAGE, UnscoredReason.NO_SOURCE}
)
"""Reasons that another check would not remove, because they lie in the text or the sources."""


@dataclass(frozen=True)
class Fate:
    """A sentence's position in the rewritten text (empty if it was removed), and whether it was reworded."""

    start: int
    end: int
    reworded: bool
    claims: tuple[Claim, ...]
    n_unproven: int = 0
    """Number of claims without evidence that the new wording should keep."""


@dataclass(frozen=True)
class Ruling:
    """Whether the rewritten text is accepted (if `rejected` is None), and why."""

    rejected: Rejection | None
    why: str
    failed: Mapping[int, str] = field(default_factory=dict)
    """Maps the number of each sentence that failed to the reason for undoing its change."""
    broke_down: bool = False
    """Whether the check itself failed. If so, it is not repeated."""


@dataclass(frozen=True)
class _Faults:
    unjudged: set[int]
    unsupported: set[int]
    lost: set[int]
    silent: set[int]
    dropped: set[int]


def rule(before: FactualityReport, after: FactualityReport, fates: Sequence[Fate]) -> Ruling:
    """Decides whether the text in `after` should replace the text in `before`. `fates` are in order of appearance."""
    now = _claims_by_sentence(after, fates)
    faults = _faults(before, fates, now)
    reason, why = _first(before, after, faults)
    if reason is None:
        return Ruling(None, why)
    reasons = {claim.judgement.unscored_reason for number in faults.unjudged for claim in now[number]}
    broke_down = bool(reasons - _OF_THE_TEXT - {None})
    return Ruling(reason, why, _to_blame(faults, fates, now), broke_down)


def _faults(before: FactualityReport, fates: Sequence[Fate], now: Mapping[int, Sequence[Claim]]) -> _Faults:
    was = {number: count_verdicts(fate.claims) for number, fate in enumerate(fates)}
    are = {number: count_verdicts(now[number]) for number in (*was, ELSEWHERE)}
    staying = [number for number, fate in enumerate(fates) if fate.start < fate.end]
    reworded = [number for number in staying if fates[number].reworded]
    most = {n: fates[n].n_unproven if fates[n].reworded else was[n].not_supported for n in staying}
    unsupported = {number for number in staying if are[number].not_supported > most[number]}
    unsupported |= {number for number in reworded if n_contradicted(now[number])}
    unsupported |= {n for n in staying if n_contradicted(now[n]) > n_contradicted(fates[n].claims)}
    unsupported |= {n for n in reworded if are[n].unscored + are[n].irrelevant > was[n].unscored + was[n].irrelevant}
    told = {claim.id for fate in fates for claim in fate.claims}
    homeless = count_verdicts(claim for claim in before.claims if claim.id not in told)
    if are[ELSEWHERE].not_supported > homeless.not_supported:
        unsupported.add(ELSEWHERE)
    return _Faults(
        unjudged={number for number in staying if are[number].unscored > was[number].unscored},
        unsupported=unsupported,
        lost={number for number in staying if are[number].supported < was[number].supported},
        silent={number for number in reworded if not are[number].total},
        dropped={number for number in reworded if _drops_unproven(fates[number], was[number], now[number])},
    )


def _to_blame(faults: _Faults, fates: Sequence[Fate], now: Mapping[int, Sequence[Claim]]) -> Mapping[int, str]:
    blamed: dict[int, str] = {}
    reworded = {number for number, fate in enumerate(fates) if fate.reworded}
    for numbers, of_new, of_later in (
        (faults.unjudged, "the new wording has no verdict", "a later sentence then has no verdict"),
        (faults.unsupported, "the new wording is not supported", "a later sentence is then not supported"),
        (faults.lost, "the new wording loses a supported claim", "a later sentence then loses a supported claim"),
        (faults.silent, "the new wording states nothing", ""),
        (faults.dropped, "the new wording loses an unproven claim that should stay", ""),
    ):
        for number in sorted(numbers):
            blamed.setdefault(number, of_new if number in reworded else of_later)
    for number in faults.unjudged:
        known = {claim.self_contained for claim in fates[number].claims}
        new = (one.judgement for one in now[number] if one.self_contained not in known)
        reason = next((one.rationale for one in new if one.verdict is None and one.rationale), "")
        blamed[number] += f": {reason.rstrip('.')}" if reason else ""
    return blamed


def _first(before: FactualityReport, after: FactualityReport, faults: _Faults) -> tuple[Rejection | None, str]:
    new = after.counts
    if not new.scored and not new.unscored:
        return Rejection.NOTHING_LEFT, "nothing that can be checked would be left"
    unjudged, before_it = (count_verdicts(one.claims).unscored for one in (after, before))
    if unjudged > before_it:
        why = f"{_claims(unjudged)} no verdict in the second check, compared with {before_it or 'none'} in the first"
        return Rejection.NOT_CHECKED, why
    reasons = {claim.judgement.unscored_reason for claim in after.claims}
    if not new.scored and UnscoredReason.NEEDS_READING not in reasons:
        return Rejection.NOTHING_LEFT, "no claims with a verdict would be left"
    contradicted, was = n_contradicted(after.claims), n_contradicted(before.claims)
    if contradicted > was:
        why = f"{_claims(contradicted, 'would be')} contradicted, compared with {was or 'none'} before"
        return Rejection.MORE_CONTRADICTED, why
    if faults.unsupported:
        return Rejection.NEW_UNSUPPORTED, f"{plural(len(faults.unsupported), 'sentence')} would not be supported"
    if faults.lost:
        return Rejection.SUPPORTED_LOST, f"{plural(len(faults.lost), 'sentence')} would lose a supported claim"
    if faults.silent:
        return Rejection.MEANING_LOST, f"{plural(len(faults.silent), 'sentence')} would no longer state anything"
    if faults.unjudged:
        return Rejection.NOT_CHECKED, f"{plural(len(faults.unjudged), 'sentence')} would no longer have a verdict"
    if faults.dropped:
        return (
            Rejection.UNPROVEN_LOST,
            f"{plural(len(faults.dropped), 'sentence')} would lose unproven claims to keep",
        )
    if after.precision is not None and before.precision is not None and after.precision > before.precision:
        return None, f"precision {_precision(before)} before, {_precision(after)} after"
    if contradicted < was:
        return None, f"{was} contradicted before, {contradicted or 'none'} after; precision {_precision(after)}"
    unchecked, was = (one.counts.unscored + one.counts.irrelevant for one in (after, before))
    if unchecked < was:
        return None, f"{was} unchecked before, {unchecked or 'none'} after; precision {_precision(after)}"
    return Rejection.NOT_BETTER, f"precision would be {_precision(after)}, compared with {_precision(before)} before"


def _drops_unproven(fate: Fate, was: Counts, now: Sequence[Claim]) -> bool:
    """Whether the sentence drops more unproven claims than it adds supported ones, apart from corrected claims."""
    are = count_verdicts(now)
    missing = fate.n_unproven - are.not_supported
    return missing > max(0, are.supported - was.supported - n_contradicted(fate.claims))


def _claims_by_sentence(after: FactualityReport, fates: Sequence[Fate]) -> Mapping[int, list[Claim]]:
    staying = [(fate.start, fate.end, number) for number, fate in enumerate(fates) if fate.start < fate.end]
    starts = [start for start, _, _ in staying]
    found: defaultdict[int, list[Claim]] = defaultdict(list)
    for claim in after.claims:
        # characters before the first word may belong to a sentence that was removed
        at = next((place for place in range(*claim.span) if after.response[place].isalnum()), claim.span[0])
        place = bisect_right(starts, at) - 1
        inside = place >= 0 and at < staying[place][1]
        found[staying[place][2] if inside else ELSEWHERE].append(claim)
    return found


def _precision(report: FactualityReport) -> str:
    if report.precision is None:
        return "undefined"
    decided = " decided claims" if report.counts.unscored else ""
    return f"{report.precision:.2f} ({report.counts.supported} of {report.counts.scored}{decided})"


def _claims(count: int, verb: str = "") -> str:
    return f"{plural(count, 'claim')} {verb or ('has' if count == 1 else 'have')}"
