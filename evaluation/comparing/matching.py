"""Brings the claims of two judgements together: those of equal text, and those whose words nearly agree."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest

from factloop.core.citations import reason
from factloop.core.records import Claim, Verdict
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.tools.text.words import content_words

RIGHT = {
    FactLabel.SUPPORTED: Verdict.SUPPORTED,
    FactLabel.NOT_SUPPORTED: Verdict.NOT_SUPPORTED,
    FactLabel.IRRELEVANT: Verdict.IRRELEVANT,
}
"""The verdict that agrees with a label."""
LEAST_SHARED = 0.5
"""Two claims nearly agree if they share more than this part of their content words (Dice's coefficient)."""
MOST_CANDIDATES = 8
"""Partners that one claim is considered with, the nearest ones: thousands of claims of one pattern stay affordable."""


@dataclass(frozen=True)
class JudgedClaim:
    """A claim and its verdict, without evidence."""

    id: str
    text: str
    """The text that it is matched by, without regard to spaces and capitals."""
    shown: str
    verdict: Verdict | None
    rationale: str
    """Reasons with titles for the numbers of passages, which are not kept."""
    label: FactLabel | None

    @classmethod
    def of(cls, claim: Claim, text: str, label: FactLabel | None = None) -> JudgedClaim:
        """`text` is the one to match by: as split from the response, or self-contained."""
        return cls(claim.id, plain(text), claim.self_contained, claim.judgement.verdict, reason(claim), label)


def plain(text: str) -> str:
    """The text in lower case with single spaces."""
    return " ".join(text.split()).casefold()


def flip_of(first: Verdict | None, second: Verdict | None) -> tuple[Verdict, Verdict] | None:
    """Both verdicts, where both sides have one and not the same. A claim without a verdict is no flip."""
    return None if first is None or second is None or first is second else (first, second)


def match_claims(first: Sequence[JudgedClaim], second: Sequence[JudgedClaim]) -> list[tuple[JudgedClaim, JudgedClaim]]:
    """The claims that both sides make, in the order of the first: each claim at most once.

    Where ids and texts agree, as for given facts, by these; then by equal text, the earlier with the earlier.
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


def near_pairs(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Places of claims that nearly agree, in the order of the first: the nearest pair first, each claim at most once.

    Among equally near partners the one at the nearest place is taken.
    """
    partner: dict[int, int] = {}
    taken: set[int] = set()
    for _, _, one, other in sorted(_candidates(first, second), reverse=True):
        if one not in partner and other not in taken:
            partner[one] = other
            taken.add(other)
    return sorted(partner.items())


def _candidates(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[float, int, int, int]]:
    """Similarity, closeness of places, and the two places, of pairs that nearly agree."""
    words = [frozenset(content_words(text)) for text in second]
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for place, held in enumerate(words):
        for word in held:
            holders[word].append(place)
    for one, text in enumerate(first):
        own = frozenset(content_words(text))
        shared = Counter(other for word in own for other in holders.get(word, ()))
        found = ((2 * n / (len(own) + len(words[other])), -abs(one - other), one, other) for other, n in shared.items())
        yield from nlargest(MOST_CANDIDATES, (pair for pair in found if pair[0] > LEAST_SHARED))
