from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import lxml.html

from factloop.evaluation.comparing.records import Comparison
from factloop.evaluation.comparing.views.shown import render_comparison_html
from factloop.evaluation.debiasing.records import Caution
from factloop.evaluation.runs.longform import AbstentionPolicy
from factloop.evaluation.runs.records import RunSummary
from factloop.evaluation.runs.views.calibration import assumptions, in_short
from factloop.evaluation.runs.views.calibration import tiles as tiles_of
from factloop.evaluation.runs.views.shown import render_run_html
from tests.evaluation.held_files import held_files
from tests.evaluation.runs.finished_runs import judged, summary_of
from tests.evaluation.runs.views.run_samples import labelled_run, responses, two_evaluators
from tests.reports.page_samples import PAGES


def words(element: Any) -> str:
    return " ".join(element.text_content().split())


def table(tree: Any, label: str) -> list[list[str]]:
    (found,) = tree.xpath(f"//*[@role='group'][@aria-label={json.dumps(label)}]//table")
    return [[words(cell) for cell in row.xpath("./th | ./td")] for row in found.xpath(".//tr")]


def parsed(page: str) -> Any:
    return lxml.html.document_fromstring(page)


def test_scores_stand_with_their_intervals_and_what_they_rest_on() -> None:
    """F1@2 of ss, sn and nothing: 1, .5, 0; precision 1 and .5."""
    run = summary_of([judged("p1", "ss"), judged("p2", "sni?"), judged("p3", "")])
    tree = parsed(render_run_html(run))
    _, row = table(tree, "Scores of each system")
    low, high = run.scores.systems[0].at_k[0].f1.low, run.scores.systems[0].at_k[0].f1.high
    assert row[1] == f"0.500 [{low:.3f}, {high:.3f}] 3 responses"
    assert row[2].startswith("0.750 [")
    assert row[2].endswith("] 2 responses")
    assert table(tree, "Claims")[1][1:] == ["3", "1", "0", "6", "3", "1", "1", "1"]
    assert "Abstentions: a response without claims has F1@K 0" in words(tree)
    left_out = parsed(render_run_html(summary_of([judged("p", "")], abstention=AbstentionPolicy.EXCLUDE)))
    assert table(left_out, "Scores of each system")[1][1] == "undefined: nothing scored 0 responses"
    assert "a response without claims is left out of all means (exclude)" in words(left_out)


def test_the_worst_responses_come_first() -> None:
    given = [judged("p1", "ss"), judged("p2", "nnn"), judged("p3", ""), judged("p4", "??"), judged("p5", "n")]
    rows = table(parsed(render_run_html(summary_of(given))), "Responses")[1:]
    assert [row[0] for row in rows] == ["p2", "p5", "p1", "p3", "p4"]


