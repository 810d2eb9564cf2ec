from __future__ import annotations

import math
import random

import pytest
from pydantic import ValidationError

from factloop.agents.trustscore.records import Relation, TrustBC, TrustFC, TrustOV, TrustReport
from factloop.core.figure import Undefined
from factloop.core.files.json import to_json
from factloop.core.records import UnscoredReason, Usage
from factloop.evaluation.datasets.mixedqa import MixedQaResponse
from factloop.evaluation.mixedqa.published import PUBLISHED, SYSTEMS
from factloop.evaluation.mixedqa.scores import (
    MetricCorrelation,
    MixedQaResult,
    ScoredResponse,
    TrustMetric,
    metric_name,
    scored_response,
)
from tests.evaluation.mixedqa.mixedqa_sample import WHEN, fingerprint, many_responses, respond, result_of, sample_result
from tests.work import LINEAR, growth


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


def test_the_overall_score_is_correlated_for_itself() -> None:
    """1 1 0.8 0.8 rises and falls with TrustBC's 1 1 0 0, so the coefficient is the same."""
    found = find(worked_example(), TrustMetric.TRUST_OV, "a")
    assert found.correlation.value == pytest.approx(0.125 / math.sqrt(3 / 64))
    assert found.mean == pytest.approx(0.9)


def test_the_graded_score_stands_beside_the_binary_one() -> None:
    # 0.9 0.6 0.3 with 1 0 0: deviations .3 0 -.3 and 2/3 -1/3 -1/3: .3 / sqrt(.18 * 2/3)
    found = find(worked_example(), TrustMetric.TRUST_BC_GRADED, "a")
    assert found.correlation.value == pytest.approx(0.3 / math.sqrt(0.12))
    assert (found.n_scored, found.n_unscored) == (3, 1)


def test_what_has_no_spread_or_no_scores_is_undefined() -> None:
    result = worked_example()
    constant = find(result, TrustMetric.TRUST_FC, "a")
    assert (constant.correlation.value, constant.correlation.undefined) == (None, Undefined.CONSTANT)
    assert constant.mean == 1.0
    absent = find(result, TrustMetric.TRUST_FC, "b")
    assert (absent.correlation.value, absent.correlation.undefined) == (None, Undefined.TOO_FEW)
    assert (absent.mean, absent.n_scored, absent.n_unscored) == (None, 0, 4)


def test_labels_are_counted_for_each_system() -> None:
    result = worked_example()
    assert [(s.system, s.n_responses, s.n_correct) for s in result.systems] == [("a", 4, 1), ("b", 4, 3)]
    assert result.n_questions == 4


def test_nothing_scored_is_a_result_too() -> None:
    result = result_of([])
    assert (result.n_questions, result.systems) == (0, ())
    assert {found.correlation.undefined for found in result.correlations} == {Undefined.TOO_FEW}


def test_the_order_of_the_responses_changes_nothing_but_that_of_the_systems() -> None:
    responses = many_responses()
    shuffled = list(responses)
    random.Random(3).shuffle(shuffled)
    one, other = result_of(responses), result_of(shuffled)
    for system in (*SYSTEMS, None):
        for left, right in zip(one.of(system), other.of(system), strict=True):
            assert left.correlation == right.correlation
            assert left.mean == pytest.approx(right.mean)


def test_one_more_system_leaves_the_others_as_they_are() -> None:
    responses = many_responses()
    fewer = [response for response in responses if response.system != SYSTEMS[1]]
    for system in (SYSTEMS[0], SYSTEMS[2]):
        assert result_of(responses).of(system) == result_of(fewer).of(system)


def test_the_seed_decides_the_intervals() -> None:
    responses = many_responses()
    assert to_json(result_of(responses)) == to_json(result_of(responses))
    other = result_of(responses, fingerprint=fingerprint(seed=-8))
    low = [find(result, TrustMetric.TRUST_BC, None).correlation.low for result in (result_of(responses), other)]
    assert low[0] != low[1]


def test_a_system_answers_each_question_once() -> None:
    with pytest.raises(ValueError, match="each question once"):
        result_of([respond(1, "a", 1), respond(1, "a", 0)])


@pytest.mark.parametrize("label", [True, 2, "1", None])
def test_a_strange_label_is_refused(label: object) -> None:
    with pytest.raises(ValidationError, match="0 or 1"):
        ScoredResponse(question_id="q", system="a", human_correct=label)  # type: ignore[arg-type]  # what is tested


def test_no_correlation_may_be_missing_or_twice() -> None:
    result = sample_result()
    for wrong in (result.correlations[1:], (*result.correlations, result.correlations[0])):
        with pytest.raises(ValidationError, match="each metric has one correlation"):
            MixedQaResult(**{**dict(result), "correlations": wrong})


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


def test_the_whole_published_table_is_there() -> None:
    """Fifteen rows; Exact Match has two gaps. Sums of the columns, added up from the printed table."""
    assert len(PUBLISHED) == 15
    gaps = [(row.metric, system) for row in PUBLISHED for system in SYSTEMS if row.correlations[system] is None]
    assert gaps == [("Exact Match", "llama-7b"), ("Exact Match", "gpt-3.5-turbo")]
    # .635+.655+.536+.607+.603+.573+.570+.610 = 4.789; -.075-.055+.313 = .183; .070+.075+.593+.613 = 1.351
    assert sum(row.correlations["flan-t5-xxl"] or 0 for row in PUBLISHED) == pytest.approx(4.789 + 0.183 + 1.351)
    # .435+.376+.533+.536+.266+.474+.575 = 3.195; -.099-.081+.133 = -.047; .091+.186+.533+.539 = 1.349
    assert sum(row.correlations["llama-7b"] or 0 for row in PUBLISHED) == pytest.approx(3.195 - 0.047 + 1.349)
    # .289+.228+.382+.106+.087+.368+.453 = 1.913; -.151-.139+.353 = .063; -.013+.024+.449+.484 = .944
    assert sum(row.correlations["gpt-3.5-turbo"] or 0 for row in PUBLISHED) == pytest.approx(1.913 + 0.063 + 0.944)


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


def test_a_result_comes_back_from_json() -> None:
    result = sample_result()
    assert MixedQaResult.model_validate_json(to_json(result)) == result


def test_work_is_linear_in_the_questions() -> None:
    assert growth(lambda n: result_of(many_responses(n), resamples=20), 30) < LINEAR
