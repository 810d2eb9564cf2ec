"""Plans the multiple-choice questions of one TrustBC before any is asked, so that no order of asking matters."""

from __future__ import annotations

import random
from collections.abc import Sequence

from factloop.agents.trustscore.records import Letter, Option, OptionKind

DISTRACTORS_A_CHECK = 3
NONE_OF_THE_ABOVE = "None of the above."
LETTERS: tuple[Letter, ...] = ("A", "B", "C", "D", "E")


def plan_checks(
    response: str, distractors: Sequence[str], *, max_checks: int, rng: random.Random
) -> list[tuple[Option, ...]]:
    """The options of at most `max_checks` questions: the response, three distractors and "None of the above" last.

    No distractor is shown twice (paper, section 2.1), the best are shown: three fewer of them make one question less.
    The response stands in each of the four places equally often, give or take one.
    """
    n_checks = min(max_checks, len(distractors) // DISTRACTORS_A_CHECK)
    drawn = rng.sample(range(DISTRACTORS_A_CHECK * n_checks), DISTRACTORS_A_CHECK * n_checks)
    triples = [drawn[first : first + DISTRACTORS_A_CHECK] for first in range(0, len(drawn), DISTRACTORS_A_CHECK)]
    places = _balanced_places(n_checks, rng)
    return [_options(response, distractors, triple, place) for triple, place in zip(triples, places, strict=True)]


def _balanced_places(n: int, rng: random.Random) -> list[int]:
    """A place from 0 to 3 for each check: every four in a row take all four, so no letter alone passes two checks."""
    places: list[int] = []
    while len(places) < n:
        places += rng.sample(range(DISTRACTORS_A_CHECK + 1), DISTRACTORS_A_CHECK + 1)
    return places[:n]


def _options(response: str, distractors: Sequence[str], triple: Sequence[int], place: int) -> tuple[Option, ...]:
    ordered: list[int | None] = [*triple[:place], None, *triple[place:]]
    shown = [
        Option(letter=letter, text=response, kind=OptionKind.RESPONSE)
        if number is None
        else Option(letter=letter, text=distractors[number], kind=OptionKind.DISTRACTOR, distractor=number)
        for letter, number in zip(LETTERS, ordered, strict=False)
    ]
    return (*shown, Option(letter=LETTERS[-1], text=NONE_OF_THE_ABOVE, kind=OptionKind.NONE_OF_THE_ABOVE))
