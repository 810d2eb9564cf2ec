from __future__ import annotations

import io

import pytest
from rich.console import Console

from factloop.evaluation.mixedqa.scores import MixedQaResult
from factloop.evaluation.mixedqa.views.terminal import print_mixedqa
from tests.evaluation.mixedqa.mixedqa_sample import (
    SYSTEMS,
    fingerprint,
    many_responses,
    respond,
    result_of,
    sample_result,
)
from tests.reports.sample import HOSTILE


def printed(result: MixedQaResult, *, width: int = 100, terminal: bool = False) -> str:
    file = io.StringIO()
    print_mixedqa(result, Console(file=file, width=width, force_terminal=terminal, _environ={"TERM": "xterm"}))
    return file.getvalue()


def words(text: str) -> str:
    return " ".join(text.split())


def small_result() -> MixedQaResult:
    """Three times labels 1 0 0 0 with TrustBC 1 1 0 0 (r .577), TrustFC 1 for all, and a response without scores."""
    rows = 3 * [(1, 1.0), (1, 1.0), (0, 1.0), (0, 1.0), (None, None)]
    given = enumerate(rows)
    return result_of([respond(n, "llama-7b", int(n % 5 == 0), trust_bc=bc, trust_fc=fc) for n, (bc, fc) in given])


def test_each_score_stands_beside_the_papers_with_its_n() -> None:
    text = printed(small_result())
    llama = words(text.split("llama-7b: 15 responses, 20% judged correct ─")[1].split("All systems")[0])
    assert "Score Pearson 95% interval Paper n Unscored" in llama
    assert "TrustBC 0.577 [" in llama
    assert "] 0.133 12 3" in llama
    assert "TrustFC undefined – 0.533 12 3 constant" in llama
    assert "TrustOV undefined – 0.539 0 15 too few" in llama
    overall = words(text.split("All systems: 15 responses")[1].split("Result ─")[0])
    assert "TrustFC undefined – – 12 3 constant" in overall


def test_a_narrow_terminal_stacks_the_same_numbers() -> None:
    llama = words(printed(small_result(), width=40).split("All systems")[0])
    assert "TrustBC Pearson: 0.577 95% interval: [" in llama
    assert "Paper: 0.133 n: 12 Unscored: 3" in llama
    assert "TrustFC Pearson: undefined: constant 95% interval: – Paper: 0.533 n: 12 Unscored: 3" in llama
    assert "TrustOV Pearson: undefined: too few 95% interval: – Paper: 0.539 n: 0 Unscored: 15" in llama


@pytest.mark.parametrize("width", [30, 40, 60, 76, 80, 120])
def test_nothing_is_wider_than_the_terminal(width: int) -> None:
    text = printed(sample_result(), width=width)
    assert max(map(len, text.splitlines())) <= width
    for system in SYSTEMS:
        assert f"{system}: 60 responses" in text
    for metric in ("TrustBC", "TrustFC", "TrustOV"):
        assert text.count(metric) >= 4
    assert "…" not in text


def test_the_graded_score_is_shown_where_there_is_one() -> None:
    assert "graded" not in printed(sample_result())
    graded = [response.model_copy(update={"trust_bc_graded": 0.5}) for response in many_responses(4)]
    assert "TrustBC, graded undefined – – 4" in words(printed(result_of(graded)))


def test_the_result_says_who_was_asked_and_how_the_intervals_came_about() -> None:
    result = words(printed(sample_result(), width=160).split("Result ─")[1])
    for line in (
        "Data mixedqa.jsonl",
        "Questions 60",
        "Subject openai:gpt-4o-mini was asked about the responses of every system;"
        " in the paper each is asked about its own.",
        "Judge openai:gpt-4o",
        "Intervals 95% intervals by 200 resamples of whole questions",
        "Paper Zheng et al. 2024, arXiv 2402.12545, Table 1, 1,000 responses a system.",
        "Calls 1,200 model calls, 3 answers reused",
        "Warning 3 calls failed and were retried.",
    ):
        assert line in result


def test_no_subject_and_no_judge_are_said_so() -> None:
    result = words(printed(result_of(many_responses(3), fingerprint=fingerprint(subject_model=None, judge=None))))
    assert "Subject No subject model was asked." in result
    assert "Judge none: no corpus, so no TrustFC" in result


def test_a_hostile_name_is_printed_as_text() -> None:
    name = f"\x1b[2J\u202e[bold red]x[/bold red] {HOSTILE}"
    text = printed(
        result_of([respond(n, name, n % 2) for n in range(4)], data=name, fingerprint=fingerprint(subject_model=name)),
        width=60,
        terminal=False,
    )
    assert "[bold red]" in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert max(map(len, text.splitlines())) <= 60


def test_an_empty_run_is_printed_too() -> None:
    text = printed(result_of([]))
    assert "All systems: 0 responses ─" in text
    assert "There are no intervals" in text
