from __future__ import annotations

import math

import pytest

from factloop.agents.trustscore.records import Relation, TrustBC, TrustFC, TrustOV, TrustReport
from factloop.core.figure import Undefined
from factloop.core.records import UnscoredReason, Usage
from factloop.evaluation.datasets.mixedqa import MixedQaResponse
from factloop.evaluation.mixedqa.published import SYSTEMS
from factloop.evaluation.mixedqa.scores import (
    Gain,
    MetricCorrelation,
    MixedQaResult,
    ScoredResponse,
    TrustMetric,
    metric_name,
    scored_response,
)
from factloop.evaluation.statistics.correlation import Method
from tests.evaluation.mixedqa.mixedqa_sample import WHEN, fingerprint, many_responses, respond, result_of, sample_result


def find(result: MixedQaResult, metric: TrustMetric, system: str | None) -> MetricCorrelation:
    return next(found for found in result.of(system) if found.metric is metric)


def worked_example() -> MixedQaResult:
    """System a: TrustBC 1 1 0 0 with labels 1 0 0 0; system b: 1 0 - 1 with labels 1 0 1 1."""
    return result_of(
        [
            respond(1, "a", 1, trust_bc=1, trust_bc_graded=0.9, trust_fc=1.0, trust_ov=1.0),
            respond(2, "a", 0, trust_bc=1, trust_bc_graded=0.6, trust_fc=1.0, trust_ov=1.0),
            respond(3, "a", 0, trust_bc=0, trust_bc_graded=0.3, trust_fc=1.0, trust_ov=0.8),
            respond(4, "a", 0, trust_bc=0, trust_fc=1.0, trust_ov=0.8),
            respond(1, "b", 1, trust_bc=1),
            respond(2, "b", 0, trust_bc=0),
            respond(3, "b", 1),
            respond(4, "b", 1, trust_bc=1),
        ]
    )


def test_each_system_and_all_by_hand() -> None:
    result = worked_example()
    # a: of four, two insisted, one right, and both in one: (1/4 - 1/2 * 1/4) / sqrt(1/4 * 3/16)
    assert find(result, TrustMetric.TRUST_BC, "a").correlation.value == pytest.approx(0.125 / math.sqrt(3 / 64))
    # b: the three that are scored agree
    found = find(result, TrustMetric.TRUST_BC, "b")
    assert found.correlation.value == pytest.approx(1.0)
    assert (found.n_scored, found.n_unscored) == (3, 1)
    assert found.mean == pytest.approx(2 / 3)
    # all seven: insisted 4, right 3, both 3: (3/7 - 12/49) / sqrt(12/49 * 12/49)
    overall = find(result, TrustMetric.TRUST_BC, None)
    assert overall.correlation.value == pytest.approx((3 / 7 - 12 / 49) / (12 / 49))
    assert (overall.n_scored, overall.n_unscored, overall.correlation.n_clusters) == (7, 1, 4)
    # 1 1 0.8 0.8 rises and falls with TrustBC's 1 1 0 0, so the coefficient is the same
    whole = find(result, TrustMetric.TRUST_OV, "a")
    assert whole.correlation.value == pytest.approx(0.125 / math.sqrt(3 / 64))
    # 0.9 0.6 0.3 with 1 0 0: deviations .3 0 -.3 and 2/3 -1/3 -1/3: .3 / sqrt(.18 * 2/3)
    graded = find(result, TrustMetric.TRUST_BC_GRADED, "a")
    assert graded.correlation.value == pytest.approx(0.3 / math.sqrt(0.12))
    assert [(s.system, s.n_responses, s.n_correct) for s in result.systems] == [("a", 4, 1), ("b", 4, 3)]


def test_what_has_no_spread_or_no_scores_is_undefined() -> None:
    result = worked_example()
    constant = find(result, TrustMetric.TRUST_FC, "a")
    assert (constant.correlation.value, constant.correlation.undefined) == (None, Undefined.CONSTANT)
    assert constant.mean == 1.0
    absent = find(result, TrustMetric.TRUST_FC, "b")
    assert (absent.correlation.value, absent.correlation.undefined) == (None, Undefined.TOO_FEW)
    assert (absent.mean, absent.n_scored, absent.n_unscored) == (None, 0, 4)


