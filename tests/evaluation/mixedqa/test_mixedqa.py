from __future__ import annotations

import io
import math
import re
from typing import Any

import lxml.html
import pytest
from rich.console import Console

from factloop.agents.trustscore.records import Relation, TrustBC, TrustFC, TrustOV, TrustReport
from factloop.core.figure import Undefined
from factloop.core.records import UnscoredReason, Usage
from factloop.evaluation.datasets.mixedqa import MixedQaResponse
from factloop.evaluation.mixedqa.scores import (
    SYSTEMS,
    Gain,
    MetricCorrelation,
    MixedQaResult,
    ScoredResponse,
    TrustMetric,
    metric_name,
    scored_response,
)
from factloop.evaluation.mixedqa.views import (
    Axis,
    coefficient,
    interval,
    outcome,
    print_mixedqa,
    render_mixedqa_html,
    resampling,
)
from factloop.evaluation.statistics.correlation import Correlation, Method
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
    with pytest.raises(ValueError, match="answer a question only once"):
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


def printed(result: MixedQaResult, width: int = 100) -> str:
    file = io.StringIO()
    print_mixedqa(result, Console(file=file, width=width, force_terminal=False, _environ={"TERM": "xterm"}))
    return file.getvalue()


def words(text: str) -> str:
    return " ".join(text.split())


def parsed(html: str) -> Any:
    return lxml.html.document_fromstring(html)


def rows_of(html: str) -> list[list[str]]:
    rows = parsed(html).xpath("//tr")
    return [[words(cell.text_content()) for cell in row.xpath("./th | ./td")] for row in rows]


def small_result() -> MixedQaResult:
    """Three times labels 1 0 0 0 with TrustBC 1 1 0 0 (r .577), TrustFC 1 for all, and a response without scores."""
    rows = 3 * [(1, 1.0), (1, 1.0), (0, 1.0), (0, 1.0), (None, None)]
    given = enumerate(rows)
    return result_of([respond(n, "llama-7b", int(n % 5 == 0), trust_bc=bc, trust_fc=fc) for n, (bc, fc) in given])


def test_each_score_stands_beside_the_papers_with_its_n() -> None:
    text = printed(small_result())
    llama = words(text.split("llama-7b: 15 responses, 20% judged correct ─")[1].split("All systems")[0])
    assert "Score Pearson 95% interval Paper n Unscored" in llama
    assert re.search(r"TrustBC 0\.577 \[\S+ \S+\] 0\.133 12 3", llama)
    assert "TrustFC undefined – 0.533 12 3 constant" in llama
    assert "TrustOV undefined – 0.539 0 15 too few" in llama
    assert "TrustFC undefined – – 12 3 constant" in words(text.split("All systems: 15 responses")[1])
    rows = rows_of(render_mixedqa_html(small_result()))
    place = rows.index(["llama-7b: 15 responses, 20% judged correct"])
    belief, documents, overall = rows[place + 1 : place + 4]
    assert belief[:2] + belief[4:] == ["TrustBC", "0.577", "0.133", "12", "3", "0.500"]
    assert documents == ["TrustFC", "undefined: constant", "", "–", "0.533", "12", "3", "1.000"]
    assert overall == ["TrustOV", "undefined: too few", "", "–", "0.539", "0", "15", "–"]


def test_the_graded_score_is_shown_where_there_is_one() -> None:
    assert "graded" not in printed(sample_result())
    graded = [response.model_copy(update={"trust_bc_graded": 0.5}) for response in many_responses(4)]
    assert "TrustBC, graded undefined – – 4" in words(printed(result_of(graded)))


def test_both_say_who_was_asked_and_how_the_intervals_came_about() -> None:
    terminal = words(printed(sample_result(), 160).split("Result ─")[1])
    page = words(parsed(render_mixedqa_html(sample_result())).text_content())
    for said in (
        "openai:gpt-4o-mini was asked about the responses of every system; in the paper, each is asked about its own.",
        "95% intervals from 200 resamples of whole questions",
        "3 calls failed and were retried.",
    ):
        assert said in terminal
        assert said in page
    nobody = result_of(many_responses(3), fingerprint=fingerprint(subject_model=None, judge=None))
    assert "Subject No subject model was asked. Judge none: no corpus" in words(printed(nobody))


def correlation(value: float | None = 0.3126, **changes: Any) -> Correlation:
    given: dict[str, Any] = {"method": Method.PEARSON, "value": value, "n": 998, "n_clusters": 998}
    return Correlation(**{**given, **changes})


def test_coefficients_and_their_intervals_in_words() -> None:
    """One match among five questions: (4/5)**5 of the resamples lack it. 100 of 2,000 is a twentieth, 101 is more."""
    given = (0.3126, -0.0751, 1.0, -0.0004, -0.0006, None)
    assert [coefficient(value) for value in given] == ["0.313", "-0.075", "1.000", "0.000", "-0.001", "–"]
    assert outcome(correlation()) == "0.313"
    assert outcome(correlation(None, undefined=Undefined.CONSTANT)) == "undefined (constant)"
    assert interval(correlation(low=-0.02, high=0.4)) == "[-0.020, 0.400]"
    assert interval(correlation(None, undefined=Undefined.CONSTANT)) == "–"
    assert interval(correlation(n=5, n_clusters=5)) == "none: 5 questions"
    lost = correlation(n_resamples=2000, n_resamples_undefined=101)
    assert interval(lost) == "none: undefined in 5.05% of resamples"
    assert interval(correlation(n_resamples=2000, n_resamples_undefined=100)) == "none: nothing varies"
    assert interval(correlation()) == "none: no resamples"
    assert resampling([correlation()]) == "There are no intervals, because they need at least 10 questions."
    drawn = correlation(low=0.1, high=0.5, n_resamples=2000, n_resamples_undefined=3)
    assert "2,000 resamples of whole questions; up to 3 resamples without" in resampling([correlation(), drawn, lost])


def test_the_plot_shows_what_the_table_says() -> None:
    result = small_result()
    one = result.of("llama-7b")[0].correlation
    every = [found.correlation for found in result.correlations]
    axis = Axis.around(every, [result.paper(found.name, found.system) for found in result.correlations])
    (figure, constant, *_) = parsed(render_mixedqa_html(result)).xpath("//svg[@role='img']")
    assert figure.xpath(".//circle/@cx") == [axis.at(one.value or 0.0)]
    assert figure.xpath(".//line[@class='whisker']/@x1") == [axis.at(one.low or 0.0)]
    assert figure.xpath(".//svg[@class='paper']/@x") == [axis.at(0.133)]
    assert figure.get("aria-label").startswith("0.577, interval [")
    assert not constant.xpath(".//circle | .//line[@class='whisker']")
