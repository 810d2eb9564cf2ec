from __future__ import annotations

import asyncio
import random
from collections import Counter
from itertools import takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.agents.trustscore.choices import LETTERS, NONE_OF_THE_ABOVE, plan_checks
from factloop.agents.trustscore.records import Option, OptionKind, TrustBC
from factloop.core.errors import (
    BudgetExceeded,
    ConfigError,
    FactloopError,
    ModelOutputError,
    ModelRefusal,
    ToolError,
    ToolTimeout,
)
from factloop.core.records import UnscoredReason
from tests.agents.trustscore.scripted import (
    NONE,
    OTHER,
    QUESTION,
    RESPONSE,
    RIGHT,
    Answer,
    ScriptedChoice,
    ScriptedSubject,
    consistency_of,
    run,
    trust_bc,
)

FAILURES: list[tuple[FactloopError, UnscoredReason]] = [
    (ModelOutputError("no letter", schema="McqAnswer", reply="A or C"), UnscoredReason.PARSE_FAILURE),
    (ModelRefusal("I would rather not", schema="McqAnswer", reply="No."), UnscoredReason.REFUSAL),
    (ToolTimeout(tool="script", timeout_s=60.0), UnscoredReason.TIMEOUT),
    (BudgetExceeded("5 calls"), UnscoredReason.BUDGET),
    (ToolError("HTTP 500", tool="script", status=500), UnscoredReason.TOOL_FAILURE),
]


def failed() -> FactloopError:
    return ModelOutputError("no letter", schema="McqAnswer", reply="A or C")


def counts(result: TrustBC) -> tuple[int, int, int, int]:
    return result.n_asked, result.n_consistent, result.n_inconsistent, result.n_unscored


async def test_a_response_chosen_in_every_check_is_insisted_upon() -> None:
    result = await trust_bc([RIGHT] * 10)
    assert (result.value, result.unscored_reason, counts(result)) == (1, None, (10, 10, 0, 0))
    assert [check.number for check in result.checks] == list(range(1, 11))
    assert all(check.counted and check.consistent for check in result.checks)
    assert (result.max_checks, result.n_planned, len(result.distractors)) == (10, 10, 30)
    assert (result.rationale, result.notes) == ("The response was chosen in every check (10).", ())


@pytest.mark.parametrize("choice", [OTHER, NONE])
async def test_the_first_other_choice_ends_the_matter(choice: Answer) -> None:
    result = await trust_bc([RIGHT, RIGHT, choice])  # a fourth check would be beyond the script
    assert (result.value, counts(result)) == (0, (3, 2, 1, 0))
    assert result.rationale == "Another option was chosen in check 3."
    assert result.n_planned == 10


