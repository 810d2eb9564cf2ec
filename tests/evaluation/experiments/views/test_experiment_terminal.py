"""An experiment on the terminal, wide and narrow, and with hostile texts."""

from __future__ import annotations

import io

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


def test_flips_are_bounded_and_counted() -> None:
    report = samples.ordinary()
    shown = printed(report)
    assert len(report.flips) > FLIPS_SHOWN
    assert sum(line.strip().startswith(("✓ → ✗", "✗ → ✓")) for line in shown.splitlines()) == FLIPS_SHOWN
    assert f"Claims that flipped ({len(report.flips)})" in shown
    assert "The JSON report, the page and its CSV have them all." in shown
