"""A MixedQA run on the terminal and as a page: the same figures, and where they stand on the plot."""

from __future__ import annotations

import io
import re
from typing import Any

import lxml.html
from rich.console import Console

from factloop.core.figure import Undefined
from factloop.evaluation.mixedqa.scores import MixedQaResult
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
from tests.evaluation.mixedqa.mixedqa_sample import (
    fingerprint,
    many_responses,
    respond,
    result_of,
    sample_result,
)


def printed(result: MixedQaResult, width: int = 100) -> str:
    file = io.StringIO()
    print_mixedqa(result, Console(file=file, width=width, force_terminal=False, _environ={"TERM": "xterm"}))
    return file.getvalue()


def words(text: str) -> str:
    return " ".join(text.split())


def parsed(html: str) -> Any:
    return lxml.html.document_fromstring(html)


def rows_of(html: str) -> list[list[str]]:
    """The cells of each table row as text."""
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
        "openai:gpt-4o-mini was asked about the responses of every system; in the paper each is asked about its own.",
        "95% intervals by 200 resamples of whole questions",
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
    assert interval(correlation()) == "none: nothing drawn"
    assert resampling([correlation()]) == "There are no intervals: they need 10 questions."
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
