"""A comparison on the terminal: the differences with their intervals, what follows, and the claims that flipped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from factloop.evaluation.comparing.records import ClaimAgreement, Comparison, Flip, PairedDifference
from factloop.evaluation.comparing.views.figures import (
    VERDICT_STATUS,
    VERDICT_WORDS,
    basis_in_words,
    interval,
    side_in_words,
    title_of,
    unpaired_rows,
)
from factloop.evaluation.comparing.words import name_of, p_value, points
from factloop.evaluation.runs.views.words import policy_words, share
from factloop.reports.figures import percent, plural
from factloop.reports.status import Status
from factloop.reports.terminal_parts import Row, notice_rows, one_line, print_section, rows_table
from factloop.reports.visible import visible

WIDE = 110
"""Columns from which each difference has one line."""
FLIPS_SHOWN = 10
_HASH = re.compile("[0-9a-f]{64}")
SETTINGS_SHOWN = 8


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Prints the comparison at the console's width. Names and texts are printed as text: no markup."""
    print_section(console, title_of(comparison), rows_table(_side_rows(comparison)))
    print_section(console, "Differences (B minus A)", _differences(comparison, wide=console.width >= WIDE))
    if comparison.claims is not None and comparison.claims.n_matched:
        print_section(
            console, "Verdicts on the same claims", _verdict_table(comparison.claims, wide=console.width >= WIDE)
        )
    if comparison.flips:
        print_section(console, f"Claims that flipped ({len(comparison.flips):,})", _flips(comparison))
    print_section(console, "What this says", Group(*(Text(visible(said)) for said in comparison.conclusions)))
    print_section(console, "Comparison", rows_table(_rows(comparison)))


def means(one: PairedDifference) -> tuple[str, str]:
    return share(one.first), share(one.second)


def _side_rows(comparison: Comparison) -> list[Row]:
    rows = []
    for letter, side in (("A", comparison.first), ("B", comparison.second)):
        lines = [Text(one_line(side_in_words(side))), Text("\n"), Text(basis_in_words(side), style="dim")]
        rows.append((letter, Text.assemble(*lines)))
    return rows


def _differences(comparison: Comparison, *, wide: bool) -> Table:
    if not wide:
        return rows_table((name_of(one), _in_lines(one)) for one in comparison.differences)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True)
    heads = ("A", "B", "Points", f"{percent(comparison.level)} interval", "p", "corrected")
    for head in (*heads, "A higher", "equal", "B higher", "left out"):
        table.add_column(head, justify="right", no_wrap=True)
    for one in comparison.differences:
        first, second = means(one)
        figures = (
            first,
            second,
            Text(_points(one), style="bold"),
            interval(one),
            p_value(one.p),
            p_value(one.p_corrected),
        )
        counts = (one.first_higher, one.equal, one.second_higher, one.n_left_out)
        table.add_row(name_of(one), *figures, *(f"{n:,}" for n in counts))
    return table


def _in_lines(one: PairedDifference) -> Text:
    first, second = means(one)
    return Text.assemble(
        (_points(one), "bold"),
        f" ({interval(one)}), p {p_value(one.p)}, corrected {p_value(one.p_corrected)}\n",
        f"A {first}, B {second}\n",
        (f"{one.first_higher:,} higher in A, {one.equal:,} equal, {one.second_higher:,} in B", "dim"),
        (f", {one.n_left_out:,} left out" if one.n_left_out else "", "dim"),
    )


def _points(one: PairedDifference) -> str:
    return "–" if one.difference is None else points(one.difference)


def _verdict_table(claims: ClaimAgreement, *, wide: bool) -> Table:
    table = Table(box=None, padding=(0, 2 if wide else 1, 0, 0), header_style="dim")
    table.add_column("A \\ B", no_wrap=True)
    for words, status in zip(VERDICT_WORDS, (*VERDICT_STATUS.values(), Status.UNSCORED), strict=True):
        table.add_column(words if wide else status.symbol, justify="right", no_wrap=True)
    for words, row in zip(VERDICT_WORDS, claims.table, strict=True):
        table.add_row(words, *(f"{n:,}" for n in row))
    return table


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
                f"{percent(comparison.level)}, {comparison.n_resamples:,} resamples of whole prompts, "
                f"seed {comparison.seed}; p by turning signs of whole prompts, corrected by Holm’s method"
            ),
        ),
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
