"""The questions of one TrustBC: which distractors they show, where the response stands, how many there are."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.agents.trustscore.questions import LETTERS, NONE_OF_THE_ABOVE, plan_checks
from factloop.agents.trustscore.records import ConsistencyCheck, Option, OptionKind

RESPONSE = "King Solomon built it."
COUNTS = st.integers(min_value=0, max_value=60)
MOST_CHECKS = st.integers(min_value=1, max_value=100)
SEEDS = st.integers(min_value=0, max_value=2**32)


def plan(n: int, max_checks: int, seed: int = 0) -> list[tuple[Option, ...]]:
    distractors = [f"distractor {number}" for number in range(n)]
    return plan_checks(RESPONSE, distractors, max_checks=max_checks, rng=random.Random(seed))


def place(options: tuple[Option, ...]) -> int:
    return [option.kind for option in options].index(OptionKind.RESPONSE)


@pytest.mark.parametrize(
    ("n", "n_checks"), [(0, 0), (2, 0), (3, 1), (5, 1), (6, 2), (29, 9), (30, 10), (31, 10), (300, 10)]
)
def test_three_new_distractors_make_a_question(n: int, n_checks: int) -> None:
    assert len(plan(n, 10)) == n_checks


@given(COUNTS, MOST_CHECKS, SEEDS)
def test_every_question_has_the_response_three_distractors_and_none_of_the_above_last(
    n: int, max_checks: int, seed: int
) -> None:
    shown = Counter[int | None]()
    for options in plan(n, max_checks, seed):
        assert [option.letter for option in options] == list(LETTERS)
        assert [option.text for option in options if option.kind is OptionKind.RESPONSE] == [RESPONSE]
        assert (options[-1].kind, options[-1].text) == (OptionKind.NONE_OF_THE_ABOVE, NONE_OF_THE_ABOVE)
        own = [option for option in options if option.kind is OptionKind.DISTRACTOR]
        assert [option.text for option in own] == [f"distractor {option.distractor}" for option in own]
        shown.update(option.distractor for option in own)
    assert shown == Counter(range(3 * min(max_checks, n // 3)))  # the best ones, each once


@given(COUNTS, MOST_CHECKS, SEEDS)
def test_of_four_checks_in_a_row_each_has_the_response_in_another_place(n: int, max_checks: int, seed: int) -> None:
    places = [place(options) for options in plan(n, max_checks, seed)]
    for start in range(0, len(places) - 3, 4):
        assert sorted(places[start : start + 4]) == [0, 1, 2, 3]
    rest = places[len(places) - len(places) % 4 :]
    assert len(set(rest)) == len(rest)


def test_a_check_of_an_earlier_version_is_read() -> None:
    check = ConsistencyCheck(number=1, options=plan(3, 1)[0], chosen="A")
    assert ConsistencyCheck.model_validate(check.model_dump() | {"reuses": True}) == check
