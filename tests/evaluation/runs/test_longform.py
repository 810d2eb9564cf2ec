from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from factloop.core.records import Counts
from factloop.evaluation.runs.longform import (
    AbstentionPolicy,
    CountedResponse,
    KRule,
    LongFormScores,
    choose_ks,
    f1_curve,
    score_long_form,
)

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


def test_nothing_scored_is_none() -> None:
    system = only(score_long_form([answer(1), answer(2, un=1)], [4], abstention=EXCLUDE, rng=np.random.default_rng(1)))
    assert (system.at_k[0].f1.value, system.at_k[0].f1.low, system.precision.value) == (None, None, None)
    assert (system.n_abstained, system.n_unscored_responses, system.at_k[0].f1.n) == (1, 1, 0)
    assert score_long_form([], [4], abstention=ZERO, rng=np.random.default_rng(1)).systems == ()


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
