"""A sheet on the terminal: figures side by side, or under each other where there is no room."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from factloop.reports.sheet.table import Cell, Column, Line, Sheet
from factloop.reports.terminal_parts import one_line, print_section

LEAST_NAME = 12
"""Columns that a name takes at least, if it is as long; longer ones are folded."""
_BELOW = 8
"""Columns to which reasons and what figures rest on are folded under them, at least."""
_MARGIN = 2
"""Columns that a section leaves free at both sides."""
Layout = Callable[[Sheet], RenderableType]


class KeptSheets(Console):
    """A console that shows nothing and keeps the tables that are printed on it."""

    def __init__(self) -> None:
        super().__init__(quiet=True)
        self.sheets: list[Sheet] = []


def keep_sheet(console: Console, sheet: Sheet) -> None:
    """Keeps a table that is about to be printed in a form of its own."""
    if isinstance(console, KeptSheets):
        console.sheets += [sheet] * bool(sheet.lines)


def print_sheet(console: Console, sheet: Sheet, narrow: Layout | None = None, *, whole: Sheet | None = None) -> None:
    """The sheet under its title, if it has lines; `narrow` lays it out where it does not fit side by side.

    `whole` is the table that files have, where the terminal has another form of it.
    """
    keep_sheet(console, whole or sheet)
    if sheet.lines:
        print_section(console, one_line(sheet.title), sheet_body(sheet, console.width, narrow))


def sheet_body(sheet: Sheet, width: int, narrow: Layout | None = None) -> RenderableType:
    """The sheet without its title, for a terminal of so many columns."""
    widths = _widths(sheet, width - _MARGIN)
    return _side_by_side(sheet, widths) if widths is not None else (narrow or stacked)(sheet)


def _is_set(sheet: Sheet) -> bool:
    """Whether its columns have widths of their own, for figures to stand close; the first has what is left over."""
    return any(column.width for column in sheet.columns)


def _gap(sheet: Sheet) -> int:
    return 1 if _is_set(sheet) else 2


def _widths(sheet: Sheet, room: int) -> list[int] | None:
    """Of the columns that the terminal shows, long heads folded no further than it takes; None where nothing helps."""
    needed = [*map(_needed, _shown_columns(sheet, sheet.lines))]
    for limit in range(max((head for _, head in needed), default=0), -1, -1):
        widths = [max(least, min(head, limit)) for least, head in needed]
        if sum(widths) + _gap(sheet) * (len(widths) - 1) <= room:
            return widths
    return None


def _shown_columns(sheet: Sheet, lines: Iterable[Line]) -> Iterator[tuple[tuple[Column, Cell], ...]]:
    return zip(*map(sheet.on_terminal, lines), strict=True)


def _needed(found: Sequence[tuple[Column, Cell]]) -> tuple[int, int]:
    """The width of the longest text or word of the head, and that of the whole head."""
    column = found[0][0]
    if column.width:
        return column.width, column.width
    head = one_line(column.head)
    below = max(cell_len(_below(cell)) for _, cell in found)
    texts = [*head.split(), *(text for _, cell in found for text in _texts(cell))]
    least = max(*map(cell_len, texts), min(_BELOW, below))
    return (min(least, LEAST_NAME), min(cell_len(head), LEAST_NAME)) if column.is_name else (least, cell_len(head))


def _side_by_side(sheet: Sheet, widths: Sequence[int]) -> RenderableType:
    """Each heading over a table of its own; widths that are set make their columns stand under each other."""
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
    is_set, gap = _is_set(sheet), _gap(sheet)
    padding = (0, 0, 0, gap) if is_set else (0, gap, 0, 0)
    table = Table(box=None, padding=padding, pad_edge=False, expand=is_set, show_header=has_heads)
    for place, (column, _) in enumerate(sheet.on_terminal(lines[0])):
        table.add_column(
            _head(column, widths[place]),
            header_style="dim",
            style="bold" if column.is_strong else "",
            overflow="fold",
            justify="left" if column.is_name else "right",
            vertical="top",
            no_wrap=not column.width and not column.is_name,
            width=column.width or None,
            ratio=1 if is_set and place == 0 else None,
        )
    above: list[str] = []
    for line in lines:
        shown = sheet.on_terminal(line)
        names = [cell.text for column, cell in shown if column.is_name]
        n_repeated = _n_repeated(names, above)
        table.add_row(
            *(
                "" if n < n_repeated else _cell(cell, column, width)
                for n, ((column, cell), width) in enumerate(zip(shown, widths, strict=True))
            )
        )
        above = names
    return table


def _head(column: Column, width: int) -> Text:
    """On as many lines as it takes; rich folds those of columns that are not kept in one line."""
    head = one_line(column.head)
    return Text(head if column.width or column.is_name else "\n".join(_folded(head, width)))


def _folded(text: str, width: int) -> list[str]:
    """On lines of so many columns, or as many as its longest word takes."""
    lines: list[str] = []
    for word in text.split():
        if lines and cell_len(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _n_repeated(names: Sequence[str], above: Sequence[str]) -> int:
    """How many names the line has in common with the one above, from the left; the last one is always said."""
    pairs = zip(names[:-1], above, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def stacked(sheet: Sheet) -> Text:
    """A line for each figure, with all that it rests on, under the names of the line that it belongs to."""
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
    """Where columns stand close, a reason takes the place of the figure, and what figures rest on has no room.

    Names are folded to the room that there is, so that what stands below them is folded no further.
    """
    text, *notes = _texts(cell, says_why=bool(column.width))
    below = _below(cell)
    notes += [] if column.width or not below else [below] if column.is_name else _folded(below, width)
    style = cell.style or ("yellow" if cell.why else "")
    return Text.assemble((text, style), *((f"\n{note}", "not bold dim") for note in notes))


def _below(cell: Cell) -> str:
    return one_line(cell.why or cell.basis)


def _texts(cell: Cell, *, says_why: bool = False) -> Iterator[str]:
    """The words of a cell, then its note."""
    if cell.why:
        yield f"undefined: {one_line(cell.why)}" if says_why else "undefined"
    else:
        yield one_line(cell.text)
    if cell.note:
        yield one_line(cell.note)
