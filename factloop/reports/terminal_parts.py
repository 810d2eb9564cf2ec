"""Formats the parts of reports in the terminal: titled sections, result rows, and shortened text."""

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

LONGEST = 400  # maximum number of characters of a text on the terminal; pages and JSON reports contain the full text

_RULE = 2  # minimum width of the rule after a title: a space and one character of the line

Row = tuple[str, Text]


def print_section(console: Console, title: str, body: RenderableType) -> None:
    """Prints a rule with the title, then the body and an empty line. Titles that do not fit go above the rule."""
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


def rows_table(rows: Iterable[tuple[str, RenderableType]]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(Text(name), value)
    return table


def whole_text(parts: Iterable[Text]) -> Text:
    text = Text().join(parts)
    text.rstrip()
    return text if text else Text("(empty)", style="dim")


def one_line(text: str, longest: int = LONGEST) -> str:
    """Returns the text on one line. If it is longer than `longest`, it is cut at the end of a word."""
    shown = visible(" ".join(text.split()))
    if len(shown) <= longest:
        return shown
    return f"{shown[:longest].rpartition(' ')[0] or shown[:longest]} …"


def usage_rows(usage: StageUsage) -> list[Row]:
    """Returns calls, tokens, cost and time, or only searches and time if no model was used."""
    if figures.used_a_model(usage):
        spent = [("Calls", figures.calls(usage)), ("Tokens", figures.tokens(usage)), ("Cost", figures.cost(usage))]
    else:
        spent = [("Searches", f"{usage.searches:,}")] if usage.searches else []
    return [(name, Text(value)) for name, value in [*spent, ("Time", figures.duration(usage.wall_s))]]


def notice_rows(name: str, notices: Iterable[str]) -> list[Row]:
    return [(name, Text(visible(notice), style="yellow")) for notice in notices]
