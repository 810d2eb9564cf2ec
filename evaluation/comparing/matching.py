"""Matches claims with the same text in two judgements."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from factloop.core.citations import reason
from factloop.core.records import Claim, Verdict
from factloop.evaluation.datasets.factscore import FactLabel

RIGHT = {
    FactLabel.SUPPORTED: Verdict.SUPPORTED,
    FactLabel.NOT_SUPPORTED: Verdict.NOT_SUPPORTED,
    FactLabel.IRRELEVANT: Verdict.IRRELEVANT,
}
"""The verdict that agrees with each label."""


@dataclass(frozen=True)
class JudgedClaim:
    """A claim and its verdict, without evidence."""

    id: str
    text: str
    """The text used for matching, with spaces and capitalisation normalised."""
    shown: str
    verdict: Verdict | None
    rationale: str
    """The reasons. Passages are not stored, so their titles replace their numbers."""
    label: FactLabel | None

    @classmethod
    def of(cls, claim: Claim, text: str, label: FactLabel | None = None) -> JudgedClaim:
        """Creates a claim that is matched by `text`, which may be the claim as split or its self-contained form."""
        return cls(claim.id, plain(text), claim.self_contained, claim.judgement.verdict, reason(claim), label)


def plain(text: str) -> str:
    """Returns the text in lower case with single spaces."""
    return " ".join(text.split()).casefold()


def match_claims(first: Sequence[JudgedClaim], second: Sequence[JudgedClaim]) -> list[tuple[JudgedClaim, JudgedClaim]]:
    """Returns the claims made by both sides, in the order of the first side. Each claim is matched at most once.

    Claims with the same ID and text (such as facts from the user) are matched first, others by text, in order.
    """
    by_id = {claim.id: claim for claim in second}
    partner = {
        claim.id: other.id for claim in first if (other := by_id.get(claim.id)) is not None and other.text == claim.text
    }
    free: defaultdict[str, deque[str]] = defaultdict(deque)
    for claim in second:
        if claim.id not in partner:  # a partner by id has the same id
            free[claim.text].append(claim.id)
    for claim in first:
        if claim.id not in partner and free[claim.text]:
            partner[claim.id] = free[claim.text].popleft()
    return [(claim, by_id[partner[claim.id]]) for claim in first if claim.id in partner]
