from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.core.records import Counts
from factloop.evaluation.datasets.factscore import count_facts, load_factscore
from factloop.evaluation.runs.longform import choose_ks, f1_curve, score_long_form
from factloop.evaluation.runs.longform_records import AbstentionPolicy, CountedResponse, KRule, LongFormScores

DATA = Path(os.environ.get("FACTLOOP_DATA", "../shared/data"))
ZERO, EXCLUDE = AbstentionPolicy.ZERO, AbstentionPolicy.EXCLUDE


def answer(prompt: object, s: int = 0, n: int = 0, *, ir: int = 0, un: int = 0, system: str = "a") -> CountedResponse:
    counts = Counts(supported=s, not_supported=n, irrelevant=ir, unscored=un)
    return CountedResponse(system=system, prompt_id=str(prompt), counts=counts)


# F1@4 of each answer by hand:
#   p1: S=2 N=2: precision 1/2, recall 2/4 -> F1 1/2        p2: S=4 N=1: 4/5, 1 -> 2*.8/1.8 = 8/9
#   p3: nothing claimed (abstained)                         p4: S=0 N=3: 0, 0 -> 0
#   p5: only irrelevant: no precision, recall 0 -> 0        p6: every claim unscored: left out
RUN = [answer(1, 2, 2), answer(2, 4, 1, ir=3), answer(3), answer(4, 0, 3), answer(5, ir=2), answer(6, un=4)]


def only(scores: LongFormScores) -> Any:
    (system,) = scores.systems
    return system


def test_a_run_by_hand() -> None:
    system = only(score_long_form(RUN, [4], abstention=EXCLUDE))
    assert system.at_k[0].f1.value == pytest.approx((1 / 2 + 8 / 9 + 0 + 0) / 4)
    assert system.at_k[0].recall.value == pytest.approx((2 / 4 + 1 + 0 + 0) / 4)
    assert system.precision.value == pytest.approx((1 / 2 + 4 / 5 + 0) / 3)
    assert (system.at_k[0].f1.n, system.precision.n) == (4, 3)
    assert (system.n_responses, system.n_abstained, system.n_unscored_responses) == (6, 1, 1)
    assert system.counts == Counts(supported=6, not_supported=6, irrelevant=5, unscored=4)
    assert (system.at_k[0].f1.low, system.at_k[0].f1.high) == (None, None)


def test_an_abstention_counts_as_0_where_that_is_the_policy() -> None:
    scores = score_long_form(RUN, [4], abstention=ZERO)
    system = only(scores)
    assert scores.abstention is ZERO
    assert system.at_k[0].f1.value == pytest.approx((1 / 2 + 8 / 9 + 0 + 0 + 0) / 5)
    assert (system.at_k[0].f1.n, system.precision.n) == (5, 3)


def test_k_is_chosen_from_the_run() -> None:
    excluded = score_long_form(RUN, ["median", "maximum", 64], abstention=EXCLUDE)
    # supported: 2, 4, 0, 0 -> median 1, maximum 4; with the abstention 2, 4, 0, 0, 0 -> median 0, and K is at least 1
    assert [(choice.k, choice.rule) for choice in excluded.ks] == [
        (1, KRule.MEDIAN),
        (4, KRule.MAXIMUM),
        (64, KRule.GIVEN),
    ]
    assert choose_ks([answer(1, 2), answer(2, 3)], ["median"])[0].k == 3  # 2.5, rounded up
    assert [choice.k for choice in choose_ks([], ["median", "maximum"])] == [1]
    assert [choice.rule for choice in choose_ks(RUN, [4, "maximum", 4])] == [KRule.GIVEN]


@pytest.mark.parametrize("k", [0, -1, 1.5, "mean"])
def test_k_is_a_number_from_1_or_a_rule(k: Any) -> None:
    with pytest.raises(ValueError, match="'median' or 'maximum'"):
        choose_ks(RUN, [k])


def test_nothing_scored_is_none() -> None:
    system = only(score_long_form([answer(1), answer(2, un=1)], [4], abstention=EXCLUDE, rng=np.random.default_rng(1)))
    assert (system.at_k[0].f1.value, system.at_k[0].f1.low, system.precision.value) == (None, None, None)
    assert (system.n_abstained, system.n_unscored_responses, system.at_k[0].f1.n) == (1, 1, 0)
    assert score_long_form([], [4], abstention=ZERO, rng=np.random.default_rng(1)).systems == ()


def test_a_prompt_is_answered_once() -> None:
    with pytest.raises(ValueError, match="'a' answers the prompt '1' twice"):
        score_long_form([answer(1, 1), answer(2, 1), answer(1, 2)], [4], abstention=ZERO)


def test_systems_are_ranked_at_each_k() -> None:
    few_right = [answer(1, 2, 0, system="brief"), answer(1, 8, 8, system="long"), answer(1, 2, 0, system="also")]
    scores = score_long_form([*few_right, answer(1, un=1, system="broken")], [2, 16], abstention=ZERO)
    at_2, at_16 = scores.rankings
    # K=2: brief 1, also 1, long 2*.5/1.5 = 2/3; K=16: brief 2*(1/8)/(9/8) = 2/9, long 2*.5*.5/1 = 1/2
    assert (at_2.systems, at_2.ranks) == (("also", "brief", "long"), {"also": 1.5, "brief": 1.5, "long": 3.0})
    assert (at_16.systems, at_16.ranks["long"]) == (("long", "also", "brief"), 1.0)
    assert [system.system for system in scores.systems] == ["also", "brief", "broken", "long"]


