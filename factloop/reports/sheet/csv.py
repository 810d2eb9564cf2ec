"""A sheet as CSV: every column, numbers with all their digits, and what figures rest on in columns of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from factloop.reports.downloads import DownloadLink, csv_text, text_download
from factloop.reports.sheet.table import NOTHING, Cell, Sheet, Value


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
