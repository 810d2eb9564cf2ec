"""Raw and corrected figures of a run on the terminal, with what speaks against leaning on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rich.console import Console, Group
from rich.text import Text

from factloop.evaluation.runs.records import Calibration
from factloop.evaluation.runs.views.calibration_sheets import corrected, estimates, evaluator
from factloop.evaluation.runs.views.debiasing_words import (
    CAUTION_WORDS,
    METHOD_WORDS,
    PRECISION_WORDS,
    TRANSFER_WORDS,
    overlap_words,
    targets,
)
from factloop.reports.figures import plural
from factloop.reports.sheet.table import Sheet
from factloop.reports.sheet.terminal import print_sheet, sheet_body
from factloop.reports.terminal_parts import Row, one_line, print_section, rows_table
from factloop.reports.visible import visible


def print_calibration(found: Calibration, console: Console) -> None:
    """Prints the figures and what they rest on. Names are printed as text: no markup, no escapes."""
    sheet = _with_reasons_below(corrected(found))
    print_section(console, sheet.title, Group(sheet_body(sheet, console.width), Text(), rows_table(_rows(found))))
    print_sheet(console, evaluator(found))


def _with_reasons_below(sheet: Sheet) -> Sheet:
    """The sheet without the reasons of undefined figures, which are sentences: they stand under it, in its width."""
    lines = tuple(
        replace(line, cells=tuple(replace(cell, text="undefined", why="") if cell.why else cell for cell in line.cells))
        for line in sheet.lines
    )
    return replace(sheet, lines=lines)


def _rows(found: Calibration) -> Iterator[Row]:
    """What the corrections rest on, and each reason and caution once with where it applies."""
    unscored = f", {found.n_unscored:,} of them without a verdict" if found.n_unscored else ""
    yield "Labels", Text(f"{plural(found.n_claims, 'claim')} of {visible(found.data)}{unscored}")
    for one in found.systems:
        if words := overlap_words(one):
            yield "Samples", Text(f"{one_line(one.system)}: {words}")
    yield "Precision", Text(PRECISION_WORDS)
    for words in targets(found):
        yield "Figures of", Text(words)
    for transfer in dict.fromkeys(one.transfer for one in found.systems):
        yield "Assumed", Text(f"for F1@K and what is preferred: {TRANSFER_WORDS[transfer]}")
    where: dict[tuple[str, str], list[str]] = {}
    for one in found.systems:
        for name, estimate, _ in estimates(one):
            place = f"{one_line(one.system)}, {name}, {METHOD_WORDS[estimate.method]}"
            if estimate.undefined is not None:
                where.setdefault(("Undefined", estimate.why), []).append(place)
            for caution in estimate.cautions:
                where.setdefault(("Caution", CAUTION_WORDS[caution]), []).append(place)
    for (kind, words), places in where.items():
        more = f" and {len(places) - 1} more: --html and --json say where" if len(places) > 1 else ""
        yield kind, Text(f"{words} ({places[0]}{more})", style="yellow")
