"""Defines tables and the wording of every cell. Each output has its own layout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from factloop.core.figure import Figure, Measurement
from factloop.reports.downloads import DownloadLink, csv_text, text_download

NOTHING = "–"  # shown instead of a missing number
Item = TypeVar("Item")
Value = str | int | float | None


@dataclass(frozen=True)
class Cell:
    text: str
    note: str = ""
    """An addition that all outputs show after the text, such as an interval."""
    basis: str = ""
    """What the figure is based on. Pages always show this; other outputs have less space."""
    why: str = ""
    """Why there is no figure. Empty if there is one."""
    value: Value = None
    """The unrounded number for CSV, or None if the text itself is the value."""
    interval: tuple[float, float] | None = None
    n: int | None = None
    """Number of items that the figure is based on."""
    tone: str = ""
    """The CSS class that gives the text a verdict's colour on pages, such as `is-supported`."""
    style: str = ""
    """The colour of the text in the terminal."""
    is_marked: bool = False
    """Whether the cell is highlighted, like the diagonal of an agreement table."""


@dataclass(frozen=True)
class Column:
    head: str
    is_name: bool = False
    """Whether the cells name the subject of their line, as in the first column. In the terminal, names come first."""
    is_heading: bool = False
    """Whether the terminal shows the name only once, above all lines that share it."""
    is_as_given: bool = False
    """Whether the heading keeps its case, because it is a system's name."""
    is_strong: bool = False
    key: str = ""
    """The column's header in CSV, if it differs from `head`."""
    on_terminal: bool = True
    on_page: bool = True


@dataclass(frozen=True)
class Line:
    cells: tuple[Cell, ...]
    of: tuple[str, ...] = ()
    """The names that a page's script uses to refer to the subject of the line."""
    is_total: bool = False


@dataclass(frozen=True)
class Sheet:
    """A table. Its texts may come from files and models, so renderers must not interpret them as markup."""

    title: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]

    def on_page(self, line: Line) -> list[tuple[Column, Cell]]:
        return [(column, cell) for column, cell in self._pairs(line) if column.on_page]

    def on_terminal(self, line: Line) -> list[tuple[Column, Cell]]:
        """The cells that the terminal shows side by side, below their heading."""
        return [(column, cell) for column, cell in self._pairs(line) if column.on_terminal and not column.is_heading]

    def heading_of(self, line: Line) -> str:
        """Returns the heading above the line, capitalized unless it is a system's name, or "" if there is none."""
        for column, cell in self._pairs(line):
            if column.is_heading:
                return cell.text if column.is_as_given else cell.text[:1].upper() + cell.text[1:]
        return ""

    def turned(self, title: str, *, measure: str, value: str, interval: str) -> Sheet:
        """Returns a sheet with one line per value, for tables that do not fit side by side. It contains the values from
        every strong column that the terminal shows. `measure`, `value` and `interval` are its column headers."""
        names = tuple(column for column in self.columns if column.is_name)
        given = (name(measure), Column(value, is_strong=True), Column(interval), Column("n"))
        lines = [
            Line((*[cell for column, cell in pairs if column.is_name], *_turned(column, cell)))
            for pairs in map(self._pairs, self.lines)
            for column, cell in pairs
            if column.is_strong and column.on_terminal
        ]
        return Sheet(title, (*names, *given), tuple(lines))

    def _pairs(self, line: Line) -> list[tuple[Column, Cell]]:
        return list(zip(self.columns, line.cells, strict=True))


def _turned(column: Column, cell: Cell) -> tuple[Cell, ...]:
    named = f"{column.head}: {cell.why}" if cell.why else column.head
    n = Cell("") if cell.n is None else count_cell(cell.n)
    return Cell(named), Cell(cell.text, value=cell.value), Cell(cell.note or NOTHING), n


ColumnOf = tuple[Column, Callable[[Item], Cell | str | int]]
"""A column, and a function that returns its cell for an item."""


def sheet_of(
    title: str,
    columns: Sequence[ColumnOf[Item]],
    items: Iterable[Item],
    *,
    of: Callable[[Item], tuple[str, ...]] = lambda _: (),
    is_total: Callable[[Item], bool] = lambda _: False,
) -> Sheet:
    """Builds a sheet with one line per item and one cell per column. Integers and strings are converted to cells."""
    lines = [Line(tuple(_cell(say(item)) for _, say in columns), of(item), is_total(item)) for item in items]
    return Sheet(title, tuple(column for column, _ in columns), tuple(lines))


def name(head: str) -> Column:
    return Column(head, is_name=True)


def page_only(head: str) -> Column:
    return Column(head, on_terminal=False)


def _cell(said: Cell | str | int) -> Cell:
    if isinstance(said, Cell):
        return said
    return count_cell(said) if isinstance(said, int) else Cell(said)


def count_cell(count: int) -> Cell:
    return Cell(f"{count:,}", value=count)


def figure_cell(
    one: Measurement,
    shown: Callable[[float], str],
    between: Callable[[str, str], str] = "[{}, {}]".format,
    *,
    basis: str | None = None,
) -> Cell:
    """Returns a cell with a value, its interval and its basis (`n 1,204` by default), or why it is undefined."""
    n = one.n if isinstance(one, Figure) else None
    rests_on = basis if basis is not None else "" if n is None else f"n {n:,}"
    if one.value is None:
        return Cell(NOTHING, basis=rests_on, why=one.why, n=n)
    note = between(*map(shown, one.interval)) if one.interval else ""
    return Cell(shown(one.value), note, rests_on, value=one.value, interval=one.interval, n=n)


def value_cell(
    value: float | None, shown: Callable[[float], str], why: str = "", *, note: str = "", basis: str = ""
) -> Cell:
    """Returns a cell with a number or, if it is None, with a dash and the reason."""
    if value is None:
        return Cell(NOTHING, note, basis, why=why)
    return Cell(shown(value), note, basis, value=value)


def sheet_download(words: str, file: str, sheet: Sheet) -> DownloadLink:
    return text_download(words, file, "text/csv", sheet_csv(sheet))


def sheet_csv(sheet: Sheet) -> str:
    """Returns the sheet as CSV. Text that a spreadsheet would treat as a formula is escaped."""
    columns = [*_columns(sheet)]
    heads = [head for head, _ in columns]
    return csv_text(heads, zip(*(values for _, values in columns), strict=True))


_PARTS: tuple[tuple[str, Callable[[Cell], Value]], ...] = (
    (" low", lambda cell: cell.interval[0] if cell.interval else None),
    (" high", lambda cell: cell.interval[1] if cell.interval else None),
    (" n", lambda cell: cell.n),
    (" undefined", lambda cell: cell.why or None),
)


def _columns(sheet: Sheet) -> Iterator[tuple[str, Sequence[Value]]]:
    for place, column in enumerate(sheet.columns):
        head = column.key or column.head
        cells = [line.cells[place] for line in sheet.lines]
        yield head, [*map(_value, cells)]
        for ending, part in _PARTS:
            values = [*map(part, cells)]
            if any(value is not None for value in values):
                yield head + ending, values


def _value(cell: Cell) -> Value:
    if cell.value is not None:
        return cell.value
    return None if cell.text == NOTHING else cell.text