def test_labels_and_corrections_are_there_where_there_are_any() -> None:
    run = labelled_run()
    tree = parsed(render_run_html(run))
    assert run.agreement is not None
    rows = table(tree, "Agreement with human labels")
    assert [row[0] for row in rows] == ["System", "gpt-4o-mini", "llama-3-8b", "mistral-7b", "All systems"]
    assert rows[-1][1].startswith(f"{run.agreement.overall.agreement.value:.3f} [")
    heads = [f"F1@{k}, {by}" for k in (8, 64) for by in ("verdicts", "labels")]
    assert table(tree, "F1@K from verdicts and from labels")[0][1:5] == heads
    corrected = table(tree, "Raw and corrected")
    assert len(corrected) == 1 + 3 * (3 + 2 * 2)
    methods = [row[2] for row in corrected[1:4]]
    assert (methods[0], methods[2]) == ("raw 247 claims", "adjusted count 247 claims, 26 labels")
    preferred = r"prediction-powered, preferred weight of verdicts: λ = 0\.\d\d 247 claims, 26 labels"
    assert re.fullmatch(preferred, methods[1])
    assert "few labelled claims" in words(tree)
    assert run.calibration is not None
    assert [f"Assumed {said}." in words(tree) for said in assumptions(run.calibration)] == [True]
    short = list(in_short(run.calibration))
    assert [said in words(tree) for said in short] == [True] * 3
    one = run.calibration.systems[0]
    figure = {"value": 0.78, "low": 0.6, "high": 0.92, "n_labels": 20, "n_label_groups": 10}
    no_interval = {"low": None, "high": None, "cautions": (Caution.ONE_GROUP,)}
    # Half as wide again and a bit, 0.16 instead of 0.10: 10 * 1.6 ** 2 = 25.6 prompts.
    sentences: list[tuple[dict[str, Any], int, str]] = [
        ({}, 10, "With your 20 labels: about 78% of its 247 claims with a verdict are supported, anywhere "
         "from 60 to 92%; the other 10 are not covered. Labels on about 26 prompts, not 10, would give ±10 points."),
        ({}, 0, "With your 20 labels: about 78% of its claims are supported, anywhere from 60 to 92%. Labels on about "
         "26 prompts, not 10, would give ±10 points."),
        ({"low": 0.78, "high": 0.78}, 10, "Every claim with a verdict is labelled: 193 of 247 are supported (78%); "
         "not covered: 10 without a verdict."),
        (no_interval, 0, "No conclusion yet: the labels or the run's claims come from a single prompt, so there is no "
         "interval. Not used: 1 label on claims without a verdict. You need labels on at least 30 prompts."),
    ]  # fmt: skip
    for change, n_unscored, sentence in sentences:
        best = one.precision.prediction_powered.model_copy(update=figure | change)
        precision = one.precision.model_copy(update={"prediction_powered": best, "n_run_unscored": n_unscored})
        known = one.model_copy(update={"precision": precision})
        assert list(in_short(run.calibration.model_copy(update={"systems": (known,)}))) == [sentence]
        assert ("all labelled" in str(tiles_of(known))) == ("Every" in sentence)
    only = parsed(render_run_html(labelled_run([one for one in responses() if one.system == "gpt-4o-mini"])))
    assert "Only corrected figures allow for wrong verdicts. Abstentions" in words(only)
    tiles = dict(zip(*(map(words, only.xpath(f"//dl[@class='figures']//{tag}")) for tag in ("dt", "dd")), strict=True))
    raw, row = table(only, "Raw and corrected")[1:3]
    said = f"{row[3]} {row[4]}, 247 claims with a verdict; {raw[3]} before correction"
    assert tiles["Claims supported, corrected"] == said
    assert tiles["Precision if unscored claims are wrong or right"] in words(only)
    raw = [f"{name}, before correction" for name in ("F1@8", "F1@64", "Precision", "Fully supported")]
    assert [name for name in tiles if "correct" in name] == ["Claims supported, corrected", *raw]
    plain = PAGES["plain run over a data set"]
    for part in ("Against people", "Raw and corrected", "Ranking of systems"):
        assert part not in plain


def test_the_data_can_be_taken_along() -> None:
    run = labelled_run()
    found = held_files(render_run_html(run))
    assert RunSummary.model_validate_json(found["summary.json"]) == run
    rows = list(csv.DictReader(io.StringIO(found["responses.csv"])))
    assert len(rows) == len(run.responses)
    assert sum(int(row["supported"]) for row in rows) == sum(one.counts.supported for one in run.scores.systems)
    curve = list(csv.DictReader(io.StringIO(found["curve.csv"])))
    assert float(curve[0]["mistral-7b"]) == run.curve[0].f1["mistral-7b"]
    comparison = two_evaluators()
    found = held_files(render_comparison_html(comparison))
    assert Comparison.model_validate_json(found["comparison.json"]) == comparison
    assert len(list(csv.DictReader(io.StringIO(found["pairs.csv"])))) == len(comparison.pairs)
    assert len(list(csv.DictReader(io.StringIO(found["flips.csv"])))) == len(comparison.flips)


def test_a_comparison_says_what_it_found() -> None:
    comparison = two_evaluators()
    tree = parsed(render_comparison_html(comparison))
    said = [words(one) for one in tree.xpath("//ul[@class='said']/li")]
    assert said[: len(comparison.conclusions)] == list(comparison.conclusions)
    rows = table(tree, "Differences, B minus A")
    assert [row[8:] for row in rows[1:]] == [
        [
            f"{one.first_higher} / {one.equal} / {one.second_higher}",
            f"{one.n} from {one.n_groups} prompts{f', {one.n_left_out} excluded' if one.n_left_out else ''}",
        ]
        for one in comparison.differences
    ]
    assert comparison.claims is not None
    verdicts = table(tree, "Verdicts on the same claims, A in rows, B in columns")
    assert [[int(cell) for cell in row[1:]] for row in verdicts[1:]] == [list(row) for row in comparison.claims.table]
    assert len(tree.xpath("//li[@class='claim']")) == len(comparison.flips)
    differing = [["model", "sim:judge", "openai:gpt-4o"], ["search_tools", "none", "serper"]]
    assert table(tree, "Settings that differ")[1:] == differing