@given(st.lists(st.sampled_from([RIGHT, RIGHT, RIGHT, OTHER, NONE, failed()]), min_size=10, max_size=10), st.data())
def test_the_result_does_not_depend_on_the_window(script: list[Answer], data: st.DataObject) -> None:
    graded = [
        answer if isinstance(answer, Exception) else ScriptedChoice(answer, 0.6, 0.6 if answer is RIGHT else 0.3)  # type: ignore[arg-type]
        for answer in script
    ]
    n_needed = min(len(list(takewhile(lambda answer: answer not in (OTHER, NONE), script))) + 1, 10)
    window = data.draw(st.integers(min_value=2, max_value=12))
    n_asked = min(-(-n_needed // window) * window, 10)
    narrow = asyncio.run(trust_bc(graded[:n_needed]))
    wide = asyncio.run(trust_bc(graded[:n_asked], window=window, longest_s=0.002))
    assert tuple(check for check in wide.checks if check.counted) == narrow.checks
    beside = {"n_asked", "checks"}
    assert wide.model_dump(exclude=beside) == narrow.model_dump(exclude=beside)


@pytest.mark.parametrize(("error", "reason"), FAILURES, ids=lambda value: str(value))
async def test_a_check_that_failed_is_no_inconsistency(error: FactloopError, reason: UnscoredReason) -> None:
    result = await trust_bc([RIGHT, error, *[RIGHT] * 8])
    assert (result.value, result.unscored_reason, counts(result)) == (None, reason, (10, 9, 0, 1))
    assert result.graded is None
    check = result.checks[1]
    assert (check.chosen, check.consistent, check.unscored_reason) == (None, None, reason)
    assert check.reply == (getattr(error, "reply", "") or str(error))
    assert result.rationale == f"No choice in check 2: {check.reply}"


async def test_an_inconsistent_choice_outweighs_a_failed_check() -> None:
    result = await trust_bc([RIGHT, failed(), OTHER])
    assert (result.value, result.unscored_reason) == (0, None)
    assert (result.n_consistent, result.n_inconsistent, result.n_unscored) == (1, 1, 1)


@pytest.mark.parametrize("window", [1, 10])
async def test_a_wrong_set_up_is_raised_and_stops_the_others(window: int) -> None:
    script: list[Answer] = [ConfigError("no key"), *[RIGHT] * 9]
    subject = ScriptedSubject(script, longest_s=30.0)
    with pytest.raises(ConfigError, match="no key"):
        await run(consistency_of(subject, window=window), {"question": QUESTION, "response": RESPONSE})
    assert subject.cancelled == window - 1


@pytest.mark.parametrize("n", [0, 1, 2])
async def test_too_few_distractors_are_a_reason(n: int) -> None:
    result = await trust_bc([], n)
    assert (result.value, result.unscored_reason) == (None, UnscoredReason.TOO_FEW_DISTRACTORS)
    assert (result.n_planned, counts(result)) == (0, (0, 0, 0, 0))
    assert result.rationale == f"Too few distractors ({n}) were made: a question needs 3."
    assert len(result.distractors) == n


@pytest.mark.parametrize(("n", "n_checks"), [(3, 1), (5, 1), (29, 9), (30, 10), (31, 10)])
async def test_a_shortage_of_distractors_is_said(n: int, n_checks: int) -> None:
    result = await trust_bc([RIGHT] * n_checks, n)
    assert (result.value, result.n_planned) == (1, n_checks)
    said = f"Checks: {n_checks} instead of 10, because only {n} distractors"
    assert [note.startswith(said) for note in result.notes] == [True] * (n_checks < 10)


async def test_the_graded_score_is_the_mean_probability_of_the_response() -> None:
    # (0.9 + 0.7 + 0.2) / 3: in the third check the response had 0.2 beside the other option's 0.8.
    script = [ScriptedChoice(RIGHT, 0.9), ScriptedChoice(RIGHT, 0.7), ScriptedChoice(OTHER, 0.8, of_response=0.2)]
    result = await trust_bc(script)
    assert result.value == 0
    assert result.graded == pytest.approx(0.6)
    assert result.letters_mass == pytest.approx((0.9 + 0.7 + 1.0) / 3)


@pytest.mark.parametrize(("shares", "graded"), [((0.6, 0.42), 0.51), ((0.6, 0.38), None), ((0.01, 0.01), None)])
async def test_there_is_no_graded_score_where_the_letters_held_less_than_half(
    shares: tuple[float, ...], graded: float | None
) -> None:
    """A grammar can force the subject to give a letter that it would hardly have chosen."""
    result = await trust_bc([ScriptedChoice(RIGHT, share) for share in shares], max_checks=2)
    assert result.value == 1
    assert result.letters_mass == pytest.approx(sum(shares) / 2)
    assert result.graded == (None if graded is None else pytest.approx(graded))


async def test_without_probabilities_in_every_check_nothing_is_graded() -> None:
    assert (await trust_bc([ScriptedChoice(RIGHT, 0.9), RIGHT, ScriptedChoice(OTHER, 0.9, 0.1)])).graded is None


async def test_the_subject_is_asked_what_the_report_shows() -> None:
    subject = ScriptedSubject([RIGHT] * 10)
    final = await run(consistency_of(subject, window=4), {"question": QUESTION, "response": RESPONSE})
    result = TrustBC.model_validate(final["trust_bc"])
    assert [options for _, options, _ in subject.asked] == [check.options for check in result.checks]
    assert {question for question, _, _ in subject.asked} == {QUESTION}
    shown = [option for check in result.checks for option in check.options if option.distractor is not None]
    assert all(option.text == result.distractors[option.distractor or 0].text for option in shown)


async def test_the_longest_run_stays_within_the_steps_of_a_graph() -> None:
    result = await trust_bc([RIGHT] * 100, 300, max_checks=100, window=1)
    assert (result.value, result.n_asked) == (1, 100)


COUNTS = st.integers(min_value=0, max_value=60)
MOST_CHECKS = st.integers(min_value=1, max_value=100)
SEEDS = st.integers(min_value=0, max_value=2**32)


def plan(n: int, max_checks: int, seed: int = 0) -> list[tuple[Option, ...]]:
    distractors = [f"distractor {number}" for number in range(n)]
    return plan_checks(RESPONSE, distractors, max_checks=max_checks, rng=random.Random(seed))


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
    places = [[one.kind for one in options].index(OptionKind.RESPONSE) for options in plan(n, max_checks, seed)]
    for start in range(0, len(places) - 3, 4):
        assert sorted(places[start : start + 4]) == [0, 1, 2, 3]
    rest = places[len(places) - len(places) % 4 :]
    assert len(set(rest)) == len(rest)
