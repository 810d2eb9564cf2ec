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
from factloop.evaluation.runs.views import calibration_sheets
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
    assert lines[preferred - 2].split()[:4] == ["Precision,", "all", "claims", "raw"]
    assert lines[preferred - 1].strip() == "247 claims"
    assert [line.strip() for line in lines[preferred + 1 : preferred + 3]] == [
        "λ 0.42: 58% from labels alone",
        "247 claims, 26 labels",
    ]
    assert next(line.strip() for line in lines if "mistral-7b" in line) == "mistral-7b"


def test_a_correction_that_cannot_be_made_says_why() -> None:
    text = corrected([judged("p", "sn")], CalibrationSample("x", (1,), (None,)))
    assert "no labels to go by" in text


def test_every_figure_says_on_how_many_it_rests() -> None:
    """3 responses of 4 claims; of 4 labelled claims 3 have a verdict. On the page as on the terminal."""
    responses = [judged(f"p{n}", "snsn" if n else "ssss") for n in range(3)]
    found = calibrated(
        summary_of(responses), SAMPLE, transfer=Transfer.VERDICTS, rng=np.random.default_rng(0), resamples=50
    ).calibration
    assert found is not None
    said = [(line.cells[1].text, line.cells[2].basis) for line in calibration_sheets.corrected(found).lines]
    assert said == [
        ("Precision, all claims", "12 claims"),
        ("Precision, all claims", "12 claims, 3 labels"),
        ("Precision, all claims", "12 claims, 3 labels"),
        ("F1@2", "3 responses"),
        ("F1@2", "3 responses, 3 labels"),
    ]
    text = corrected(responses)
    assert [text.count(words) for words in ("12 claims", "3 responses", "3 labels")] == [3, 2, 3]
    assert "“Precision” of the scores is the mean over responses" in " ".join(text.split())


def test_where_nothing_varies_there_is_no_interval_and_the_line_says_why() -> None:
    """Each response has 2 of 4: by the scores and here 0.500 without an interval, which had been [0.500, 0.500]."""
    responses = [judged(f"p{n}", "snsn") for n in range(3)]
    text = corrected(responses)
    raw = [row for row in rows(text) if row[-1:] == ["–"]]
    assert [row[-2:] for row in raw] == [["0.500", "–"], ["undefined", "–"], ["0.667", "–"], ["0.845", "–"]]
    assert any(row[-3:] == ["labels,", "all", "alike"] for row in rows(text))  # one label of a claim called so
    assert [row[-2:] for row in rows(text)].count(["nothing", "varies"]) == 2
    assert "[0.500, 0.500]" not in text
    assert "nothing varies from prompt to prompt, which is no certainty" in " ".join(text.split())
    one = corrected(responses[:1])
    assert ["a", "single", "group"] in [row[-3:] for row in rows(one)]


@pytest.mark.parametrize("width", [80, 120])
def test_reasons_of_undefined_figures_are_set_in_the_width_of_the_terminal(width: int) -> None:
    """TPR 1/2 and FPR 1/2: the evaluator may be guessing. The table says "undefined", the lines under it why."""
    guessing = CalibrationSample("x", (1, 1, 0, 0), (1, 0, 1, 0), ("a", "b", "c", "d"))
    found = calibrated(
        summary_of([judged(f"p{n}", "snsn") for n in range(3)]),
        guessing,
        transfer=Transfer.VERDICTS,
        rng=np.random.default_rng(0),
        resamples=50,
    ).calibration
    lines = printed(print_calibration, found, width).splitlines()
    (value,) = [line for line in lines if "adjusted count" in line and "undefined" in line]
    assert value.split()[-2:] == ["undefined", "–"]
    (why,) = [line for line in lines if "may be guessing" in line]
    assert why.split()[:2] == ["Undefined", "the"]
    assert len(why) > 0.7 * width
    assert ["evaluator"] not in [line.split() for line in lines], "no word on a line by itself"


@pytest.mark.parametrize("width", [40, 100])
def test_hostile_names_are_shown_as_text(width: int) -> None:
    responses = [judged("p", "sn", labels="SN", system=HOSTILE)]
    tabled = [TabledResponse(one.system, "p", table_of(one.report.claims, one.labels)) for one in responses]
    assert "\x1b" not in printed(print_agreement, agree_with_labels(tabled), width)
    assert "\x1b" not in corrected(responses)


def test_the_checkers_own_rates_stand_on_the_terminal_with_interval_and_number_of_claims() -> None:
    """TPR 14 of 18 by Wilson with the variance of 17 claims and t 2.110; FPR 2 of 8 (one has no verdict)."""
    text = printed(print_calibration, labelled_run().calibration, 100)
    assert "The evaluator on the labelled claims" in text
    found = [row for row in rows(text) if row[:1] in (["TPR"], ["FPR"])]
    assert found[:2] == [
        ["TPR", "0.778", "[0.522,", "0.918]", "18", "supported,", "1", "without", "a", "verdict"],
        ["FPR", "0.250", "[0.052,", "0.670]", "8", "not", "supported"],
    ]


def test_a_caution_of_many_figures_says_where_all_of_them_are_named() -> None:
    text = " ".join(printed(print_calibration, labelled_run().calibration, 100).split())
    assert "more: --html and --json say where)" in text
