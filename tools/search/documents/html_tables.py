"""A table of a page, as its tags come: which cell stands in which column, and what the columns are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from factloop.tools.search.documents.sections import Block, Rows
from factloop.tools.search.documents.tables import row_lines

_MOST_COLUMNS, _MOST_SPANNED = 60, 200
_LONGEST_LAYOUT = 300
"""Characters of a cell: with a longer one and no header, the table only lays the page out."""
_CELLS = frozenset({"td", "th"})
_STRUCTURE = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "table"})


@dataclass(slots=True)
class _Cell:
    text: str
    is_header: bool
    n_columns: int = 1
    n_rows: int = 1


@dataclass(slots=True)
class _Row:
    cells: list[_Cell] = field(default_factory=list)


class HtmlTable:
    """Reads one table; a table within a cell is text of that cell."""

    def __init__(self, parts: list[str]) -> None:
        """`parts` is where the text of the page is collected meanwhile."""
        self.begin = len(parts)
        self._parts = parts
        self._depth = 1
        self._rows: list[_Row] = []
        self._caption: list[str] = []
        self._open: tuple[str, int, Mapping[str, str]] | None = None
        self._holds_structure = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._holds_structure |= tag in _STRUCTURE
        if tag == "table":
            self._depth += 1
        elif self._depth == 1:
            if tag == "tr":
                self._rows.append(_Row())
            elif tag in _CELLS or tag == "caption":
                self._open = (tag, len(self._parts), dict(attributes))

    def end(self, tag: str) -> bool:
        """Whether the table ends with it."""
        if tag == "table":
            self._depth -= 1
        elif self._depth == 1 and self._open is not None and tag == self._open[0]:
            self._end_cell(*self._open)
            self._open = None
        return self._depth == 0

    def _end_cell(self, tag: str, begin: int, attributes: Mapping[str, str]) -> None:
        text = " ".join("".join(self._parts[begin:]).split())
        if tag == "caption":
            self._caption.append(text)
            return
        if not self._rows:
            self._rows.append(_Row())
        columns = _span(attributes, "colspan", _MOST_COLUMNS)
        self._rows[-1].cells.append(_Cell(text, tag == "th", columns, _span(attributes, "rowspan", _MOST_SPANNED)))

    def rows(self) -> list[Block] | None:
        """The table with the header in each row; None for a table that only lays the page out."""
        cells = [cell for row in self._rows for cell in row.cells]
        is_labelled = any(cell.is_header for cell in cells)
        is_wide = any(len(row.cells) > 1 for row in self._rows)
        is_layout = self._holds_structure or any(len(cell.text) > _LONGEST_LAYOUT for cell in cells)
        if not is_wide or (not is_labelled and is_layout):
            return None
        lines = [line for line in self._caption if line]
        header: list[str] = []
        was_header = False
        for row in _filled(self._rows):
            held = [cell for cell in row if cell is not None]
            if held and all(cell.is_header for cell in held):
                names = [cell.text if cell else "" for cell in row]
                if len({id(cell) for cell in held}) == 1:
                    lines += [names[0]] if names[0] else []  # one cell over the whole width: it heads what follows
                else:
                    header = _under(header, names) if was_header else names
                    was_header = True
                continue
            was_header = False
            lines += _lines(header, row)
        return [Rows(tuple(lines))] if lines else None


def _lines(header: list[str], row: list[_Cell | None]) -> list[str]:
    texts = [cell.text if cell else "" for cell in row]
    first = row[0] if row else None
    if header or first is None or not first.is_header or len(row) < 2:
        return list(row_lines(header, [_once(header, row)]))
    return list(row_lines([first.text] * 2, [[" ".join(dict.fromkeys(text for text in texts[1:] if text))]]))


def _once(header: list[str], row: list[_Cell | None]) -> list[str]:
    """The cells of a row; one over several columns of one name, or of none, is said once."""
    said: set[tuple[int, str]] = set()
    texts: list[str] = []
    for place, cell in enumerate(row):
        name = header[place] if place < len(header) else ""
        texts.append("" if cell is None or (id(cell), name) in said else cell.text)
        said.add((id(cell), name))
    return texts


def _under(header: list[str], names: list[str]) -> list[str]:
    """Joins two rows of a header into one: what stands above goes before."""
    width = max(len(header), len(names))
    padded = [[*row, *[""] * (width - len(row))] for row in (header, names)]
    return [" ".join(dict.fromkeys(name for name in pair if name)) for pair in zip(*padded, strict=True)]


def _filled(rows: list[_Row]) -> list[list[_Cell | None]]:
    """The rows with every cell in each column and row that it spans."""
    filled: list[list[_Cell | None]] = []
    reaching: dict[int, tuple[_Cell, int]] = {}
    """Column to the cell from above, and how many rows it still spans."""
    for row in rows:
        line: list[_Cell | None] = []
        cells = iter(row.cells)
        column = 0
        while column < _MOST_COLUMNS:
            if column in reaching:
                cell, left = reaching.pop(column)
                line.append(cell)
                if left > 1:
                    reaching[column] = (cell, left - 1)
                column += 1
                continue
            following = next(cells, None)
            if following is None:
                if not any(place > column for place in reaching):
                    break
                line.append(None)
                column += 1
                continue
            for _ in range(following.n_columns):
                if column in reaching or column >= _MOST_COLUMNS:
                    break
                line.append(following)
                if following.n_rows > 1:
                    reaching[column] = (following, following.n_rows - 1)
                column += 1
        filled.append(line)
    return filled


def _span(attributes: Mapping[str, str], name: str, most: int) -> int:
    said = attributes.get(name, "")
    return min(max(int(said), 1), most) if said.isdecimal() and len(said) < 6 else 1
