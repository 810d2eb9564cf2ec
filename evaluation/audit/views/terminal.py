"""An audit of evaluators on the terminal: what each may be used for in plain words, then the figures behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from factloop.evaluation.audit.advice import Advice, Leave
from factloop.evaluation.audit.estimate import Group
from factloop.evaluation.audit.report import AuditReport
from factloop.evaluation.audit.views import adjustment_sheets, dataset_sheets, document_sheets, score_sheets, sheets
from factloop.evaluation.audit.views.scope import Scope
from factloop.evaluation.audit.views.words import LEAVES, tests_of, where
from factloop.evaluation.statistics.significance import PValueAdjustment
from factloop.reports.figures import plural
from factloop.reports.sheet.table import Sheet
from factloop.reports.sheet.terminal import print_sheet
from factloop.reports.terminal_parts import Row, notice_rows, one_line, print_section, rows_table
from factloop.reports.visible import visible

MOST_PAIRS = 15
"""Pairs of evaluators whose overlap is shown; with more, only that with the labels."""
_STYLES = {Leave.YES: "green", Leave.WITH_CARE: "yellow", Leave.NO: "red", Leave.UNKNOWN: "dim"}
_ADJUSTMENTS = {
    PValueAdjustment.NONE: "no adjustment for many pairs",
    PValueAdjustment.BONFERRONI: "Bonferroni's adjustment over the pairs of a data set",
    PValueAdjustment.HOLM: "Holm's adjustment over the pairs of a data set",
}


def print_audit(report: AuditReport, console: Console) -> None:
    """Prints the audit at the console's width, over all data sets together. Names are printed as text: no markup."""
    group = _shown_group(report)
    for one in report.advice:
        if one.group == group:
            title = f"{one_line(one.evaluator)} on {one_line(where(group))}"
            print_section(console, title, rows_table(_advice_row(advice) for advice in one.advice))
    for at in report.at:
        console.print(Text(f"At a threshold of {at.threshold:g}, {one_line(where(group))}", style="bold"))
        console.print()
        for sheet in _sheets(Scope(at, group)):
            print_sheet(console, sheet)
    print_section(console, "Result", rows_table(_result_rows(report)))


def _sheets(scope: Scope) -> Iterator[Sheet]:
    """The tables of one data set, or of all; those of all end with a line for each data set."""
    yield sheets.rates(scope)
    yield score_sheets.scores(scope)
    yield score_sheets.tenths(scope)
    yield sheets.error_rates(scope)
    yield sheets.ranking(scope)
    yield sheets.agreement(scope, most=MOST_PAIRS)
    yield adjustment_sheets.adjustment(scope)
    yield document_sheets.wording(scope)
    yield document_sheets.chunking(scope)
    yield document_sheets.long_documents(scope)
    yield dataset_sheets.group_headrooms(scope.at.group_headrooms)
    if scope.group.kind == "all":
        yield sheets.by_group(scope.at)


def _shown_group(report: AuditReport) -> Group:
    names = report.data.datasets
    return Group(kind="dataset", name=names[0]) if len(names) == 1 else Group(kind="all")


def _advice_row(advice: Advice) -> Row:
    words, sign, _ = LEAVES[advice.leave]
    return f"{sign} {words}", Text(visible(advice.sentence), style=_STYLES[advice.leave])


def _result_rows(report: AuditReport) -> list[Row]:
    data, settings, n = report.data, report.settings, report.at[0].rates.basis.n_effective
    prompts = "" if data.n_prompts is None else f" to {plural(data.n_prompts, 'prompt')}"
    return [
        ("Data", Text(visible(data.name))),
        ("Claims", Text(f"{data.n_claims:,} in {plural(data.n_responses, 'response')}{prompts}")),
        ("Data sets", Text(visible(_named(data.datasets)))),
        *([("Weights", Text(f"inverse of `probability`; worth {n:.1f} claims drawn alike"))] if n else []),
        *([("Task groups", Text(visible(_named(data.tasks))))] if data.tasks else []),
        ("Systems", Text(visible(_named(data.systems)))),
        ("Means", Text(_means(report))),
        ("Intervals", Text(_intervals(report))),
        ("Tests", Text(f"alpha {settings.alpha:g}, {_ADJUSTMENTS[settings.p_adjustment]}")),
        *([("Compared", Text(f"systems, {tests}"))] if (tests := tests_of(report.at[0].rankings)) else []),
        *[("Left out", Text(visible(reason))) for reason in report.left_out],
        *notice_rows("Warning", report.warnings),
    ]


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(names[:8])
    return f"{len(names):,}: {shown}" + (f" and {len(names) - 8:,} more" if len(names) > 8 else "")


def _means(report: AuditReport) -> str:
    if len(report.data.datasets) == 1:
        return "none: there is one data set"
    return "over data sets, each of which counts the same; by wording and by chunks over all claims together"


def _intervals(report: AuditReport) -> str:
    settings, basis = report.settings, report.at[0].rates.basis
    if not settings.n_resamples:
        return "none: no resamples were asked for"
    drawn = f"{settings.n_resamples:,} resamples of whole {basis.clusters}s ({basis.n_clusters:,})"
    return f"{100 * settings.level:g} %, by {drawn}, seed {settings.seed}"
