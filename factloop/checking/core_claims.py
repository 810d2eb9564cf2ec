"""Selects the core of a response, so that repeated or trivial claims do not raise its score.

This follows Core (Jiang et al. 2024, arXiv 2407.03572): claims are vertices, an edge joins two claims if one entails
the other, and the core is the set without edges that has the largest total weight. Departures:

- The check's own judge tests for entailment. The bundled baseline detects little more than similar wording.
- A claim's weight is one plus the rarity of its words, leaving out words from the question. In the paper, a weight is
  the probability that the claim says something new.
- A claim is trivial if the judge finds it supported by statements that are true of almost anything. These
  statements are the same for all topics.
- Each claim is compared only with the claims that share the most words with it, so the cost grows linearly.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence, Set
from heapq import nlargest

from factloop.core.records import Claim, LeftOut, Verdict
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.judges.base import Verifier
from factloop.tools.judges.pairs import read_all

TRIVIAL = (
    "exists", "is a person", "is a human being", "is a man", "is a woman", "is a thing", "is a place", "is a group",
    "is an organisation", "is an event", "is a name", "has a name", "is known to some people", "was born", "was alive",
    "is alive", "did something", "does things", "lived somewhere", "is of some kind",
)  # fmt: skip
_WORD = re.compile(r"\w+")
NEAREST = 10  # number of claims with which each claim is compared
PATIENCE_S = 10.0
_SCORED = (Verdict.SUPPORTED, Verdict.NOT_SUPPORTED)


async def mark_core(
    claims: Sequence[Claim], prompt: str | None, judge: Verifier, meter: UsageMeter
) -> tuple[list[Claim], list[str]]:
    """Sets `left_out` for each scored claim outside the core, and returns all claims and any warnings. Makes up to
    `NEAREST` judgements per claim, and one more to find trivial claims. Raises ConfigError if the judge does."""
    own = [claim for claim in claims if claim.duplicate_of is None and claim.judgement.verdict in _SCORED]
    trivial = await trivial_among([claim.self_contained for claim in own], judge, meter)
    out: dict[str, LeftOut] = {own[place].id: LeftOut(why="trivial") for place in trivial}
    kept = [claim for place, claim in enumerate(own) if place not in trivial]
    edges, n_unread = await entailments([claim.self_contained for claim in kept], judge, meter)
    weights = [weight_of(claim.self_contained, prompt) for claim in kept]
    core = await asyncio.to_thread(largest_core, weights, edges)
    for place in set(range(len(kept))).difference(core):
        by = tuple(kept[other].id for other in core if (other, place) in edges)
        of = tuple(kept[other].id for other in core if (place, other) in edges)
        out[kept[place].id] = LeftOut(why="follows", claims=by) if by else LeftOut(why="combines", claims=of)
    failed = f"{n_unread:,} comparisons of claims failed, so some claims in the core may follow from other claims"
    marked = [claim.model_copy(update={"left_out": out.get(claim.id)}) for claim in claims]
    return marked, [failed] if n_unread else []


async def entailments(texts: Sequence[str], judge: Verifier, meter: UsageMeter) -> tuple[set[tuple[int, int]], int]:
    """Returns all pairs of positions where the first claim entails the second, and the number of failed judgements."""
    words = [_stems(text) for text in texts]
    pairs = [(one, other) for other in range(len(texts)) for one in _nearest(other, words)]
    found = await read_all(judge, [(texts[other], [texts[one]]) for one, other in pairs], meter=meter)
    read = zip(pairs, found, strict=True)
    return {pair for pair, one in read if one is not None and one.label == "supported"}, found.count(None)


def _nearest(place: int, words: Sequence[Set[str]]) -> list[int]:
    from factloop.tools.judges.baseline import load_model

    shared = {
        other: sum(map(load_model().rarity, words[place] & own)) for other, own in enumerate(words) if other != place
    }
    return nlargest(NEAREST, (other for other, weight in shared.items() if weight), key=shared.__getitem__)


def _stems(text: str) -> Set[str]:
    from factloop.tools.judges.source_sentences import stem

    return {stem(word) for word in _WORD.findall(text)}


async def trivial_among(texts: Sequence[str], judge: Verifier, meter: UsageMeter) -> set[int]:
    """Returns the positions of claims that say only what is true of almost anything."""
    from factloop.tools.text.pieces import subject_of
    from factloop.tools.text.pipeline import load_pipeline, parse

    subjects = []
    for text in texts:
        root = next((token for token in parse(text, load_pipeline()) if token.head == token), None)
        subject = None if root is None else subject_of(root)
        subjects.append("" if subject is None else "".join(one.text_with_ws for one in subject.subtree).strip())
    asked = [(text, [f"{subject} {said}." for said in TRIVIAL]) for text, subject in zip(texts, subjects, strict=True)]
    found = await read_all(judge, asked, meter=meter)
    return {
        place
        for place, (subject, read) in enumerate(zip(subjects, found, strict=True))
        if subject and read is not None and read.label == "supported"
    }


def weight_of(text: str, prompt: str | None) -> float:
    """One plus the total rarity of the words that are not in the question, so detailed claims weigh more."""
    from factloop.tools.judges.baseline import load_model

    return 1.0 + sum(map(load_model().rarity, _stems(text) - _stems(prompt or "")))


def largest_core(weights: Sequence[float], edges: Collection[tuple[int, int]]) -> list[int]:
    """Returns the positions of the claims in the heaviest set without edges. Ties favour earlier claims.

    The set is optimal if the solver finishes within `PATIENCE_S` seconds. Otherwise, it is the best set found so far
    or, if there is none, the heaviest claims chosen greedily. Weights must be positive.
    """
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp  # type: ignore[import-untyped]

    joined, n = {(min(edge), max(edge)) for edge in edges}, len(weights)
    if not joined:
        return list(range(n))
    at_most_one = np.array([np.isin(np.arange(n), edge) for edge in sorted(joined)], dtype=float)
    earlier = 1e-6 * np.arange(n)[::-1] / n
    found = milp(
        -(np.asarray(weights) + earlier),
        integrality=np.ones(n),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(at_most_one, ub=1),
        options={"time_limit": PATIENCE_S},
    )
    if found.x is not None:
        return [place for place, chosen in enumerate(found.x) if chosen > 0.5]
    core: list[int] = []
    for place in sorted(range(n), key=lambda place: -weights[place]):
        if not any((min(place, other), max(place, other)) in joined for other in core):
            core.append(place)
    return sorted(core)
