"""Sections on people's labels and debiased figures in a run on the terminal."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from factloop.evaluation.debiasing.records import Transfer
from factloop.evaluation.runs.calibration import calibrated
from factloop.evaluation.runs.calibration_sample import CalibrationSample
from factloop.evaluation.runs.label_agreement import TabledResponse, agree_with_labels, table_of
from factloop.evaluation.runs.records import JudgedResponse
from factloop.evaluation.runs.views.calibration_terminal import print_calibration
from factloop.evaluation.runs.views.terminal import print_agreement
from tests.evaluation.runs.finished_runs import judged, summary_of
from tests.evaluation.runs.views.run_samples import labelled_run

HOSTILE = "\x1b[31m[bold]x[/bold]"


def printed(show: Any, found: Any, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width, markup=False, highlight=False, emoji=False)
    show(found, console)
    text = console.file.getvalue()  # type: ignore[attr-defined]  # it is the StringIO
    assert all(len(line) <= width for line in text.splitlines())
    return str(text)


def agreement(*responses: JudgedResponse) -> str:
    tabled = [TabledResponse(one.system, one.prompt_id, table_of(one.report.claims, one.labels)) for one in responses]
    return printed(print_agreement, agree_with_labels(tabled, rng=np.random.default_rng(0), resamples=50))


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_each_figure_stands_with_its_interval_and_what_it_rests_on() -> None:
    text = agreement(judged("p", "snni?", labels="SNSIS"), judged("q", "ss", labels="SN", system="two"))
    assert ["one", "Agreement", "0.750", "–", "4"] in rows(text)  # of s, n, n, i one is not the label
    assert ["TPR", "0.500", "–", "2"] in rows(text)
    assert "7 facts of 2 responses, 1 of them unscored" in text
    (overall,) = [row for row in rows(text) if row[:3] == ["All", "systems", "Agreement"]]
    assert overall[3] == "0.667"  # 4 of 6
    assert overall[-1] == "6"
    assert overall[4].startswith("[")


def test_the_table_has_each_label_by_each_verdict() -> None:
    text = agreement(judged("p", "snni?", labels="SNSIS"))
    assert rows(text)[-5:-1] == [
        ["System", "Label", "Supported", "Not", "supported", "Irrelevant", "Unscored"],
        ["one", "supported", "1", "1", "0", "1"],
        ["not", "supported", "0", "1", "0", "0"],
        ["irrelevant", "0", "0", "1", "0"],
    ]
    assert "All systems" not in text


def test_a_figure_that_is_undefined_says_why_and_repeats_are_counted() -> None:
    text = agreement(judged("p", "ss", labels="SS", texts=["a", "a"]))
    assert "1 fact of 1 response, 1 repeated fact left out of agreement, as in the paper" in " ".join(text.split())
    assert "TNR: people call none not supported" in text
    assert "Cohen’s kappa: all are of one and the same class" in text


def test_without_a_labelled_fact_there_is_nothing_to_show() -> None:
    assert "0 facts of 0 responses" in agreement()


SAMPLE = CalibrationSample(f"rows {HOSTILE}", (1, 1, 0, 0), (1, 0, 0, None), ("a", "b", "c", "d"))


def corrected(responses: list[JudgedResponse], sample: CalibrationSample = SAMPLE) -> str:
    rng = np.random.default_rng(0)
    found = calibrated(summary_of(responses), sample, transfer=Transfer.VERDICTS, rng=rng, resamples=50)
    return printed(print_calibration, found.calibration)


def test_raw_and_corrected_figures_stand_side_by_side() -> None:
    text = corrected([judged(f"p{n}", "snsn") for n in range(3)])
    assert ["one"] in rows(text), "a heading, with its own first letter"
    assert ["Precision,", "all", "claims", "raw", "0.500"] in [row[:5] for row in rows(text)]
    assert any(row[:2] == ["F1@2", "raw"] for row in rows(text))
    assert "4 claims of rows" in text
    assert "1 of them without a verdict" in text
    assert "Caution" in text
    assert "few labelled claims" in text


def test_figures_fit_a_terminal_of_80_columns_without_folded_words() -> None:
    """The widest words of such a table: of the preferred figure, and what it rests on."""
    lines = printed(print_calibration, labelled_run().calibration, 80).splitlines()
    preferred = next(
        at for at, line in enumerate(lines) if "prediction-powered, preferred  0.763  [0.486, 0.944]" in line
    )
    assert lines[preferred - 1].split()[:4] == ["Precision,", "all", "claims", "raw"]
    assert lines[preferred + 1].strip() == "λ 0.42: 58% from labels alone"
    assert next(line.strip() for line in lines if "mistral-7b" in line) == "mistral-7b"


def test_a_correction_that_cannot_be_made_says_why() -> None:
    text = corrected([judged("p", "sn")], CalibrationSample("x", (1,), (None,)))
    assert "no labels to go by" in text


@pytest.mark.parametrize("width", [40, 100])
def test_hostile_names_are_shown_as_text(width: int) -> None:
    responses = [judged("p", "sn", labels="SN", system=HOSTILE)]
    tabled = [TabledResponse(one.system, "p", table_of(one.report.claims, one.labels)) for one in responses]
    assert "\x1b" not in printed(print_agreement, agree_with_labels(tabled), width)
    assert "\x1b" not in corrected(responses)
