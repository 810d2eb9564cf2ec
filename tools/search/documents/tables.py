"""Rows of tables as lines of text, each with what its columns are called, so that none is read without its header."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from factloop.tools.search.passages import PassageSettings, split_passages

BETWEEN = "; "
_LONGEST_ROW = PassageSettings(words=60, slack=10)
"""Shorter than a passage is at least, so that a row is never cut."""
_ROW_CHARACTERS = 400
_LABEL_CHARACTERS = 80


def row_lines(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """`Tower: Smeaton's; Lit: 1759` for each row that holds anything; empty cells are left out.

    A row too long for a passage becomes several lines, each with its first cell and the columns' names.
    """
    for row in rows:
        cells = [
            (" ".join((header[place] if place < len(header) else "").split()), " ".join(cell.split()))
            for place, cell in enumerate(row)
        ]
        yield from _lines([(name, cell) for name, cell in cells if cell])


def _lines(cells: Sequence[tuple[str, str]]) -> Iterator[str]:
    if not cells:
        return
    whole = BETWEEN.join(_cell(*cell) for cell in cells)
    if len(whole) <= _ROW_CHARACTERS and whole.isascii():
        yield whole
        return
    first = _cell(*cells[0])
    label = first if len(first) <= _LABEL_CHARACTERS else ""
    line: list[str] = [label] if label else []
    for name, cell in cells[bool(label) :]:
        for piece in split_passages(cell, _LONGEST_ROW):
            said = _cell(name, piece.replace("\n", " "))
            if len(line) > bool(label) and not _fits([*line, said]):
                yield BETWEEN.join(line)
                line = [label] if label else []
            line.append(said)
    if line:
        yield BETWEEN.join(line)


def _fits(line: Sequence[str]) -> bool:
    return len(list(split_passages(BETWEEN.join(line), _LONGEST_ROW))) == 1


def _cell(name: str, cell: str) -> str:
    return f"{name}: {cell}" if name and name != cell else cell
