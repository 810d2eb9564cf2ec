"""An experiment on the terminal: the verdicts first, then the variants, how far they are apart, and what flipped."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from factloop.evaluation.experiments.report import ExperimentReport, Flip
from factloop.evaluation.experiments.views import figures as told
from factloop.evaluation.experiments.views import sheets
from factloop.reports import figures
from factloop.reports.sheet.table import Cell, Line, Sheet
from factloop.reports.sheet.terminal import in_lines, print_sheet
from factloop.reports.terminal_parts import Row, notice_rows, one_line, print_section, rows_table
from factloop.reports.visible import visible

FLIPS_SHOWN = 10


def print_experiment(report: ExperimentReport, console: Console) -> None:
    """Prints the experiment at the console's width. Names and texts are printed as text: no markup."""
    if report.conclusions:
        print_section(console, one_line(told.title_of(report)), _conclusions(report))
    print_sheet(console, sheets.variants(report), _variants_in_lines)
    for one in report.conclusions:
        print_sheet(console, sheets.differences(report, one), in_lines(_brief))
    if report.flip_counts:
        print_section(console, f"Claims that flipped ({len(report.flips):,})", _flips(report))
    print_section(console, "Experiment", rows_table(_rows(report)))


def _conclusions(report: ExperimentReport) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in report.conclusions:
        sign = Text(told.SIGNS[one.outcome], style=sheets.STYLES.get(one.outcome, ""))
        table.add_row(sign, Text(visible(one.words)))
    return table


def _variants_in_lines(sheet: Sheet) -> RenderableType:
    """A line for each figure of a variant, where not all fit beside each other."""
    parts: list[RenderableType] = []
    for line in sheet.lines:
        (_, variant), *figures = sheet.on_terminal(line)
        parts.append(Text.assemble((variant.text, "bold"), (f"\n{variant.note}" if variant.note else "", "dim")))
        parts.append(rows_table((column.head, Text(_with_basis(cell))) for column, cell in figures))
    return Group(*parts)


def _with_basis(cell: Cell) -> str:
    basis = ", ".join(words for words in (cell.note, cell.basis) if words)
    return cell.why or (f"{cell.text} ({basis})" if basis else cell.text)


def _brief(sheet: Sheet, line: Line) -> Text:
    _, _, _, *cells = (cell for _, cell in sheet.on_terminal(line))
    apart, interval, outcome, p, adjusted, n, n_groups, n_left_out = cells
    left_out = f", {n_left_out.text} left out" if n_left_out.value else ""
    return Text.assemble(
        (apart.text, "bold"),
        f" ({', '.join(filter(None, (interval.text, interval.note)))}), p {p.text}, adjusted {adjusted.text}\n",
        (f"{outcome.text}: {outcome.note}" if outcome.note else outcome.text, outcome.style),
        (f"; n {n.text} in {n_groups.text} groups{left_out}", "dim"),
    )


def _flips(report: ExperimentReport) -> Group:
    counts = [Text(told.flips_words(one)) for one in report.flip_counts]
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for flip in report.flips[:FLIPS_SHOWN]:
        sides = (flip.first_side, flip.second_side)
        signs = " → ".join(told.VERDICT_STATUS[side.verdict].symbol for side in sides)
        table.add_row(signs, Group(*_flip_lines(flip)))
    if len(report.flips) > FLIPS_SHOWN:
        table.add_row("", Text("The JSON report, the page and its CSV have them all.", style="dim"))
    return Group(*counts, table)


def _flip_lines(flip: Flip) -> Iterator[Text]:
    yield Text(one_line(flip.claim))
    style = told.DIRECTION_STATUS[flip.direction]
    colour = {"supported": "green", "contradicted": "red"}.get(style.value, "dim")
    yield Text.assemble(
        (told.DIRECTION_WORDS[flip.direction], colour),
        (f"; {told.gold_words(flip.gold)}; {one_line(flip.group)}", "dim"),
    )
    for name, side in ((flip.first, flip.first_side), (flip.second, flip.second_side)):
        grounds = f": {side.rationale}" if side.rationale else ""
        yield Text(one_line(f"{name}, {told.side_words(side)}{grounds}"), style="dim")


def _rows(report: ExperimentReport) -> list[Row]:
    rows: list[Row] = [(name, Text(one_line(said))) for name, said in told.basis_rows(report)]
    rows += [(f"Stability: {one.variant.name}", Text(told.stability_words(one))) for one in report.variants]
    paid = report.paid
    rows.append(("Paid", Text(f"{figures.calls(paid)}; {figures.tokens(paid)} tokens; {figures.cost(paid)}")))
    return rows + notice_rows("Caution", report.warnings)
