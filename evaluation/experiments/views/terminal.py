"""An experiment on the terminal: the verdicts first, then the variants, how far they are apart, and what flipped."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from factloop.evaluation.comparing.views import paired
from factloop.evaluation.comparing.views.terminal import print_flips
from factloop.evaluation.experiments.records import ExperimentReport
from factloop.evaluation.experiments.views import sheets
from factloop.reports import figures
from factloop.reports.sheet.terminal import print_sheet
from factloop.reports.terminal_parts import Row, notice_rows, one_line, print_section, rows_table
from factloop.reports.visible import visible


def print_experiment(report: ExperimentReport, console: Console) -> None:
    """Prints the experiment at the console's width. Names and texts are printed as text: no markup."""
    if report.conclusions:
        print_section(console, one_line(sheets.title_of(report)), _conclusions(report))
    print_sheet(console, sheets.variants(report))
    for one in report.conclusions:
        print_sheet(console, sheets.differences(report, one))
    if report.flip_counts:
        print_flips(console, report.flip_counts, report.flips)
    print_section(console, "Experiment", rows_table(_rows(report)))


def _conclusions(report: ExperimentReport) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in report.conclusions:
        shown = paired.OUTCOMES[one.outcome]
        table.add_row(Text(shown.sign, style=shown.style), Text(visible(one.words)))
    return table


def _rows(report: ExperimentReport) -> list[Row]:
    rows: list[Row] = [(name, Text(one_line(said))) for name, said in sheets.basis_rows(report)]
    rows += [(f"Stability: {one.variant.name}", Text(sheets.stability_words(one))) for one in report.variants]
    paid = report.paid
    rows.append(
        ("Paid in all attempts", Text(f"{figures.calls(paid)}; {figures.tokens(paid)} tokens; {figures.cost(paid)}"))
    )
    return rows + notice_rows("Caution", report.warnings)
