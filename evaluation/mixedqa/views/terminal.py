"""A MixedQA run on the terminal: how scores correlate with human labels, and what the paper found."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from factloop.evaluation.mixedqa.published import SOURCE
from factloop.evaluation.mixedqa.scores import MixedQaResult
from factloop.evaluation.mixedqa.views import correlation_figures as figures
from factloop.evaluation.mixedqa.views.sheets import correlations, gains, table_one
from factloop.reports.sheet.terminal import print_sheet
from factloop.reports.terminal_parts import Row, notice_rows, print_section, rows_table, usage_rows
from factloop.reports.visible import visible


def print_mixedqa(result: MixedQaResult, console: Console) -> None:
    """Prints a table for each system and one for all, at the console's width. Names are printed as text: no markup."""
    if len(result.systems) > 1:
        print_sheet(console, table_one(result))
    for system in (*(labels.system for labels in result.systems), None):
        print_sheet(console, correlations(result, system))
    if result.gains:
        print_sheet(console, gains(result))
    print_section(console, "Result", rows_table(_rows(result)))


def subject_note(result: MixedQaResult) -> str:
    """Who was asked about whose responses, and how that departs from the paper."""
    if result.subjects:
        asked = "; ".join(f"{one.model} about those of {one.system}" for one in result.subjects)
        return f"Each system was asked about its own responses, as in the paper: {asked}."
    subject = result.fingerprint.subject_model
    if subject is None:
        return "No subject model was asked."
    return f"{subject} was asked about the responses of every system; in the paper each is asked about its own."


def _rows(result: MixedQaResult) -> list[Row]:
    fingerprint = result.fingerprint
    found = (one.correlation for one in (*result.correlations, *result.reference))
    rows = [("Data", Text(visible(result.data)))] if result.data else []
    rows += [
        ("Questions", Text(f"{result.n_questions:,}")),
        ("Subject", Text(visible(subject_note(result)))),
        ("Judge", Text(visible(fingerprint.judge or "none: no corpus, so no TrustFC"))),
        ("Intervals", Text(figures.resampling(found))),
        ("Paper", Text(f"{SOURCE}, 1,000 responses a system.")),
    ]
    return rows + usage_rows(result.usage) + notice_rows("Warning", result.warnings)
