from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pytest
from rich.console import Console

from factloop.evaluation.runs.records import JudgedResponse, RunSummary
from factloop.evaluation.runs.summary import Scoring, summarise
from factloop.evaluation.runs.views.shown import print_run, render_run_html
from factloop.reports.figures import AS_IF_CORRECT, how_often_right
from tests.evaluation.runs.finished_runs import judged

RESPONSES = (
    judged("p1", "ssn"),
    judged("p2", "si?"),
    judged("p3", ""),
    judged("p1", "nn", system="two"),
    judged("p2", "??", system="two"),
)


def summary_of(responses: Sequence[JudgedResponse] = RESPONSES, **scoring: Any) -> RunSummary:
    chosen = Scoring(**{"ks": (2, "median"), "resamples": 100, **scoring})
    return summarise(responses, kind="responses", data="x.jsonl", scoring=chosen, elapsed_s=65.0)


def printed(summary: RunSummary, *, width: int = 100) -> str:
    file = io.StringIO()
    print_run(summary, Console(file=file, width=width, _environ={"TERM": "xterm"}))
    return file.getvalue()


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("width", [100, 60])
def test_each_mean_stands_with_its_interval_and_its_n(width: int) -> None:
    text = words(printed(summary_of(), width=width))
    assert "one F1@2 0.489 [" in text  # (0.8 + 2/3 + 0) / 3
    assert "] 3 F1@1 (median) 0.600 [" in text  # (0.8 + 1 + 0) / 3
    assert "Precision 0.833 [" in text
    assert "two F1@2 0.000 – 1 F1@1 (median) 0.000 – 1 Precision 0.000 – 1 Precision if" in text
    # One: (2/3 + 1/2) / 2 and (2/3 + 1) / 2. Two: 0 and (0 + 1) / 2.
    known = ("0.583 to 0.833", "0.000 to 0.500", f"{how_often_right(summary_of().fingerprint)} {AS_IF_CORRECT}")
    assert all(one in shown for one in known for shown in (text, words(render_run_html(summary_of()))))
    assert "x.jsonl: 5 responses to 3 prompts" in text
    assert "a response without claims has F1@K 0, as in the paper's code (zero); 1 such response" in text
    assert "95%: Wilson's for shares, 100 resamples of prompts for means. Fewer than 30 prompts (at least 2)" in text
    assert "Time 1 min 5 s" in text
    assert "3 of 10 claims have no verdict: no answer in time (3)" in text


@pytest.mark.parametrize(("n_prompts", "is_said"), [(29, True), (30, False)])
def test_intervals_over_few_prompts_carry_the_caution_of_an_audit(n_prompts: int, is_said: bool) -> None:
    """95 % intervals of five prompts held the mean in 83 % of simulated samples, those of thirty in 93 %."""
    summary = summary_of([judged(f"p{n}", "snsn" if n % 2 else "ssn") for n in range(n_prompts)])
    said = f"Fewer than 30 prompts (at least {n_prompts}), so intervals are too narrow."
    assert (said in words(printed(summary))) is is_said
    assert (said in render_run_html(summary)) is is_said
