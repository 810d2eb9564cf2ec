from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from factloop.evaluation.audit.views.shown import print_audit
from factloop.evaluation.cascades.views import print_cascade
from factloop.evaluation.comparing.views.shown import print_comparison
from factloop.evaluation.experiments.views.shown import print_experiment
from factloop.evaluation.mixedqa.views import print_mixedqa
from factloop.evaluation.runs.views.shown import print_run
from tests.evaluation.audit.views.audit_sample import bare_audit, hostile_audit, small_audit
from tests.evaluation.cascades.cascade_samples import hostile_cascade, tuned_cascade
from tests.evaluation.experiments.views import experiment_samples as experiments
from tests.evaluation.mixedqa.mixedqa_sample import sample_result
from tests.evaluation.runs.views.run_samples import (
    empty_run,
    hostile_comparison,
    hostile_run,
    labelled_run,
    nothing_to_compare,
    two_evaluators,
    two_systems,
)
from tests.reports.page_samples import hostile_mixedqa

VIEWS: dict[str, tuple[Callable[..., None], Callable[[], Any]]] = {
    "audit": (print_audit, small_audit),
    "bare audit": (print_audit, bare_audit),
    "hostile audit": (print_audit, hostile_audit),
    "cascade": (print_cascade, tuned_cascade),
    "hostile cascade": (print_cascade, hostile_cascade),
    "comparison of evaluators": (print_comparison, two_evaluators),
    "comparison of systems": (print_comparison, two_systems),
    "comparison of nothing": (print_comparison, nothing_to_compare),
    "hostile comparison": (print_comparison, hostile_comparison),
    "experiment": (print_experiment, experiments.ordinary),
    "experiment on responses": (print_experiment, experiments.of_responses),
    "experiment of one variant": (print_experiment, experiments.of_one_variant),
    "experiment of nothing": (print_experiment, experiments.of_nothing),
    "hostile experiment": (print_experiment, experiments.hostile),
    "MixedQA": (print_mixedqa, sample_result),
    "hostile MixedQA": (print_mixedqa, hostile_mixedqa),
    "run": (print_run, labelled_run),
    "empty run": (print_run, empty_run),
    "hostile run": (print_run, hostile_run),
}


@pytest.mark.parametrize("width", [140, 80, 40])
@pytest.mark.parametrize("name", VIEWS)
def test_lines_fit_and_texts_are_shown_and_not_obeyed(name: str, width: int) -> None:
    show, made = VIEWS[name]
    file = io.StringIO()
    show(made(), Console(file=file, width=width, color_system=None, _environ={"TERM": "xterm"}))
    shown = file.getvalue()
    assert not set(shown) & set("\x1b\x00\x07\r\x9b\u202e\u2066")
    for line in shown.splitlines():
        assert sum(2 if 0x2E80 < ord(one) < 0xFFFD else 1 for one in line) <= width
    if name.startswith(("comparison", "run", "MixedQA")):
        assert "…" not in shown, "a name or a number is cut"
