"""A correction in words, the same on every surface."""

from __future__ import annotations

from collections.abc import Mapping

from factloop.correction_records import Change, ChangeKind, Correction, LeftReason, Rejection
from factloop.evaluation.reports.figures import plural
from factloop.records import Claim, Evidence

LEFT_WORDS = {
    LeftReason.REWRITE_FAILED: "no new wording was to be had",
    LeftReason.NOT_CONFIRMED: "its change did not stand the second check, and was undone",
    LeftReason.LAYOUT: "what follows needs it: the head of a table, an underlined heading",
    LeftReason.NO_PLACE: "the response does not hold the sentence",
}
KIND_WORDS = {ChangeKind.REMOVED: "removed", ChangeKind.MENDED: "worded anew"}


def decision(correction: Correction) -> str:
    """What was decided, and by which numbers."""
    if correction.accepted:
        return f"Corrected: {correction.why}."
    if correction.rejected is Rejection.NOTHING_TO_CORRECT:
        return f"Nothing to correct: {correction.why}."
    return f"The original stands: {correction.why}."


def what_changed(correction: Correction) -> str:
    """How many sentences or stretches became what; `none`."""
    kinds = [change.kind for change in correction.changes]
    parts = [f"{kinds.count(kind)} {words}" for kind, words in KIND_WORDS.items() if kind in kinds]
    if correction.left:
        parts.append(f"{plural(len(correction.left), 'faulty sentence')} left as found")
    return ", ".join(parts) or "none"


def left_unjudged(correction: Correction) -> str | None:
    """That claims without a verdict were left alone; None where there are none."""
    unscored = correction.before.counts.unscored
    return f"{plural(unscored, 'claim')} without a verdict left alone" if unscored else None


def claims_of(correction: Correction) -> Mapping[str, Claim]:
    return {claim.id: claim for claim in correction.before.claims}


def evidence_of(correction: Correction, change: Change) -> list[Evidence]:
    """What the new wording was made from; of a removal, what its claims were contradicted by."""
    claims = claims_of(correction)
    wanted = set(change.evidence) or {
        item for name in change.claims if name in claims for item in claims[name].judgement.cited
    }
    found: dict[tuple[str, str], Evidence] = {}
    for claim in correction.before.claims:
        for item in claim.evidence:
            if item.id in wanted:
                found.setdefault((item.source, item.passage), item)
    return list(found.values())
