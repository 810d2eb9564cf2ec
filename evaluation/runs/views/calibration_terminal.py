"""Raw and corrected figures of a run on the terminal, with what speaks against leaning on them."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from factloop.evaluation.debiasing.records import LEVEL, Estimate
from factloop.evaluation.mixedqa.views.correlation_figures import NOTHING
from factloop.evaluation.runs.records import Calibration, RunDebiasing
from factloop.evaluation.runs.views.correction_words import CAUTION_WORDS, METHOD_WORDS, TRANSFER_WORDS
from factloop.reports.figures import percent, plural
from factloop.reports.terminal_parts import Row, one_line, print_section, rows_table
from factloop.reports.visible import visible


def print_calibration(found: Calibration, console: Console) -> None:
    """Prints the figures and what they rest on. Names are printed as text: no markup, no escapes."""
    print_section(console, "Raw and corrected", Group(_table(found), Text(), rows_table(_rows(found))))


def _estimates(one: RunDebiasing) -> Iterator[tuple[str, Estimate]]:
    for estimate in (one.precision.raw, one.precision.prediction_powered, one.precision.adjusted_count):
        yield "Precision, all claims", estimate
    for f1 in one.f1:
        yield f"F1@{f1.k}", f1.raw
        yield f"F1@{f1.k}", f1.corrected


def _table(found: Calibration) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("System", overflow="fold")
    table.add_column("Measure")
    table.add_column("", overflow="fold")
    table.add_column("Value", justify="right", no_wrap=True, style="bold")
    table.add_column(f"{percent(_level(found))} interval", justify="right", no_wrap=True)
    for one in found.systems:
        measure = ""
        for place, (name, estimate) in enumerate(_estimates(one)):
            value = NOTHING if estimate.value is None else f"{estimate.value:.3f}"
            ends = (estimate.low, estimate.high)
            interval = NOTHING if None in ends else f"[{estimate.low:.3f}, {estimate.high:.3f}]"
            table.add_row(
                Text("" if place else one_line(one.system)),
                "" if name == measure else name,
                METHOD_WORDS[estimate.method],
                value,
                interval,
            )
            measure = name
    return table


def _level(found: Calibration) -> float:
    return found.systems[0].precision.raw.level if found.systems else LEVEL


def _rows(found: Calibration) -> Iterator[Row]:
    """What the corrections rest on, and each reason and caution once with where it applies."""
    unscored = f", {found.n_unscored:,} of them without a verdict" if found.n_unscored else ""
    yield "Labels", Text(f"{plural(found.n_claims, 'claim')} of {visible(found.data)}{unscored}")
    for transfer in dict.fromkeys(one.transfer for one in found.systems):
        yield "Assumed", Text(f"for F1@K: {TRANSFER_WORDS[transfer]}")
    where: dict[tuple[str, str], list[str]] = {}
    for one in found.systems:
        for name, estimate in _estimates(one):
            place = f"{one_line(one.system)}, {name}, {METHOD_WORDS[estimate.method]}"
            if estimate.undefined is not None:
                where.setdefault(("Undefined", estimate.why), []).append(place)
            for caution in estimate.cautions:
                where.setdefault(("Caution", CAUTION_WORDS[caution]), []).append(place)
    for (kind, words), places in where.items():
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        yield kind, Text(f"{words} ({places[0]}{more})", style="yellow")
