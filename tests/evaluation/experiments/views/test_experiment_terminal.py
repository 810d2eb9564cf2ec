"""An experiment on the terminal, wide and narrow, and with hostile texts."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from factloop.evaluation.comparing.views.terminal import FLIPS_SHOWN
from factloop.evaluation.experiments.records import ExperimentReport
from factloop.evaluation.experiments.views.terminal import print_experiment
from tests.evaluation.experiments.views import experiment_samples as samples


def printed(report: ExperimentReport, width: int = 140, *, colour: bool = False) -> str:
    written = io.StringIO()
    print_experiment(report, Console(file=written, width=width, force_terminal=colour, color_system=None))
    return written.getvalue()


def joined(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("width", [140, 60])
def test_everything_is_said_at_every_width(width: int) -> None:
    report = samples.ordinary()
    shown = joined(printed(report, width))
    for one in report.conclusions:
        assert joined(one.words) in shown
    for words in ("baseline", "TPR", "bias", "irrelevant share", "left out", "Holm’s adjustment"):
        assert words in shown
    for caution in report.warnings:
        assert joined(caution) in shown


@pytest.mark.parametrize("width", [140, 100, 60, 40])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, printed(samples.ordinary(), width).splitlines())) <= width


def test_flips_are_bounded_and_counted() -> None:
    report = samples.ordinary()
    shown = printed(report)
    assert len(report.flips) > FLIPS_SHOWN
    assert sum(line.strip().startswith(("✓ → ✗", "✗ → ✓")) for line in shown.splitlines()) == FLIPS_SHOWN
    assert f"Claims that flipped ({len(report.flips)})" in shown
    assert "The JSON report, the page and its CSV have them all." in shown


def test_texts_are_texts() -> None:
    """No markup is read, and nothing that a terminal obeys arrives."""
    shown = printed(samples.hostile())
    assert not set(shown) & set("\x1b\x00\x07\r\x9b\u202e\u2066")
    assert "[bold]" in shown
    assert "{{ 7 * 7 }}" in shown


@pytest.mark.parametrize("report", [samples.of_nothing(), samples.of_one_variant(), samples.of_responses()])
def test_bare_experiments_have_a_report(report: ExperimentReport) -> None:
    for width in (140, 60):
        assert "Experiment" in printed(report, width)