def test_a_system_answers_each_question_once() -> None:
    with pytest.raises(ValueError, match="each question once"):
        result_of([respond(1, "a", 1), respond(1, "a", 0)])


def test_the_papers_figures_stand_beside_ours() -> None:
    """Zheng et al. 2024, Table 1, the three rows of the paper's own scores."""
    result = sample_result()
    table = {
        metric_name(metric): [result.paper(metric_name(metric), system) for system in (*SYSTEMS, None, "unheard of")]
        for metric in TrustMetric
    }
    assert table == {
        "TrustBC": [0.313, 0.133, 0.353, None, None],
        "TrustBC, graded": [None, None, None, None, None],
        "TrustFC": [0.593, 0.533, 0.449, None, None],
        "TrustOV": [0.613, 0.539, 0.484, None, None],
    }


def test_a_report_becomes_a_scored_response() -> None:
    report = TrustReport(
        id="q1",
        question="Which planet is nearest the sun?",
        response="Mercury",
        trust_bc=TrustBC(unscored_reason=UnscoredReason.TOO_FEW_DISTRACTORS, max_checks=10, n_planned=0),
        trust_fc=TrustFC(relation=Relation.NEUTRAL, value=0.5),
        trust_ov=TrustOV(missing="TrustBC"),
        usage=Usage(),
        fingerprint=fingerprint(),
        created_at=WHEN,
    )
    found = scored_response("q1", MixedQaResponse(system="a", text="Mercury", human_correct=1), report)
    assert found == respond(1, "a", 1, trust_fc=0.5)


def gain(result: MixedQaResult, over: str, system: str | None = "a") -> Gain:
    return next(one for one in result.gains if (one.over, one.system) == (over, system))


def scored(*rows: tuple[int, int, float, float]) -> list[ScoredResponse]:
    """Label, TrustBC, TrustFC and TrustOV of responses of system a, one a question."""
    return [
        respond(number, "a", label, trust_bc=bc, trust_fc=fc, trust_ov=ov)
        for number, (label, bc, fc, ov) in enumerate(rows)
    ]


def test_gains_by_hand() -> None:
    """Labels 1 1 0 0. TrustBC 1 0 1 0: r 0. TrustFC 1 0.5 0.5 0: r 1/√2. TrustOV 1 0.4 0.6 0: r 0.4 / √0.52."""
    result = result_of(scored((1, 1, 1.0, 1.0), (1, 0, 0.5, 0.4), (0, 1, 0.5, 0.6), (0, 0, 0.0, 0.0)))
    # about its mean of 0.5 TrustOV is 0.5 -0.1 0.1 -0.5, and the labels are 0.5 0.5 -0.5 -0.5
    whole = 0.4 / 0.52**0.5
    assert gain(result, "trust_bc").gain.value == pytest.approx(whole)
    assert gain(result, "trust_fc").gain.value == pytest.approx(whole - 0.5**0.5)
    assert gain(result, "trust_fc").gain.n == 4


def test_without_all_three_scores_there_is_no_gain() -> None:
    assert result_of([respond(n, "a", n % 2, trust_bc=n % 2) for n in range(6)]).gains == ()
    two = result_of(scored((1, 1, 1.0, 1.0), (0, 0, 0.0, 0.0)))
    assert gain(two, "trust_fc").gain.undefined is Undefined.TOO_FEW
    constant = result_of(scored((1, 1, 0.5, 0.6), (0, 1, 0.5, 0.6), (0, 1, 0.5, 0.6)))
    assert gain(constant, "trust_bc").gain.undefined is Undefined.CONSTANT
    assert result_of(many_responses(20), method=Method.SPEARMAN).gains == ()


def test_few_questions_and_lost_resamples_have_no_interval() -> None:
    """As for a coefficient: nine questions are too few, and one label of twelve is missing from 35 % of resamples."""
    assert gain(result_of(many_responses(9)), "trust_bc", None).gain.interval is None
    rows = [(int(n == 0), n % 2, (n % 3) / 2, 0.2 * (n % 2) + 0.4 * (n % 3)) for n in range(12)]
    found = gain(result_of(scored(*rows)), "trust_bc").gain
    assert found.value is not None
    assert found.interval is None
