from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from factloop.evaluation.audit.advice import Leave
from factloop.evaluation.audit.report import AuditReport
from factloop.evaluation.audit.views.terminal import print_audit
from tests.evaluation.audit.audit_sample import audited, sample_rows
from tests.evaluation.audit.prediction_rows import Row
from tests.reports.sample import HOSTILE


def printed(report: AuditReport, *, width: int = 80, terminal: bool = False) -> str:
    file = io.StringIO()
    print_audit(report, Console(file=file, width=width, force_terminal=terminal, _environ={"TERM": "xterm"}))
    return file.getvalue()


def words(text: str) -> str:
    return " ".join(text.split())


def section(text: str, title: str) -> str:
    """The text under a title, up to the next one."""
    return words(text.split(f"{title} ─", 1)[1].lstrip("─").split("─", 1)[0])


@pytest.fixture(scope="module")
def report() -> AuditReport:
    return audited(sample_rows(), threshold=0.7)


def made(system: str, marks: str, n: int) -> list[Row]:
    """`n` responses of these claims, each a label and a verdict."""
    return [
        Row(int(mark[0]), {"judge": float(mark[1])}, system, f"{system}{place}")
        for place in range(n)
        for mark in marks.split()
    ]


def test_figures_worked_by_hand() -> None:
    """Of 40 claims that hold 30 pass, of 40 that do not 10 do. Both systems err in half their claims; a is taken to err
    in three of four, and b in one of four."""
    rows = [*made("a", "11 10 00 00", 10), *made("b", "11 11 01 00", 10)]
    text = printed(audited(rows, resamples=0))
    rates = section(text, "How often it is right, %")
    assert "Claims Balanced Evaluator accuracy TPR TNR TPR − TNR Scored judge 75.0 75.0 75.0 0.0 80" in rates
    assert "Responses judge undefined: undefined: 100.0 undefined: 20" in rates
    biases = section(text, "Error rates of systems")
    assert "judge 25.0 25.0 50.0 -25.0 2" in biases
    order = section(text, "Order of systems")  # 20 of 40 against 20 of 40; 30 of 40 against 10 of 40
    assert "Claims" in order
    assert "judge 100.0 0.0 undefined: undefined: 1 too few too few" in order
    assert "judge and the labels 60.0 60.0 0" in section(text, "of those that either does: IoU, %")


def test_plain_words_stand_first_with_sign_and_word(report: AuditReport) -> None:
    text = printed(report)
    assert text.startswith("good on all data sets ─")
    first = text.split("At a threshold of 0.5")[0]
    for name in report.data.evaluators:
        assert f"{name} on all data sets ─" in first
    signs = {Leave.YES: " ✓ yes ", Leave.WITH_CARE: " ! with care ", Leave.NO: " ✗ no ", Leave.UNKNOWN: " ? not known "}
    given = [piece.leave for one in report.advice if one.group.kind == "all" for piece in one.advice]
    for leave, sign in signs.items():
        assert sum(line.startswith(sign) for line in first.splitlines()) == given.count(leave)
    said = words(first)
    for one in report.advice:
        for piece in one.advice:
            assert (words(piece.sentence) in said) == (one.group.kind == "all")


def test_each_threshold_has_its_tables(report: AuditReport) -> None:
    text = printed(report)
    for threshold in ("0.5", "0.7"):
        assert f"At a threshold of {threshold}, all data sets" in text
    for title in (
        "How often it is right, %",
        "Claims, by data set",
        "Predictions that change when documents are cut, %",
    ):
        assert text.count(f"{title} ─") == 2


@pytest.mark.parametrize("width", [30, 50, 80, 140])
def test_nothing_is_wider_than_the_terminal(report: AuditReport, width: int) -> None:
    text = printed(report, width=width)
    assert max(map(len, text.splitlines())) <= width
    for name in report.data.evaluators:
        assert name in text
    assert "…" not in text


def test_a_narrow_terminal_has_the_same_figures(report: AuditReport) -> None:
    """Each figure of the wide tables stands in the narrow ones."""
    narrow, wide = printed(report, width=40), section(printed(report), "Error rates of systems")
    figures = [word for word in wide.split() if word.replace(".", "").isdigit()]
    assert len(figures) > 20
    assert set(figures) <= set(section(narrow, "Error rates of systems").replace("\n", " ").split())


def test_the_result_says_what_the_figures_rest_on(report: AuditReport) -> None:
    result = words(printed(report, width=160).split("Result ─")[1])
    for line in (
        "Data sample",
        "Claims 144 in 72 responses to 24 prompts",
        "Data sets 2: news, talk",
        "Task groups 2: answers, summaries",
        "Systems 3: a, b, c",
        "Means over data sets, each of which counts the same; by wording and by chunks over all claims together",
        "Intervals 95 %, by 50 resamples of whole prompts (24), seed 0",
        "Tests alpha 0.05, no adjustment for many pairs",
        "Warning weak gave no score to",
    ):
        assert line in result
    single = audited([row for row in sample_rows() if row.dataset == "news"], resamples=0)
    result = words(printed(single, width=160).split("Result ─")[1])
    assert "Means none: there is one data set" in result
    assert "Intervals none: no resamples were asked for" in result


def test_one_data_set_is_named() -> None:
    text = printed(audited([row for row in sample_rows() if row.dataset == "news"]))
    assert "good on news ─" in text
    assert "all data sets" not in text.split("Result ─")[0]
    assert "by data set" not in text


def test_very_many_data_sets_are_not_listed() -> None:
    rows = [Row(n % 2, {"e": n % 3 / 2, "f": 1.0}, "ab"[n % 2], f"r{n}", dataset=f"d{n % 21}") for n in range(210)]
    assert "Claims, by data set" not in printed(audited(rows, resamples=0))
    assert "Claims, by data set" in printed(audited([row for row in rows if row.dataset < "d2"], resamples=0))


def hostile(rows: Sequence[Row], name: str) -> list[Row]:
    def dressed(row: Row) -> dict[str, Any]:
        return {"system": f"{row.system}{name}", "dataset": f"{row.dataset}{name}", "task": f"{row.task}{name}"}

    return [replace(row, scores={f"{k}{name}": v for k, v in row.scores.items()}, **dressed(row)) for row in rows]


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("name", [f"\x1b[2J\u202e[bold red]x[/bold red]{HOSTILE}", "事実" * 150, "a\nb\tc\r\n" * 9])
def test_hostile_names_are_printed_as_text(name: str, width: int) -> None:
    text = printed(audited(hostile(sample_rows(), name), name=name), width=width)
    for unsafe in ("\x1b", "\u202e", "\r", "\x00"):
        assert unsafe not in text
    assert ("[bold red]" in text) == ("[bold red]" in name)
    assert all(
        sum(2 if ord(one) > 0x2E80 and one < "\ufffd" else 1 for one in line) <= width for line in text.splitlines()
    )


def test_a_report_of_nothing_is_printed() -> None:
    assert "Claims     0 in 0 responses" in printed(audited([]))
