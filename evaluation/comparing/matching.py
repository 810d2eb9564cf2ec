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


@dataclass(frozen=True)
class JudgedClaim:
    id: str
    text: str
    """The text used for matching, with normalized spacing and case."""
    shown: str
    verdict: Verdict | None
    rationale: str
    """Refers to passages by title, because the passages are not stored."""
    label: FactLabel | None

    @classmethod
    def of(cls, claim: Claim, text: str, label: FactLabel | None = None) -> JudgedClaim:
        """Creates a claim that is matched by `text`: either the claim as split or its self-contained form."""
        return cls(claim.id, plain(text), claim.self_contained, claim.judgement.verdict, reason(claim), label)


def plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def match_claims(first: Sequence[JudgedClaim], second: Sequence[JudgedClaim]) -> list[tuple[JudgedClaim, JudgedClaim]]:
    """Returns the claims made by both sides, in the order of the first side. Each claim is matched at most once. Claims
    with equal ids and texts, such as supplied facts, are matched first. The rest are matched by text, in order."""
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
