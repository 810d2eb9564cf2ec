from __future__ import annotations

import csv
import io
import json
from functools import cache
from typing import Any
from xml.etree import ElementTree

import lxml.html
import pytest
from rich.console import Console

from factloop.evaluation.comparing.records import DemandResult, Quantity
from factloop.evaluation.comparing.views.shown import FLIPS_SHOWN
from factloop.evaluation.experiments.records import ExperimentReport
from factloop.evaluation.experiments.views import sheets
from factloop.evaluation.experiments.views.shown import (
    print_experiment,
    prompt_diffs,
    render_experiment_html,
    render_junit,
)
from tests.evaluation.experiments.sample import PROMPT, STRICT
from tests.evaluation.experiments.views import experiment_samples as samples
from tests.evaluation.held_files import held_files


@cache
def page() -> str:
    return render_experiment_html(samples.ordinary())


def tree(html: str) -> Any:
    return lxml.html.document_fromstring(html)


def test_prompts_stand_line_by_line() -> None:
    (found,) = prompt_diffs(samples.ordinary())
    assert (found.variant, found.prompt) == ("strict", "safe/assessment")
    assert (len(PROMPT.splitlines()), len(STRICT.splitlines())) == (2, 3)
    assert found.lines == (
        ("same", "Is the claim supported by the passages?"),
        ("in", "All of it must be stated."),
        ("same", "Answer with one word."),
    )
    assert [one.text_content() for one in tree(page()).xpath("//ins")] == ["added: + All of it must be stated."]


def test_the_head_begins_with_the_outcome() -> None:
    (first,) = tree(page()).xpath("//p[@class='needs']")
    assert first.text_content().startswith("strict against packaged: no difference shown; short against")


def test_all_of_it_can_be_downloaded() -> None:
    report, files = samples.ordinary(), held_files(page())
    assert ExperimentReport.model_validate(json.loads(files["experiment.json"])) == report
    rows = list(csv.DictReader(io.StringIO(files["flips.csv"], newline="")))
    assert [row["first_claim_id"] for row in rows] == [one.first_side.claim_id for one in report.flips]
    assert {row["direction"] for row in rows} <= {"better", "worse", "neutral"}
    for name, n in (
        ("differences", len(report.differences)),
        ("variants", sum(len(one.figures) + 1 for one in report.variants)),  # its own, and its stability
        ("items", report.n_items),
    ):
        assert len(list(csv.DictReader(io.StringIO(files[f"{name}.csv"], newline="")))) == n


def test_a_table_has_the_cost_of_as_many_claims_as_it_says() -> None:
    report = samples.ordinary()
    sheet = sheets.variants(report)
    (place,) = [at for at, one in enumerate(sheet.columns) if one.head == "Cost of 1,000 claims"]
    for one, line in zip(report.variants, sheet.lines, strict=True):
        figure = one.find(Quantity.COST_USD)
        assert figure is not None
        assert line.cells[place].value == pytest.approx(1000 * (figure.value or 0.0))


def printed(report: ExperimentReport) -> str:
    written = io.StringIO()
    print_experiment(report, Console(file=written, width=140, force_terminal=False, color_system=None))
    return written.getvalue()


def test_flips_are_bounded_and_counted() -> None:
    report = samples.ordinary()
    shown = printed(report)
    assert len(report.flips) > FLIPS_SHOWN
    assert sum(line.strip().startswith(("✓ → ✗", "✗ → ✓")) for line in shown.splitlines()) == FLIPS_SHOWN
    assert f"Claims that flipped ({len(report.flips)})" in shown
    assert "The JSON report, the page and its CSV contain all of them." in shown


def test_no_text_breaks_the_xml_of_a_gate() -> None:
    said = DemandResult(
        metric="tpr",
        demand="tpr\ufffe",
        first="a",
        second="b\x1b",
        is_met=False,
        words="no\uffff",
        claims=("x\ufffe\x00",),
    )
    report = samples.ordinary().model_copy(update={"demands": (said,), "name": "n\ufffe\x01"})
    suite = ElementTree.fromstring(render_junit(report))
    assert suite.findtext(".//failure") == "x\u2400"
