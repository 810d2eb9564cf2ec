"""A correction in words, the same on every surface."""

from __future__ import annotations

from collections.abc import Iterable

from factloop.core.records import Evidence, FactualityReport
from factloop.correction.records import Change, ChangeKind, Correction, Doubt, LeftReason, Rejection
from factloop.reports.claims import ClaimView, finding_words, views_of
from factloop.reports.figures import plural

LEFT_WORDS = {
    LeftReason.REWRITE_FAILED: "there is no new wording",
    LeftReason.NOT_CONFIRMED: "its change failed the second check and was undone",
    LeftReason.LAYOUT: "what follows needs it: the head of a table, an underlined heading",
    LeftReason.UNMENDABLE: "the evidence has no words that can replace it",
    LeftReason.NO_PLACE: "the response does not contain the sentence",
}
KIND_WORDS = {ChangeKind.REMOVED: "removed", ChangeKind.MENDED: "reworded"}


def decision(correction: Correction) -> str:
    """The decision, and the numbers that it rests on."""
    if correction.accepted:
        return f"Corrected: {correction.why}."
    if correction.rejected is Rejection.NOTHING_TO_CORRECT:
        return f"Nothing to correct: {correction.why}."
    return f"The original stands: {correction.why}."


def response_title(correction: Correction) -> str:
    """The title of the response with its changes and marks."""
    if correction.changes:
        return "Response, corrected" if correction.accepted else "Response, with changes that were not taken"
    return "Response, with marks" if correction.marks else "Response, as it was"


def kept_back(correction: Correction) -> str | None:
    """What of the correction was not done, and why, in one line; None where all was done or nothing was to do."""
    if not correction.accepted:
        is_done = correction.rejected is Rejection.NOTHING_TO_CORRECT
        return None if is_done else f"the original stands: {correction.why}"
    if not correction.left:
        return None
    n = len(correction.left)
    reasons = dict.fromkeys(
        f"{LEFT_WORDS[one.reason]}{f' ({one.detail})' if one.detail else ''}" for one in correction.left
    )
    stays = "stays as it was" if n == 1 else "stay as they were"
    return f"{plural(n, 'faulty sentence')} {stays}: {'; '.join(reasons)}"


def changes_words(correction: Correction) -> str:
    """The number of sentences or stretches by kind of change; `none`."""
    kinds = [change.kind for change in correction.changes]
    parts = [f"{kinds.count(kind)} {words}" for kind, words in KIND_WORDS.items() if kind in kinds]
    if correction.left:
        parts.append(f"{plural(len(correction.left), 'faulty sentence')} left as found")
    return ", ".join(parts) or "none"


def change_reason(change: Change) -> str:
    """The reason for a change: the findings on its claims, and what else led to it; empty in older corrections."""
    reasons = [*map(finding_words, change.findings), change.detail]
    return "; ".join(reason for reason in reasons if reason)


def doubts_words(correction: Correction) -> str | None:
    """How many sentences of the text to use are not proven, and how many of them say so; None where all are."""
    doubts = correction.doubts
    if not doubts:
        return None
    unmarked = sum(doubt.mark is None for doubt in doubts)
    return f"{plural(len(doubts), 'sentence')} not proven or not checked, {unmarked or 'none'} of them unmarked"


def doubted(correction: Correction, doubt: Doubt) -> str:
    """The sentence in doubt."""
    return correction.text[slice(*doubt.span)].strip()


def treatment(correction: Correction, doubt: Doubt) -> str:
    """The finding on a passage, and whether the text says so."""
    found = ", ".join(map(finding_words, doubt.findings))
    mark = "not marked" if doubt.mark is None else f"marked {correction.text[slice(*doubt.mark)].strip()}"
    return f"{found}; {mark}"


def claims_of(report: FactualityReport, ids: Iterable[str]) -> list[ClaimView]:
    """The claims of these ids that the report has."""
    views = {one.claim.id: one for one in views_of(report.claims)}
    return [views[name] for name in ids if name in views]


def evidence_of(correction: Correction, change: Change) -> list[Evidence]:
    """The evidence that the new wording was made from, or that contradicted the claims of a removed sentence."""
    wrong = claims_of(correction.before, change.claims)
    wanted = set(change.evidence) or {item for one in wrong for item in one.claim.judgement.cited}
    found: dict[tuple[str, str], Evidence] = {}
    for claim in correction.before.claims:
        for item in claim.evidence:
            if item.id in wanted:
                found.setdefault((item.source, item.passage), item)
    return list(found.values())
