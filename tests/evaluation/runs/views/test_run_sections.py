"""Sections on people's labels and debiased figures in a run on the terminal."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from rich.console import Console

from factloop.evaluation.debiasing.records import Transfer
from factloop.evaluation.runs.calibration import calibrated
from factloop.evaluation.runs.label_agreement import TabledResponse, agree_with_labels, table_of
from factloop.evaluation.runs.labelled import CalibrationSample
from factloop.evaluation.runs.records import JudgedResponse
from factloop.evaluation.runs.views.calibration import print_calibration
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


def test_a_figure_that_is_undefined_says_why_and_repeats_are_counted() -> None:
    text = agreement(judged("p", "ss", labels="SS", texts=["a", "a"]))
    assert "1 fact of 1 response, 1 repeated fact left out of agreement, as in the paper" in " ".join(text.split())
    assert "TNR: people call none not supported" in text
    assert "Cohen’s kappa: all are of one and the same class" in text


SAMPLE = CalibrationSample(f"rows {HOSTILE}", (1, 1, 0, 0), (1, 0, 0, None), ("a", "b", "c", "d"))


def corrected(responses: list[JudgedResponse], sample: CalibrationSample = SAMPLE) -> str:
    rng = np.random.default_rng(0)
    found = calibrated(summary_of(responses), sample, transfer=Transfer.VERDICTS, rng=rng, resamples=50)
    return printed(print_calibration, found.calibration)


def test_the_checkers_own_rates_stand_on_the_terminal_with_interval_and_number_of_claims() -> None:
    """TPR 14 of 18 by Wilson with the variance of 17 claims and t 2.110; FPR 2 of 8 (one has no verdict)."""
    text = printed(print_calibration, labelled_run().calibration, 100)
    assert "The evaluator on the labelled claims" in text
    found = [row for row in rows(text) if row[:1] in (["TPR"], ["FPR"])]
    assert found[:2] == [
        ["TPR", "0.778", "[0.522,", "0.918]", "18", "supported,", "1", "without", "a", "verdict"],
        ["FPR", "0.250", "[0.052,", "0.670]", "8", "not", "supported"],
    ]
