"""A tuned cascade on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from factloop.checking.cascade.records import CascadeFile
from factloop.evaluation.cascades.views import words
from factloop.reports.terminal_parts import notice_rows, one_line, print_section, rows_table


def print_cascade(cascade: CascadeFile, console: Console) -> None:
    """Prints thresholds, what they rest on, and the curve. Texts are printed as text: no markup, no escapes."""
    rows = [(name, Text(one_line(value))) for name, value in words.rows(cascade)]
    print_section(console, "Cascade", rows_table([*rows, *notice_rows("Note", cascade.warnings)]))
    if cascade.tuned is not None and cascade.tuned.curve:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for head in words.CURVE_HEADS:
            table.add_column(head, justify="right")
        for point in cascade.tuned.curve:
            table.add_row(*words.curve_row(point))
        print_section(console, "With other errors stated, each for itself", table)
