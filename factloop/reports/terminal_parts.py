"""The parts of reports on the terminal: titled sections, rows of a result, texts cut to length."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from factloop.core.records import StageUsage
from factloop.reports import figures
from factloop.reports.visible import visible

WIDE = 100
"""Columns from which things stand side by side; below, they stand under each other."""

LONGEST = 400
"""Characters of a text on the terminal; the page and the JSON report have more."""

_RULE = 2
"""Columns of a titled rule that its title leaves over at the least: a space, and a piece of the line."""

Row = tuple[str, Text]


def print_section(console: Console, title: str, body: RenderableType) -> None:
    """A titled rule, the body, and an empty line. A title too long for its rule stands above it."""
    heading = Text(title, style="bold")
    if heading.cell_len + _RULE <= console.width:
        console.print(Rule(heading, align="left", style="dim"))
    else:
        console.print(heading)
        console.print(Rule(style="dim"))
    console.print(Padding(body, (0, 1, 1, 1)))


def print_question(console: Console, question: str) -> None:
    console.print(Text(visible(question) or "(no question)", style="bold"))
    console.print()


def rows_table(rows: Iterable[Row]) -> Table:
    """Names at the left, what there is to say of them at the right."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(Text(name), value)
    return table


def one_line(text: str, longest: int = LONGEST) -> str:
    """The text on one line, cut after a word where it is longer than `longest`."""
    shown = visible(" ".join(text.split()))
    if len(shown) <= longest:
        return shown
    return f"{shown[:longest].rpartition(' ')[0] or shown[:longest]} …"


def usage_rows(usage: StageUsage) -> list[Row]:
    """Calls, tokens, cost and time; without a model only searches and time."""
    if figures.used_a_model(usage):
        spent = [("Calls", figures.calls(usage)), ("Tokens", figures.tokens(usage)), ("Cost", figures.cost(usage))]
    else:
        spent = [("Searches", f"{usage.searches:,}")] if usage.searches else []
    return [(name, Text(value)) for name, value in [*spent, ("Time", figures.duration(usage.wall_s))]]


def notice_rows(name: str, notices: Iterable[str]) -> list[Row]:
    return [(name, Text(visible(notice), style="yellow")) for notice in notices]
