"""A MixedQA run on the terminal: how scores correlate with human labels, and what the paper found."""

from __future__ import annotations

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from factloop.evaluation.mixedqa.published import SOURCE
from factloop.evaluation.mixedqa.scores import MetricCorrelation, MixedQaResult, ReferenceCorrelation, TrustMetric
from factloop.evaluation.mixedqa.views import correlation_figures as figures
from factloop.reports.figures import percent, plural
from factloop.reports.terminal_parts import Row, notice_rows, one_line, print_section, rows_table, usage_rows
from factloop.reports.visible import visible

WIDE = 76
"""Columns from which each score has one line."""


def print_mixedqa(result: MixedQaResult, console: Console) -> None:
    """Prints a table for each system and one for all, at the console's width. Names are printed as text: no markup."""
    layout = _wide_table if console.width >= WIDE else _narrow_table
    for system in (*(labels.system for labels in result.systems), None):
        print_section(console, one_line(group_title(result, system)), layout(result, system))
    print_section(console, "Result", rows_table(_rows(result)))


def group_title(result: MixedQaResult, system: str | None) -> str:
    """`llama-7b: 1,000 responses, 34% judged correct`."""
    groups = [labels for labels in result.systems if system in (labels.system, None)]
    n_responses, n_correct = sum(g.n_responses for g in groups), sum(g.n_correct for g in groups)
    correct = f", {n_correct / n_responses:.0%} judged correct" if n_responses else ""
    return f"{'All systems' if system is None else system}: {plural(n_responses, 'response')}{correct}"


def shown_correlations(result: MixedQaResult, system: str | None) -> list[MetricCorrelation | ReferenceCorrelation]:
    """Those of one group: TrustScores that were asked for, the graded one where some server gave probabilities."""
    asked = {found.metric for found in result.correlations if found.n_scored or _is_asked_for(result, found.metric)}
    trust = [found for found in result.of(system) if found.metric in asked]
    return [*trust, *(found for found in result.reference if found.system == system)]


def _is_asked_for(result: MixedQaResult, metric: TrustMetric) -> bool:
    """Whether the run was to give this score, so that its absence tells something."""
    fingerprint = result.fingerprint
    if metric is TrustMetric.TRUST_BC_GRADED:
        return False
    return not result.reference or fingerprint.subject_model is not None or fingerprint.corpus is not None


def subject_note(result: MixedQaResult) -> str:
    """Who was asked about whose responses, and how that departs from the paper."""
    subject = result.fingerprint.subject_model
    if subject is None:
        return "No subject model was asked."
    return f"{subject} was asked about the responses of every system; in the paper each is asked about its own."


def _wide_table(result: MixedQaResult, system: str | None) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("Score", no_wrap=True)
    table.add_column(figures.method_name(one.correlation for one in result.correlations), justify="right")
    table.add_column(_interval_head(result), justify="right", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("Unscored", justify="right", no_wrap=True)
    table.add_column("Paper", justify="right", no_wrap=True, style="dim")
    for found in shown_correlations(result, system):
        one = found.correlation
        table.add_row(
            found.name,
            _outcome(found),
            figures.interval(one),
            f"{one.n:,}",
            f"{one.n_left_out:,}",
            figures.coefficient(result.paper(found.name, system)),
        )
    return table


def _narrow_table(result: MixedQaResult, system: str | None) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for found in shown_correlations(result, system):
        one, paper = found.correlation, result.paper(found.name, system)
        line = Text.assemble(_outcome(found), "" if one.low is None else f"  {figures.interval(one)}")
        beside = "" if paper is None else f", paper {figures.coefficient(paper)}"
        table.add_row(found.name, Group(line, Text(f"{figures.basis(one)}{beside}", style="dim")))
    return table


def _outcome(found: MetricCorrelation | ReferenceCorrelation) -> Text:
    return Text(figures.outcome(found.correlation), style="bold" if found.correlation.undefined is None else "yellow")


def _interval_head(result: MixedQaResult) -> str:
    return f"{percent(result.correlations[0].correlation.level)} interval"


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
