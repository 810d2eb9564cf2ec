"""Agreement with people's labels on the terminal: the figures of each system, and the table behind them."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from factloop.core.records import Counts
from factloop.evaluation.runs.label_agreement import LabelAgreement, SystemAgreement
from factloop.evaluation.runs.longform_records import PromptFigure
from factloop.evaluation.runs.views.words import AGREEMENTS, interval, share
from factloop.reports.figures import percent, plural
from factloop.reports.terminal_parts import one_line, print_section

ALL = "All systems"


def print_agreement(found: LabelAgreement, console: Console) -> None:
    """Prints both tables. Names are printed as text: no markup, no escapes."""
    print_section(console, "Agreement with people's labels", _figures(found))
    print_section(console, f"Labels and verdicts: {basis(found.overall)}", _table(found))


def basis(overall: SystemAgreement) -> str:
    """`16,011 facts of 496 responses`, and what is not among them."""
    table = overall.table
    said = f"{plural(table.n_facts, 'fact')} of {plural(overall.n_responses, 'response')}"
    repeated = f", {table.repeated.total:,} repeated ones left out" if table.repeated.total else ""
    unscored = f", {overall.n_unscored:,} of them unscored" if overall.n_unscored else ""
    return f"{said}{repeated}{unscored}"


def _shown(found: LabelAgreement) -> Iterator[tuple[str, SystemAgreement]]:
    """Each system, and all together where there are several."""
    for one in found.systems:
        yield one_line(one.system or ""), one
    if len(found.systems) != 1:
        yield ALL, found.overall


def _figures(found: LabelAgreement) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("System", overflow="fold")
    table.add_column("Measure")
    table.add_column("", justify="right", no_wrap=True, style="bold")
    table.add_column(f"{percent(found.level)} interval", justify="right", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    for name, one in _shown(found):
        for place, (field, words) in enumerate(AGREEMENTS.items()):
            figure: PromptFigure = getattr(one, field)
            measure = f"{words}: {figure.why}" if figure.why else words
            table.add_row(
                Text("" if place else name), measure, share(figure.value), interval(figure.low, figure.high),
                f"{figure.n:,}",
            )  # fmt: skip
    return table


def _table(found: LabelAgreement) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("System", overflow="fold")
    table.add_column("Label")
    for head in ("supported", "not", "irrelevant", "unscored"):
        table.add_column(head, justify="right", no_wrap=True)
    for name, one in _shown(found):
        rows = (one.table.supported, one.table.not_supported, one.table.irrelevant)
        for place, (label, row) in enumerate(zip(("supported", "not", "irrelevant"), rows, strict=True)):
            table.add_row(Text("" if place else name), label, *_cells(row))
    return table


def _cells(row: Counts) -> Iterator[str]:
    yield from (f"{count:,}" for count in (row.supported, row.not_supported, row.irrelevant, row.unscored))
