"""A comparison on the terminal: the differences with their intervals, what follows, and the claims that flipped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from factloop.evaluation.comparing.records import Comparison, Flip
from factloop.evaluation.comparing.views import sheets
from factloop.evaluation.comparing.views.figures import (
    VERDICT_STATUS,
    basis_in_words,
    side_in_words,
    title_of,
    together_words,
    unpaired_rows,
)
from factloop.evaluation.runs.views.words import policy_words
from factloop.reports.figures import percent, plural
from factloop.reports.sheet.table import NOTHING, Line, Sheet
from factloop.reports.sheet.terminal import in_lines, print_sheet
from factloop.reports.terminal_parts import Row, notice_rows, one_line, print_section, rows_table
from factloop.reports.visible import visible

FLIPS_SHOWN = 10
_HASH = re.compile("[0-9a-f]{64}")
SETTINGS_SHOWN = 8


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Prints the comparison at the console's width. Names and texts are printed as text: no markup."""
    print_section(console, title_of(comparison), rows_table(_side_rows(comparison)))
    print_sheet(console, sheets.differences(comparison), in_lines(_brief))
    if comparison.claims is not None and comparison.claims.n_matched:
        print_sheet(console, sheets.verdicts(comparison.claims))
    if comparison.flips:
        print_section(console, f"Claims that flipped ({len(comparison.flips):,})", _flips(comparison))
    print_section(console, "What this says", Group(*(Text(visible(said)) for said in comparison.conclusions)))
    print_section(console, "Comparison", rows_table(_rows(comparison)))


def _side_rows(comparison: Comparison) -> list[Row]:
    rows = []
    for letter, side in (("A", comparison.first), ("B", comparison.second)):
        lines = [Text(one_line(side_in_words(side))), Text("\n"), Text(basis_in_words(side), style="dim")]
        rows.append((letter, Text.assemble(*lines)))
    return rows


def _brief(sheet: Sheet, line: Line) -> Text:
    cells = [cell for _, cell in sheet.on_terminal(line)]
    _, first, second, points, interval, p, adjusted, *counts = (cell.text for cell in cells)
    first_higher, equal, second_higher, n_left_out = counts
    note = cells[4].note
    between = f"no interval: {note}" if interval == NOTHING else f"{interval}, {note}"
    return Text.assemble(
        (f"{points} points", "bold"),
        f" ({between}), p {p}, adjusted {adjusted}\n",
        f"A {first}, B {second}\n",
        (f"{first_higher} higher in A, {equal} equal, {second_higher} in B", "dim"),
        (f", {n_left_out} left out" if n_left_out != "0" else "", "dim"),
    )


def _flips(comparison: Comparison) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for flip in comparison.flips[:FLIPS_SHOWN]:
        table.add_row(
            f"{VERDICT_STATUS[flip.first].symbol} → {VERDICT_STATUS[flip.second].symbol}", Group(*_flip_lines(flip))
        )
    if len(comparison.flips) > FLIPS_SHOWN:
        table.add_row("", Text("The JSON report and the page have them all, with both rationales.", style="dim"))
    return table


def _flip_lines(flip: Flip) -> Iterator[Text]:
    yield Text(one_line(flip.claim))
    said = f"; people: {flip.label.name.lower().replace('_', ' ')}" if flip.label is not None else ""
    yield Text(one_line(f"{flip.system}, {flip.prompt_id}{said}"), style="dim")


def _rows(comparison: Comparison) -> list[Row]:
    rows: list[Row] = [
        ("Abstentions", Text(policy_words(comparison.abstention))),
        (
            "Intervals",
            Text(
                f"{percent(comparison.level)}, seed {comparison.seed}: of differences by turning signs of whole "
                f"prompts, {together_words(comparison)}; of agreement by {comparison.n_resamples:,} resamples of whole "
                "prompts"
            ),
        ),
    ]
    rows += [
        (f"Demand: {one.metric}, {'met' if one.is_met else 'not met'}", Text(one_line(one.words)))
        for one in comparison.demands
    ]
    rows += [(name, Text(one_line(said))) for name, said in unpaired_rows(comparison)]
    rows += [
        ("Differs", Text(one_line(f"{one.name}: {_setting(one.first)} → {_setting(one.second)}")))
        for one in comparison.settings[:SETTINGS_SHOWN]
    ]
    if len(comparison.settings) > SETTINGS_SHOWN:
        rows.append(("", Text(f"and {plural(len(comparison.settings) - SETTINGS_SHOWN, 'more setting')}", style="dim")))
    return rows + notice_rows("Caution", comparison.warnings)


def _setting(value: str | None) -> str:
    """As it is; of a hash the beginning, which tells two apart."""
    if value is None:
        return "none"
    return value[:12] if _HASH.fullmatch(value) else value
