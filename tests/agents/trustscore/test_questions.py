"""The questions of one TrustBC: which distractors they show, where the response stands, how many there are."""

from __future__ import annotations

import random
from collections import Counter
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.agents.trustscore.questions import LETTERS, NONE_OF_THE_ABOVE, PlannedCheck, plan_checks
from factloop.agents.trustscore.records import OptionKind

RESPONSE = "King Solomon built it."
COUNTS = st.integers(min_value=0, max_value=60)
MOST_CHECKS = st.integers(min_value=1, max_value=100)
SEEDS = st.integers(min_value=0, max_value=2**32)


def plan(n: int, max_checks: int, seed: int = 0) -> list[PlannedCheck]:
    distractors = [f"distractor {number}" for number in range(n)]
    return plan_checks(RESPONSE, distractors, max_checks=max_checks, rng=random.Random(seed))


def triple(check: PlannedCheck) -> frozenset[int]:
    return frozenset(option.distractor for option in check.options if option.distractor is not None)


def place(check: PlannedCheck) -> int:
    return [option.kind for option in check.options].index(OptionKind.RESPONSE)


@pytest.mark.parametrize(
    ("n", "n_checks", "n_fresh"),
    [
        (0, 0, 0),
        (1, 0, 0),
        (2, 0, 0),
        (3, 1, 1),  # 3 out of 3
        (4, 4, 1),  # 3 out of 4: four combinations
        (5, 10, 1),  # 3 out of 5: ten combinations
        (6, 10, 2),
        (8, 10, 2),
        (9, 10, 3),
        (29, 10, 9),
        (30, 10, 10),
        (31, 10, 10),
        (300, 10, 10),
    ],
)
def test_how_many_checks_there_are_and_how_many_show_nothing_twice(n: int, n_checks: int, n_fresh: int) -> None:
    checks = plan(n, 10)
    assert len(checks) == n_checks
    assert [check.reuses for check in checks] == [False] * n_fresh + [True] * (n_checks - n_fresh)


@given(COUNTS, MOST_CHECKS, SEEDS)
def test_every_question_has_the_response_three_distractors_and_none_of_the_above_last(
    n: int, max_checks: int, seed: int
) -> None:
    for check in plan(n, max_checks, seed):
        assert [option.letter for option in check.options] == list(LETTERS)
        assert len(triple(check)) == 3
        assert [option.text for option in check.options if option.kind is OptionKind.RESPONSE] == [RESPONSE]
        assert (check.options[-1].kind, check.options[-1].text) == (OptionKind.NONE_OF_THE_ABOVE, NONE_OF_THE_ABOVE)
        shown = {option.distractor: option.text for option in check.options if option.distractor is not None}
        assert shown == {number: f"distractor {number}" for number in shown}


@given(COUNTS, MOST_CHECKS, SEEDS)
def test_no_two_checks_show_the_same_three(n: int, max_checks: int, seed: int) -> None:
    checks = plan(n, max_checks, seed)
    assert len(checks) == min(max_checks, comb(n, 3))
    assert len({triple(check) for check in checks}) == len(checks)


@given(st.integers(min_value=1, max_value=33), st.integers(min_value=0, max_value=2), SEEDS)
def test_no_distractor_comes_twice_while_there_are_new_ones(n_checks: int, left: int, seed: int) -> None:
    checks = plan(3 * n_checks + left, n_checks, seed)
    shown = Counter(number for check in checks for number in triple(check))
    assert shown == Counter(range(3 * n_checks))  # the best ones, each once
    assert not any(check.reuses for check in checks)


@given(st.integers(min_value=3, max_value=40), MOST_CHECKS, SEEDS)
def test_those_shown_least_come_first(n: int, max_checks: int, seed: int) -> None:
    shown = Counter[int]()
    for check in plan(n, max_checks, seed):
        usable = range(min(n, 3 * max_checks))
        assert min(shown[number] for number in triple(check)) == min(shown[number] for number in usable)
        shown.update(triple(check))
        counts = [shown[number] for number in usable]
        assert max(counts) - min(counts) <= 3


@given(COUNTS, MOST_CHECKS, SEEDS)
def test_of_four_checks_in_a_row_each_has_the_response_in_another_place(n: int, max_checks: int, seed: int) -> None:
    places = [place(check) for check in plan(n, max_checks, seed)]
    for start in range(0, len(places) - 3, 4):
        assert sorted(places[start : start + 4]) == [0, 1, 2, 3]
    rest = places[len(places) - len(places) % 4 :]
    assert len(set(rest)) == len(rest)


@given(COUNTS, MOST_CHECKS, SEEDS)
def test_one_seed_gives_one_plan(n: int, max_checks: int, seed: int) -> None:
    assert plan(n, max_checks, seed) == plan(n, max_checks, seed)


def test_another_seed_gives_another_plan() -> None:
    assert len({tuple(place(check) for check in plan(30, 10, seed)) for seed in range(20)}) > 10
    assert len({frozenset(map(triple, plan(30, 10, seed))) for seed in range(20)}) == 20


def test_distractors_are_shuffled_among_the_options() -> None:
    firsts = Counter(check.options[1].distractor for seed in range(200) for check in plan(3, 1, seed))
    assert len(firsts) == 4  # each of the three, and the response
    assert min(firsts.values()) > 25  # a quarter of 200 is 50


def test_the_longest_plan_comes_at_once() -> None:
    assert len(plan(300, 100)) == 100
