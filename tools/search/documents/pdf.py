"""Reads a PDF page as paragraphs and tables.

The text of a page is a list of lines. The layout reveals its structure: a wider space above a line starts a paragraph,
and lines with the same wide gaps are the rows of a table.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from factloop.tools.search.documents.sections import SOFT_HYPHEN, Block, Rows, row_lines
from factloop.tools.search.passages import PARAGRAPHS

_CELL = re.compile(r"\S+(?: {1,2}\S+)*")
_FEWEST_CELLS = 3
_NAME = re.compile(r"[^\W\d_][^\d\"“”.,;:=?!{}]{0,39}")
_USUAL = 4
"""The first quartile (1/4) of all gaps between lines is taken as the gap within paragraphs."""
_HYPHEN = re.compile(r"(?<=[^\W\d_]{2})-\n(?=[a-z]{2})")
"""Matches a word split at the end of a line. If the word itself contains a hyphen there, that hyphen is lost."""


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    place: int | None = None
    cells: tuple[re.Match[str], ...] = ()
    is_apart: bool = False


def page_blocks(text: str, layout: str) -> list[Block]:
    """Splits the text of a page by its layout, keeping the order. Each table row gets the names of its columns.

    `layout` is the same text as arranged on the page, with spaces for gaps. Lines missing from it stay unchanged.
    """
    lines = list(_placed(text.replace(f"{SOFT_HYPHEN}\n", "").replace(SOFT_HYPHEN, "").split("\n"), layout))
    blocks: list[Block] = []
    prose: list[_Line] = []
    at = 0
    while at < len(lines):
        table = _table(lines[at:])
        if table:
            blocks += [*_paragraphs(prose), _rows(table)]
            prose = []
        else:
            prose.append(lines[at])
        at += len(table) or 1
    return [*blocks, *_paragraphs(prose)]


def _placed(lines: Sequence[str], layout: str) -> Iterator[_Line]:
    layout = layout.replace(SOFT_HYPHEN, "").replace("\xa0", " ")
    shown = [line for line in layout.split("\n") if line.strip()]
    gaps = _gaps(layout)
    usual = sorted(gaps[1:])[(len(gaps) - 1) // _USUAL] if len(gaps) > 1 else 0
    rows = [tuple(_CELL.finditer(line)) for line in shown]
    places: defaultdict[str, deque[int]] = defaultdict(deque)
    for row, cells in enumerate(rows):
        places[_squeezed(shown[row])].append(row)
        if len(cells) >= _FEWEST_CELLS:
            places[_squeezed(cells[0][0])].append(row)
    at = 0
    while at < len(lines):
        place = next(iter(places[_squeezed(lines[at])]), None)
        n_lines = 0 if place is None else _lines_of(rows[place], lines[at : at + len(rows[place])])
        if place is None or not n_lines:
            yield _Line(lines[at])
        else:
            places[_squeezed(lines[at])].popleft()
            cells = rows[place] if len(rows[place]) >= _FEWEST_CELLS else ()
            yield _Line(" ".join(lines[at : at + n_lines]), place, cells, gaps[place] > usual)
        at += n_lines or 1


def _lines_of(cells: Sequence[re.Match[str]], lines: Sequence[str]) -> int:
    """Returns how many lines a row takes up: 1 or one per cell, or 0 if the lines contain other text."""
    row = [_squeezed(cell[0]) for cell in cells]
    if _squeezed(lines[0]) == "".join(row):
        return 1
    return len(lines) if [_squeezed(line) for line in lines] == row else 0


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _gaps(layout: str) -> list[int]:
    gaps: list[int] = []
    blank = 0
    for line in layout.split("\n"):
        if line.strip():
            gaps.append(blank)
            blank = 0
        else:
            blank += 1
    return gaps


def _table(lines: Sequence[_Line]) -> Sequence[_Line]:
    head = lines[0]
    if not head.cells or any(_NAME.fullmatch(cell[0]) is None for cell in head.cells):
        return ()
    rows = [after for _, after in takewhile(lambda pair: _stands_under(*pair, head), pairwise(lines))]
    is_table = len(rows) > 1 or any(character.isdigit() for row in rows for character in row.text)
    return [head, *rows] if is_table else ()


def _stands_under(above: _Line, below: _Line, head: _Line) -> bool:
    if above.place is None or below.place != above.place + 1 or len(below.cells) != len(head.cells):
        return False
    columns = zip(head.cells, above.cells, below.cells, strict=True)
    return all(_overlap(name, cell) or _overlap(upper, cell) for name, upper, cell in columns)


def _overlap(one: re.Match[str], other: re.Match[str]) -> bool:
    return one.start() < other.end() and other.start() < one.end()


def _rows(table: Sequence[_Line]) -> Rows:
    head, *rows = [[cell[0] for cell in line.cells] for line in table]
    return Rows(tuple(row_lines(head, rows)))


def _paragraphs(lines: Sequence[_Line]) -> Iterator[str]:
    written = ""
    for above, line in zip([None, *lines], lines, strict=False):
        is_row = bool(line.cells) or (above is not None and bool(above.cells))
        parts = (line.is_apart or is_row) and not line.text.lstrip()[:1].islower()
        written += "" if above is None else PARAGRAPHS if parts else "\n"
        written += line.text
    if written.strip():
        yield _HYPHEN.sub("", written)
