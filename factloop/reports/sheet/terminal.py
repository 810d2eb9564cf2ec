"""Shows a table in the terminal, with values side by side or, if there is too little room, one below the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from factloop.reports.sheet.table import Cell, Column, Line, Sheet
from factloop.reports.terminal_parts import one_line, print_section

LEAST_NAME = 12  # minimum width for names that are at least this long; longer names are wrapped
_BELOW = 8  # minimum width to which reasons and bases are wrapped below figures
_MARGIN = 2  # columns left blank on both sides of a section
_GAP = 2  # blanks between columns
Layout = Callable[[Sheet], RenderableType]


class KeptSheets(Console):
    """Collects the tables printed to it instead of showing them."""

    def __init__(self) -> None:
        super().__init__(quiet=True)
        self.sheets: list[Sheet] = []


def keep_sheet(console: Console, sheet: Sheet) -> None:
    """Adds the sheet to the console if it is a `KeptSheets`, for callers that print it in a different form."""
    if isinstance(console, KeptSheets):
        console.sheets += [sheet] * bool(sheet.lines)


def print_sheet(console: Console, sheet: Sheet, narrow: Layout | None = None, *, whole: Sheet | None = None) -> None:
    """Prints the sheet under its title, unless it is empty. `narrow` renders a sheet that is too wide. `whole` is the
    table to write to files if it differs from the one in the terminal."""
    keep_sheet(console, whole or sheet)
    if sheet.lines:
        print_section(console, one_line(sheet.title), sheet_body(sheet, console.width, narrow))


def sheet_body(sheet: Sheet, width: int, narrow: Layout | None = None) -> RenderableType:
    """Renders the sheet without its title, for a terminal of this width."""
    widths = _widths(sheet, width - _MARGIN)
    return _side_by_side(sheet, widths) if widths is not None else (narrow or stacked)(sheet)


def _widths(sheet: Sheet, room: int) -> list[int] | None:
    needed = [*map(_needed, zip(*map(sheet.on_terminal, sheet.lines), strict=True))]
    for limit in range(max((head for _, head in needed), default=0), -1, -1):
        widths = [max(least, min(head, limit)) for least, head in needed]
        if sum(widths) + _GAP * (len(widths) - 1) <= room:
            return widths
    return None


def _needed(found: Sequence[tuple[Column, Cell]]) -> tuple[int, int]:
    column = found[0][0]
    head = one_line(column.head)
    below = max(cell_len(_below(cell)) for _, cell in found)
    texts = [*head.split(), *(text for _, cell in found for text in _texts(cell))]
    least = max(*map(cell_len, texts), min(_BELOW, below))
    return (min(least, LEAST_NAME), min(cell_len(head), LEAST_NAME)) if column.is_name else (least, cell_len(head))


def _side_by_side(sheet: Sheet, widths: Sequence[int]) -> RenderableType:
    parts: list[RenderableType] = []
    for place, (heading, lines) in enumerate(_under_headings(sheet)):
        parts += [Text(one_line(heading), style="bold")] if heading else []
        parts.append(_table(sheet, lines, widths, has_heads=place == 0))
    return Group(*parts)


def _under_headings(sheet: Sheet) -> Iterator[tuple[str, list[Line]]]:
    found: dict[str, list[Line]] = {}
    for line in sheet.lines:
        found.setdefault(sheet.heading_of(line), []).append(line)
    return iter(found.items())


def _table(sheet: Sheet, lines: Sequence[Line], widths: Sequence[int], *, has_heads: bool) -> Table:
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, show_header=has_heads)
    for place, (column, _) in enumerate(sheet.on_terminal(lines[0])):
        table.add_column(
            _head(column, widths[place]),
            header_style="dim",
            style="bold" if column.is_strong else "",
            overflow="fold",
            justify="left" if column.is_name else "right",
            vertical="top",
            no_wrap=not column.is_name,
            min_width=widths[place],
        )
    above: list[str] = []
    for line in lines:
        shown = sheet.on_terminal(line)
        names = [f"{cell.text} {cell.note}" for column, cell in shown if column.is_name]
        n_repeated = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(names[:-1], above, strict=False)))
        table.add_row(
            *(
                "" if n < n_repeated else _cell(cell, column, width)
                for n, ((column, cell), width) in enumerate(zip(shown, widths, strict=True))
            )
        )
        above = names
    return table


def _head(column: Column, width: int) -> Text:
    head = one_line(column.head)
    return Text(head if column.is_name else "\n".join(_folded(head, width)))


def _folded(text: str, width: int) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        if lines and cell_len(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def stacked(sheet: Sheet) -> Text:
    """Renders the sheet as text: each line's names, followed by one line for each value with its basis."""
    lines: list[tuple[str, str]] = []
    for heading, found in _under_headings(sheet):
        lines += [(one_line(heading), "bold")] if heading else []
        for shown in map(sheet.on_terminal, found):
            lines.append((one_line(", ".join(cell.text for column, cell in shown if column.is_name)), ""))
            lines += [
                (f"  {one_line(column.head)}: {' '.join(_words(cell))}", "dim")
                for column, cell in shown
                if not column.is_name
            ]
    return Text("\n").join(Text(*line) for line in lines)


def _words(cell: Cell) -> Iterator[str]:
    yield from _texts(cell, says_why=True)
    if cell.basis:
        yield f"({one_line(cell.basis)})"


def _cell(cell: Cell, column: Column, width: int) -> Text:
    text, *notes = _texts(cell)
    below = _below(cell)
    notes += [] if not below else [below] if column.is_name else _folded(below, width)
    style = cell.style or ("yellow" if cell.why else "")
    return Text.assemble((text, style), *((f"\n{note}", "not bold dim") for note in notes))


def _below(cell: Cell) -> str:
    return one_line(cell.why or cell.basis)


def _texts(cell: Cell, *, says_why: bool = False) -> Iterator[str]:
    if cell.why:
        yield f"undefined: {one_line(cell.why)}" if says_why else "undefined"
    else:
        yield one_line(cell.text)
    if cell.note:
        yield one_line(cell.note)