def test_the_curve_falls_with_k_and_ends_at_the_maximum() -> None:
    points = f1_curve([answer(1, 300, 100), answer(2, 7, 3)], abstention=ZERO)
    ks, values = [point.k for point in points], [point.f1["a"] for point in points]
    assert (ks[0], ks[-1]) == (1, 300)
    assert len(ks) <= 51
    assert ks == sorted(set(ks))
    assert values == sorted(values, key=lambda value: -(value or 0.0))
    given_ks = f1_curve(RUN, abstention=EXCLUDE, ks=[4])
    assert given_ks[0].f1["a"] == only(score_long_form(RUN, [4], abstention=EXCLUDE)).at_k[0].f1.value
    assert [point.k for point in f1_curve([answer(1, 3)], abstention=ZERO)] == [1, 2, 3]


def many(n: int, seed: int) -> list[CountedResponse]:
    rng = random.Random(seed)
    return [answer(place, rng.randint(0, 40), rng.randint(0, 20)) for place in range(n)]


def test_the_interval_is_that_of_the_mean() -> None:
    """With one answer a prompt, the bootstrap of a mean comes close to the mean and 1.96 standard errors."""
    responses = many(400, seed=2)
    mean = only(score_long_form(responses, [20], abstention=EXCLUDE, rng=np.random.default_rng(3))).at_k[0].f1
    values = [only(score_long_form([one], [20], abstention=EXCLUDE)).at_k[0].f1.value for one in responses]
    error = float(np.std(values, ddof=1)) / len(values) ** 0.5
    assert mean.low == pytest.approx(mean.value - 1.96 * error, abs=0.15 * error)
    assert mean.high == pytest.approx(mean.value + 1.96 * error, abs=0.15 * error)


def test_one_prompt_has_no_interval_and_a_seed_makes_it() -> None:
    alone = only(score_long_form([answer(1, 2, 1)], [4], abstention=ZERO, rng=np.random.default_rng(1))).at_k[0].f1
    assert (alone.low, alone.n_prompts) == (None, 1)
    runs = [score_long_form(many(30, 4), [8], abstention=ZERO, rng=np.random.default_rng(5)) for _ in range(2)]
    assert runs[0] == runs[1]
    assert runs[0].n_resamples == 2000


answers = st.builds(
    answer,
    prompt=st.integers(0, 10**9),
    s=st.integers(0, 60),
    n=st.integers(0, 60),
    ir=st.integers(0, 5),
    un=st.integers(0, 3),
    system=st.sampled_from(["a", "b"]),
)
runs = st.lists(answers, max_size=12, unique_by=lambda one: (one.system, one.prompt_id))


@given(runs, st.integers(1, 80), st.sampled_from(AbstentionPolicy), st.randoms(use_true_random=False))
def test_properties(run: list[CountedResponse], k: int, policy: AbstentionPolicy, rng: random.Random) -> None:
    scores = score_long_form(run, [k, "median"], abstention=policy, rng=np.random.default_rng(1), resamples=20)
    shuffled = list(run)
    rng.shuffle(shuffled)
    assert scores == score_long_form(
        shuffled, [k, "median"], abstention=policy, rng=np.random.default_rng(1), resamples=20
    )
    renamed = [one.model_copy(update={"prompt_id": f"{one.prompt_id}'"}) for one in run]
    doubled = score_long_form([*run, *renamed], [k], abstention=policy)
    for system, twice in zip(scores.systems, doubled.systems, strict=True):
        f1, recall = system.at_k[0].f1, system.at_k[0].recall
        assert twice.at_k[0].f1.value == (None if f1.value is None else pytest.approx(f1.value))
        assert twice.at_k[0].f1.n == 2 * f1.n
        dropped = system.n_unscored_responses + (system.n_abstained if policy is EXCLUDE else 0)
        assert f1.n == recall.n == system.n_responses - dropped
        if f1.low is not None and f1.high is not None:
            assert 0.0 <= f1.low <= f1.high <= 1.0


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=8), st.integers(1, 40))
def test_more_support_is_never_worse(pairs: list[tuple[int, int]], k: int) -> None:
    def f1(extra: int) -> float:
        run = [answer(place, s + extra, n) for place, (s, n) in enumerate(pairs)]
        return float(only(score_long_form(run, [k], abstention=ZERO)).at_k[0].f1.value)

    assert f1(1) >= f1(0) - 1e-12


def test_factscore_at_32_and_64_is_as_published() -> None:
    path = DATA / "factscore_bio.jsonl"
    if not path.is_file():
        pytest.skip(f"labelled data not found in {DATA}: set FACTLOOP_DATA")
    run = [
        CountedResponse(system=response.system, prompt_id=response.topic, counts=count_facts(response.facts))
        for response in load_factscore(path)
    ]
    scores = score_long_form(run, [32, 64], abstention=EXCLUDE)
    expected = {"InstructGPT": (0.397, 0.256), "ChatGPT": (0.610, 0.415), "PerplexityAI": (0.801, 0.586)}
    assert {system.system: tuple(at.f1.value for at in system.at_k) for system in scores.systems} == {
        name: pytest.approx(values, abs=0.001) for name, values in expected.items()
    }
    assert sum(system.at_k[0].f1.n for system in scores.systems) == 496
    assert [ranking.systems[0] for ranking in scores.rankings] == ["PerplexityAI", "PerplexityAI"]


def test_answers_that_all_score_0_have_no_interval() -> None:
    """From 0 to 0 it would call certain what three answers show."""
    system = only(
        score_long_form([answer(n, 0, 3) for n in range(3)], [4], abstention=ZERO, rng=np.random.default_rng(0))
    )
    assert (system.at_k[0].f1.value, system.at_k[0].f1.low, system.at_k[0].f1.high) == (0.0, None, None)
