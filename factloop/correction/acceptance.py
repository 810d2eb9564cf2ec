"""Whether a rewritten text is better than the one before it: one rule, from two reports and what was changed.

A rewritten text is taken if, and only if, all of these hold; the first that does not is the reason.

1. something that can be checked is left of it: a claim with a verdict that counts;
2. no more claims are unscored than before (a check that failed proves nothing);
3. no more claims are contradicted than before;
4. no rewritten sentence is contradicted, nor states more that is not supported than the unproven claims that it was
   to keep; and no other one states more of it than before (a removed sentence may have said who *he* is); nor does a
   rewritten one state more than before that has no verdict, or that has nothing to do with the question;
5. no sentence that remains has fewer supported claims than before, so only what nothing supported was lost;
6. every rewritten sentence still states something, and the unproven claims that it was to keep;
7. precision is higher, or fewer claims are contradicted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from factloop.core.factuality import count_verdicts, n_contradicted
from factloop.core.records import Claim, Counts, FactualityReport
from factloop.correction.records import Rejection

ELSEWHERE = -1
"""Stands for sentences of the rewritten text that come from no sentence of the response."""


@dataclass(frozen=True)
class Fate:
    """The fate of one sentence of the response: its place in the rewritten text, and whether it was reworded.

    An empty span stands for a sentence that was removed.
    """

    start: int
    end: int
    reworded: bool
    claims: tuple[Claim, ...]
    """Claims as the sentence had them before."""
    n_unproven: int = 0
    """Claims for which no evidence was found, and that a new wording was to keep."""


@dataclass(frozen=True)
class Ruling:
    """`rejected` is None for a text that is better. `failed`: by number the sentences that did not stand the check.

    Where the check itself failed, no sentence is to blame.
    """

    rejected: Rejection | None
    why: str
    failed: frozenset[int] = frozenset()


def rule(before: FactualityReport, after: FactualityReport, fates: Sequence[Fate]) -> Ruling:
    """Whether the text checked in `after` is to replace the one checked in `before`. Fates in the order of the text."""
    now = _claims_by_sentence(after, fates)
    was = {number: count_verdicts(fate.claims) for number, fate in enumerate(fates)}
    are = {number: count_verdicts(now[number]) for number in (*was, ELSEWHERE)}
    staying = [number for number, fate in enumerate(fates) if fate.start < fate.end]
    reworded = [number for number in staying if fates[number].reworded]
    unsupported = {number for number in staying if are[number].not_supported > _allowed(fates[number], was[number])}
    unsupported |= {number for number in reworded if n_contradicted(now[number])}
    unsupported |= {number for number in reworded if _beside(are[number]) > _beside(was[number])}
    told = {claim.id for fate in fates for claim in fate.claims}
    homeless = count_verdicts(claim for claim in before.claims if claim.id not in told)
    if are[ELSEWHERE].not_supported > homeless.not_supported:
        unsupported.add(ELSEWHERE)
    dropped = {number for number in reworded if _drops_unproven(fates[number], was[number], now[number])}
    lost = {number for number in staying if are[number].supported < was[number].supported}
    silent = {number for number in reworded if not are[number].total}
    reason, why = _first(before, after, unsupported, lost, silent, dropped)
    to_blame = (
        frozenset(unsupported | lost | silent | dropped) if reason is not Rejection.NOT_CHECKED else frozenset[int]()
    )
    return Ruling(reason, why, to_blame)


def _first(
    before: FactualityReport,
    after: FactualityReport,
    unsupported: set[int],
    lost: set[int],
    silent: set[int],
    dropped: set[int],
) -> tuple[Rejection | None, str]:
    old, new = before.counts, after.counts
    if not new.scored and not new.unscored:
        return Rejection.NOTHING_LEFT, "nothing that can be checked would be left"
    if new.unscored > old.unscored:
        return (
            Rejection.NOT_CHECKED,
            f"{new.unscored} claims have no verdict in the second check, {old.unscored} before",
        )
    if not new.scored:
        return Rejection.NOTHING_LEFT, "no claim with a verdict would be left"
    contradicted, was = n_contradicted(after.claims), n_contradicted(before.claims)
    if contradicted > was:
        return Rejection.MORE_CONTRADICTED, f"{contradicted} claims would be contradicted, {was} before"
    if unsupported:
        return Rejection.NEW_UNSUPPORTED, f"{_sentences(unsupported)} would state what is not supported"
    if lost:
        return Rejection.SUPPORTED_LOST, f"{_sentences(lost)} would lose a supported claim"
    if silent:
        return Rejection.MEANING_LOST, f"{_sentences(silent)} would state nothing any more"
    if dropped:
        return Rejection.UNPROVEN_LOST, f"{_sentences(dropped)} would lose an unproven claim that was to stay"
    if after.precision is not None and before.precision is not None and after.precision > before.precision:
        return None, f"precision {_precision(before)} before, {_precision(after)} after"
    if contradicted < was:
        return None, f"{was} contradicted before, {contradicted or 'none'} after; precision {_precision(after)}"
    return Rejection.NOT_BETTER, f"precision would be {_precision(after)}, {_precision(before)} before"


def _allowed(fate: Fate, was: Counts) -> int:
    """Claims not supported that a sentence may have."""
    return fate.n_unproven if fate.reworded else was.not_supported


def _drops_unproven(fate: Fate, was: Counts, now: Sequence[Claim]) -> bool:
    """Whether fewer unproven claims are left than were to stay, and no more supported ones make up for it.

    Of a contradicted claim one supported claim is expected, which makes up for nothing.
    """
    are = count_verdicts(now)
    missing = fate.n_unproven - are.not_supported
    return missing > max(0, are.supported - was.supported - n_contradicted(fate.claims))


def _beside(counts: Counts) -> int:
    """Claims that precision does not see."""
    return counts.unscored + counts.irrelevant


def _claims_by_sentence(after: FactualityReport, fates: Sequence[Fate]) -> Mapping[int, list[Claim]]:
    """The claims of the second check by the sentence of the first in whose place theirs begins."""
    staying = [(fate.start, fate.end, number) for number, fate in enumerate(fates) if fate.start < fate.end]
    starts = [start for start, _, _ in staying]
    found: defaultdict[int, list[Claim]] = defaultdict(list)
    for claim in after.claims:
        at = _first_word(after.response, claim.span)
        place = bisect_right(starts, at) - 1
        inside = place >= 0 and at < staying[place][1]
        found[staying[place][2] if inside else ELSEWHERE].append(claim)
    return found


def _first_word(text: str, span: tuple[int, int]) -> int:
    """The place where a sentence's words begin: marks before them may have belonged to one that was removed."""
    return next((place for place in range(*span) if text[place].isalnum()), span[0])


def _precision(report: FactualityReport) -> str:
    if report.precision is None:
        return "undefined"
    return f"{report.precision:.2f} ({report.counts.supported} of {report.counts.scored})"


def _sentences(numbers: set[int]) -> str:
    return "1 sentence" if len(numbers) == 1 else f"{len(numbers)} sentences"
