"""Paired differences and flips on the terminal, and a comparison of two runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from factloop.evaluation.comparing.records import Comparison, Flip, FlipCount
from factloop.evaluation.comparing.views import paired
from factloop.evaluation.comparing.views.html import (
    basis_in_words,
    differences_sheet,
    side_in_words,
    title_of,
    unpaired_rows,
    verdicts_sheet,
)
from factloop.evaluation.runs.views.sheets import policy_words
from factloop.reports.figures import percent, plural
from factloop.reports.sheet.terminal import print_sheet
from factloop.reports.terminal_parts import Row, notice_rows, one_line, print_section, rows_table
from factloop.reports.visible import visible

FLIPS_SHOWN = 10
SETTINGS_SHOWN = 8
_HASH = re.compile("[0-9a-f]{64}")


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Prints the comparison at the console's width. Names and texts are printed as text: no markup."""
    print_section(console, title_of(comparison), rows_table(_side_rows(comparison)))
    print_sheet(console, differences_sheet(comparison))
    if comparison.claims is not None and comparison.claims.n_matched:
        print_sheet(console, verdicts_sheet(comparison.claims))
    if comparison.flips:
        print_flips(console, comparison.flip_counts, comparison.flips)
    print_section(console, "What this says", Group(*(Text(visible(said)) for said in comparison.conclusions)))
    print_section(console, "Comparison", rows_table(_rows(comparison)))


def print_flips(console: Console, counts: Sequence[FlipCount], flips: Sequence[Flip]) -> None:
    """How many claims flipped between which sides, and the first of them with both sides' grounds."""
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for flip in flips[:FLIPS_SHOWN]:
        sides = (flip.first_side, flip.second_side)
        signs = " → ".join(paired.VERDICT_STATUS[side.verdict].symbol for side in sides)
        table.add_row(signs, Group(*_flip_lines(flip)))
    if len(flips) > FLIPS_SHOWN:
        table.add_row("", Text("The JSON report, the page and its CSV have them all.", style="dim"))
    said = [Text(paired.flips_words(one)) for one in counts]
    print_section(console, f"Claims that flipped ({len(flips):,})", Group(*said, table))


def _flip_lines(flip: Flip) -> Iterator[Text]:
    yield Text(one_line(flip.claim))
    direction = paired.DIRECTIONS[flip.direction]
    yield Text.assemble(
        (direction.words, direction.style),
        (f"; {paired.gold_words(flip.gold)}; {one_line(flip.group)}", "dim"),
    )
    for name, side in ((flip.first, flip.first_side), (flip.second, flip.second_side)):
        grounds = f": {side.rationale}" if side.rationale else ""
        yield Text(one_line(f"{name}, {paired.side_words(side)}{grounds}"), style="dim")


def _side_rows(comparison: Comparison) -> Iterator[Row]:
    for letter, side in (("A", comparison.first), ("B", comparison.second)):
        lines = [Text(one_line(side_in_words(side))), Text("\n"), Text(basis_in_words(side), style="dim")]
        yield letter, Text.assemble(*lines)


def _rows(comparison: Comparison) -> list[Row]:
    intervals = (
        f"{percent(comparison.level)}, seed {comparison.seed}: of differences by turning signs of whole prompts, those "
        f"of a family together (Bonferroni); of agreement by {comparison.n_resamples:,} resamples of whole prompts"
    )
    rows: list[Row] = [
        ("Abstentions", Text(policy_words(comparison.abstention))),
        ("Intervals", Text(intervals)),
    ]
    rows += [(name, Text(one_line(said))) for name, said in paired.demand_rows(comparison.demands)]
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
