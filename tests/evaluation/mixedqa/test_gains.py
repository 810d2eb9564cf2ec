"""What TrustOV has over its halves: by hand, against numpy, and with an interval of whole questions."""

from __future__ import annotations

import numpy as np
import pytest

from factloop.core.figure import Undefined
from factloop.evaluation.mixedqa.gains import Gain
from factloop.evaluation.mixedqa.scores import MixedQaResult, ScoredResponse
from factloop.evaluation.statistics.correlation import Method
from tests.evaluation.mixedqa.mixedqa_sample import many_responses, respond, result_of


def gain(result: MixedQaResult, over: str, system: str | None = "a") -> Gain:
    return next(one for one in result.gains if (one.over, one.system) == (over, system))


def scored(*rows: tuple[int, int, float, float]) -> list[ScoredResponse]:
    """Label, TrustBC, TrustFC and TrustOV of responses of system a, one a question."""
    return [
        respond(number, "a", label, trust_bc=bc, trust_fc=fc, trust_ov=ov)
        for number, (label, bc, fc, ov) in enumerate(rows)
    ]


def test_by_hand() -> None:
    """Labels 1 1 0 0. TrustBC 1 0 1 0: r 0. TrustFC 1 0.5 0.5 0: r 1/√2. TrustOV 1 0.4 0.6 0: r 0.4 / √0.52."""
    result = result_of(scored((1, 1, 1.0, 1.0), (1, 0, 0.5, 0.4), (0, 1, 0.5, 0.6), (0, 0, 0.0, 0.0)))
    # about its mean of 0.5 TrustOV is 0.5 -0.1 0.1 -0.5, and the labels are 0.5 0.5 -0.5 -0.5
    whole = 0.4 / 0.52**0.5
    assert gain(result, "trust_bc").gain.value == pytest.approx(whole)
    assert gain(result, "trust_fc").gain.value == pytest.approx(whole - 0.5**0.5)
    assert gain(result, "trust_fc").gain.n == 4


def test_it_is_the_difference_of_the_coefficients_over_responses_with_all_three() -> None:
    responses = many_responses()
    result = result_of(responses)
    complete = [one for one in responses if one.trust_ov is not None]
    labels = [one.human_correct for one in complete]
    r = {
        name: np.corrcoef([getattr(one, name) for one in complete], labels)[0, 1]
        for name in ("trust_bc", "trust_fc", "trust_ov")
    }
    for over in ("trust_bc", "trust_fc"):
        found = gain(result, over, None).gain
        assert found.value == pytest.approx(r["trust_ov"] - r[over])
        assert found.n == len(complete)
        assert found.value is not None
        assert found.low is not None
        assert found.high is not None
        assert found.low < found.value < found.high
    assert len(result.gains) == 2 * 4  # three systems and all of them


def test_few_questions_and_lost_resamples_have_no_interval() -> None:
    """As for a coefficient: nine questions are too few, and one label of twelve is missing from 35 % of resamples."""
    assert gain(result_of(many_responses(9)), "trust_bc", None).gain.interval is None
    rows = [(int(n == 0), n % 2, (n % 3) / 2, 0.2 * (n % 2) + 0.4 * (n % 3)) for n in range(12)]
    found = gain(result_of(scored(*rows)), "trust_bc").gain
    assert found.value is not None
    assert found.interval is None


@pytest.mark.statistical
def test_the_interval_covers_the_spread_of_new_samples() -> None:
    """Its width is that of the gains of 200 samples of as many questions drawn anew, but for a quarter."""
    gains = [
        gain(result_of(many_responses(200, seed, ("a",)), resamples=2), "trust_fc").gain.value for seed in range(200)
    ]
    values = [value for value in gains if value is not None]
    spread = float(np.quantile(values, 0.975) - np.quantile(values, 0.025))
    found = gain(result_of(many_responses(200, 1, ("a",)), resamples=2000), "trust_fc").gain
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low == pytest.approx(spread, rel=0.25)


def test_without_all_three_scores_there_is_none() -> None:
    assert result_of([respond(n, "a", n % 2, trust_bc=n % 2) for n in range(6)]).gains == ()
    two = result_of(scored((1, 1, 1.0, 1.0), (0, 0, 0.0, 0.0)))
    assert gain(two, "trust_fc").gain.undefined is Undefined.TOO_FEW
    constant = result_of(scored((1, 1, 0.5, 0.6), (0, 1, 0.5, 0.6), (0, 1, 0.5, 0.6)))
    assert gain(constant, "trust_bc").gain.undefined is Undefined.CONSTANT
    assert result_of(many_responses(20), method=Method.SPEARMAN).gains == ()
