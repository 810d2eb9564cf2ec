"""Plans the multiple-choice questions of one TrustBC before any is asked, so that no order of asking matters."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

from factloop.agents.trustscore.records import Letter, Option, OptionKind

DISTRACTORS_A_CHECK = 3
NONE_OF_THE_ABOVE = "None of the above."
LETTERS: tuple[Letter, ...] = ("A", "B", "C", "D", "E")

Triple = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlannedCheck:
    """One question to ask."""

    options: tuple[Option, ...]
    reuses: bool
    """Whether it shows a distractor that an earlier check shows, too."""


def plan_checks(
    response: str, distractors: Sequence[str], *, max_checks: int, rng: random.Random
) -> list[PlannedCheck]:
    """At most `max_checks` questions, each with the response, three distractors and "None of the above" last.

    No two show the same three distractors. As long as there are enough, each is shown once (paper, section 2.1); then
    those shown least come again: every question has one of them. Fewer combinations than `max_checks` give fewer
    questions, fewer than three distractors none. The response stands in each of the four places equally
    often, give or take one.
    """
    usable = distractors[: DISTRACTORS_A_CHECK * max_checks]
    triples = list(_triples(len(usable), max_checks, rng))
    places = _balanced_places(len(triples), rng)
    shown: set[int] = set()
    planned = []
    for triple, place in zip(triples, places, strict=True):
        planned.append(PlannedCheck(_options(response, usable, triple, place, rng), not shown.isdisjoint(triple)))
        shown.update(triple)
    return planned


def _triples(n: int, most: int, rng: random.Random) -> Iterator[Triple]:
    """Different sets of three out of `n`, those used least first."""
    used: Counter[int] = Counter()
    seen: set[Triple] = set()
    for _ in range(min(most, comb(n, DISTRACTORS_A_CHECK))):
        triple = _least_used(n, used, seen, rng)
        seen.add(triple)
        used.update(triple)
        yield triple


def _least_used(n: int, used: Counter[int], seen: set[Triple], rng: random.Random) -> Triple:
    """The first unseen three by how often each was shown: at most one more than `seen` are looked at."""
    ranked = sorted(range(n), key=lambda item: (used[item], rng.random()))
    triples = (tuple(sorted(triple)) for triple in combinations(ranked, DISTRACTORS_A_CHECK))
    return next(triple for triple in triples if triple not in seen)


def _balanced_places(n: int, rng: random.Random) -> list[int]:
    """A place from 0 to 3 for each check: every four in a row take all four, so no letter alone passes two checks."""
    places: list[int] = []
    while len(places) < n:
        places += rng.sample(range(DISTRACTORS_A_CHECK + 1), DISTRACTORS_A_CHECK + 1)
    return places[:n]


def _options(
    response: str, distractors: Sequence[str], triple: Triple, place: int, rng: random.Random
) -> tuple[Option, ...]:
    others: list[int | None] = list(rng.sample(triple, len(triple)))
    ordered = [*others[:place], None, *others[place:]]
    shown = [
        Option(letter=letter, text=response, kind=OptionKind.RESPONSE)
        if number is None
        else Option(letter=letter, text=distractors[number], kind=OptionKind.DISTRACTOR, distractor=number)
        for letter, number in zip(LETTERS, ordered, strict=False)
    ]
    return (*shown, Option(letter=LETTERS[-1], text=NONE_OF_THE_ABOVE, kind=OptionKind.NONE_OF_THE_ABOVE))
