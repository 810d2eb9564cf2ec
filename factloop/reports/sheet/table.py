"""A table said once: the words of every cell are chosen here, and each surface lays them out in its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from factloop.core.figure import Figure, Measurement
from factloop.reports.downloads import DownloadLink, csv_text, text_download

NOTHING = "–"
"""Stands where there is no number."""
Item = TypeVar("Item")
Value = str | int | float | None


@dataclass(frozen=True)
class Cell:
    """The content of one place of a table."""

    text: str
    note: str = ""
    """What belongs to the text wherever it is shown, such as its interval."""
    basis: str = ""
    """What the text rests on; pages show it, other surfaces have less room."""
    why: str = ""
    """Why there is no figure; empty where there is one."""
    value: Value = None
    """The text's number with all its digits, for CSV; None where the text itself is the value."""
    interval: tuple[float, float] | None = None
    n: int | None = None
    """Items that the figure rests on."""
    tone: str = ""
    """The verdict whose colour the text has, as in `is-supported` on pages."""
    style: str = ""
    """The colour of the text on the terminal."""
    is_marked: bool = False
    """Whether it is set off from its neighbours, as is the diagonal of a table of agreement."""


@dataclass(frozen=True)
class Column:
    head: str
    is_name: bool = False
    """Whether its cells say in words what a line is about. The first column does; on the terminal names lead."""
    is_heading: bool = False
    """A name that on the terminal stands once above all lines that have it."""
    is_as_given: bool = False
    """Whether a heading keeps its first letter: the name of a system, rather than words of ours."""
    is_strong: bool = False
    key: str = ""
    """Its head in CSV, where that is another."""
    width: int = 0
    """Columns of the terminal that it takes; 0 for as many as its cells need. Longer texts are folded."""
    on_terminal: bool = True
    on_page: bool = True


@dataclass(frozen=True)
class Line:
    cells: tuple[Cell, ...]
    """One for each column."""
    of: tuple[str, ...] = ()
    """What the line is about, by the names that a page's script knows it by."""
    is_total: bool = False


@dataclass(frozen=True)
class Sheet:
    """A table. Names and texts may come from files and models: every renderer shows them as text."""

    title: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]

    def on_page(self, line: Line) -> list[tuple[Column, Cell]]:
        """The cells of a line that pages show, each with its column."""
        return [(column, cell) for column, cell in self._pairs(line) if column.on_page]

    def on_terminal(self, line: Line) -> list[tuple[Column, Cell]]:
        """The cells of a line that the terminal shows beside each other; headings stand above."""
        return [(column, cell) for column, cell in self._pairs(line) if column.on_terminal and not column.is_heading]

    def heading_of(self, line: Line) -> str:
        """The name above the line, words of ours with a capital; empty where there is none."""
        for column, cell in self._pairs(line):
            if column.is_heading:
                return cell.text if column.is_as_given else cell.text[:1].upper() + cell.text[1:]
        return ""

    def turned(self, title: str, *, measure: str, value: str, interval: str) -> Sheet:
        """A line for each figure: what does not fit side by side is listed from top to bottom.

        The names of the columns are as given; the figures are the strong columns that the terminal has.
        """
        names = tuple(column for column in self.columns if column.is_name)
        given = (name(measure), Column(value, is_strong=True), Column(interval), Column("n"))
        lines = [
            Line((*_names(pairs), *_turned(column, cell)))
            for pairs in map(self._pairs, self.lines)
            for column, cell in pairs
            if column.is_strong and column.on_terminal
        ]
        return Sheet(title, (*names, *given), tuple(lines))

    def _pairs(self, line: Line) -> list[tuple[Column, Cell]]:
        return list(zip(self.columns, line.cells, strict=True))


def _names(pairs: Iterable[tuple[Column, Cell]]) -> list[Cell]:
    return [cell for column, cell in pairs if column.is_name]


def _turned(column: Column, cell: Cell) -> tuple[Cell, ...]:
    named = f"{column.head}: {cell.why}" if cell.why else column.head
    n = Cell("") if cell.n is None else count_cell(cell.n)
    return Cell(named), Cell(cell.text, value=cell.value), Cell(cell.note or NOTHING), n


ColumnOf = tuple[Column, Callable[[Item], Cell | str | int]]
"""A column, and the function that fills its cell for an item."""


def sheet_of(
    title: str,
    columns: Sequence[ColumnOf[Item]],
    items: Iterable[Item],
    *,
    of: Callable[[Item], tuple[str, ...]] = lambda _: (),
    is_total: Callable[[Item], bool] = lambda _: False,
) -> Sheet:
    """A line for each item, a cell for each column; whole numbers and texts become cells."""
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
    """`1,204`."""
    return Cell(f"{count:,}", value=count)


def figure_cell(
    one: Measurement,
    shown: Callable[[float], str],
    between: Callable[[str, str], str] = "[{}, {}]".format,
    *,
    basis: str | None = None,
) -> Cell:
    """A figure with its interval and what it rests on, `n 1,204` where `basis` does not say; or why it is undefined."""
    n = one.n if isinstance(one, Figure) else None
    rests_on = basis if basis is not None else "" if n is None else f"n {n:,}"
    if one.value is None:
        return Cell(NOTHING, basis=rests_on, why=one.why, n=n)
    note = between(*map(shown, one.interval)) if one.interval else ""
    return Cell(shown(one.value), note, rests_on, value=one.value, interval=one.interval, n=n)


def value_cell(
    value: float | None, shown: Callable[[float], str], why: str = "", *, note: str = "", basis: str = ""
) -> Cell:
    """A number without an interval; a dash, or why there is none, where it is None."""
    if value is None:
        return Cell(NOTHING, note, basis, why=why)
    return Cell(shown(value), note, basis, value=value)


def sheet_download(words: str, file: str, sheet: Sheet) -> DownloadLink:
    """A link that saves the sheet."""
    return text_download(words, file, "text/csv", sheet_csv(sheet))


def sheet_csv(sheet: Sheet) -> str:
    """The sheet as a text. Texts that a spreadsheet would compute are made harmless."""
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
    """Each with its head; of a figure's parts those that some line has."""
    for place, column in enumerate(sheet.columns):
        head = column.key or column.head
        cells = [line.cells[place] for line in sheet.lines]
        yield head, [*map(_value, cells)]
        for ending, part in _PARTS:
            values = [*map(part, cells)]
            if any(value is not None for value in values):
                yield head + ending, values


def _value(cell: Cell) -> Value:
    """None where there is no figure, never the dash that stands for it."""
    if cell.value is not None:
        return cell.value
    return None if cell.text == NOTHING else cell.text
