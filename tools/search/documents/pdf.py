"""A page of a PDF as paragraphs and tables.

Its text comes in lines without a word on what they belong to. How the page is laid out tells: what stands apart is a
paragraph, and lines with the same wide gaps are rows of a table.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile
from threading import Lock

from factloop.tools.search.documents.sections import SOFT_HYPHEN, Block, Rows, row_lines
from factloop.tools.search.passages import PARAGRAPHS

_CELL = re.compile(r"\S+(?: {1,2}\S+)*")
"""Words that no wide gap parts."""
_FEWEST_CELLS = 3
_NAME = re.compile(r"[^\W\d_][^\d\"“”.,;:=?!{}]{0,39}")
"""The name of a column."""
_USUAL = 4
"""The gap between lines that a fourth of them have is that within paragraphs."""
_HYPHEN = re.compile(r"\b([^\W\d_]{2,30})-\n([a-z]{2,30})\b")
_WORD = 4
"""Letters of words that are hardly parts of others: *well-known* has a hyphen of its own, *al-though* has not."""
_HALVES = re.compile(r"(?<![\w'’-])([a-z]{2,30}) (?=([a-z]{2,30})(?![\w'’-]))")
_ONE_LOADS = Lock()
"""The dictionary takes seconds of computing, in each thread that asks for it meanwhile."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of text; in which place the page shows it, if that is certain."""

    text: str
    place: int | None = None
    cells: tuple[re.Match[str], ...] = ()
    is_apart: bool = False
    """Whether more space is above it than within paragraphs."""


def page_blocks(text: str, layout: str) -> list[Block]:
    """The text of a page in its order, parted by its layout; each row of a table with the names of its columns.

    `layout` is the same text as it stands on the page, blanks for gaps; where it differs the text stays as it is.
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
    """The lines with their places; the cells of a row that stand on lines of their own are one line."""
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
    """How many lines a row takes: one, or one for each cell; 0 where they say something else."""
    row = [_squeezed(cell[0]) for cell in cells]
    if _squeezed(lines[0]) == "".join(row):
        return 1
    return len(lines) if [_squeezed(line) for line in lines] == row else 0


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _gaps(layout: str) -> list[int]:
    """The blank lines above each line that is not blank."""
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
    """The head of a table and its rows, if they come first; else nothing."""
    head = lines[0]
    if not head.cells or any(_NAME.fullmatch(cell[0]) is None for cell in head.cells):
        return ()
    rows = [after for _, after in takewhile(lambda pair: _stands_under(*pair, head), pairwise(lines))]
    is_table = len(rows) > 1 or any(character.isdigit() for row in rows for character in row.text)
    return [head, *rows] if is_table else ()


def _stands_under(above: _Line, below: _Line, head: _Line) -> bool:
    """Whether a line is right below another, and each of its cells below one of that or of the head."""
    if above.place is None or below.place != above.place + 1 or len(below.cells) != len(head.cells):
        return False
    columns = zip(head.cells, above.cells, below.cells, strict=True)
    return all(_overlap(name, cell) or _overlap(upper, cell) for name, upper, cell in columns)


def _overlap(one: re.Match[str], other: re.Match[str]) -> bool:
    return one.start() < other.end() and other.start() < one.end()


def _rows(table: Sequence[_Line]) -> Rows:
    head, *rows = [[_whole_words(cell[0]) for cell in line.cells] for line in table]
    return Rows(tuple(row_lines(head, rows)))


def _paragraphs(lines: Sequence[_Line]) -> Iterator[str]:
    written = ""
    for above, line in zip([None, *lines], lines, strict=False):
        is_row = bool(line.cells) or (above is not None and bool(above.cells))
        parts = (line.is_apart or is_row) and not line.text.lstrip()[:1].islower()
        written += "" if above is None else PARAGRAPHS if parts else "\n"
        written += line.text
    if written.strip():
        yield _whole_words(_HYPHEN.sub(_joined, written))


@lru_cache(maxsize=4_096)
def is_english_word(lower: str) -> bool:
    """Whether a dictionary of English has the word."""
    import simplemma

    with _ONE_LOADS:
        return simplemma.is_known(lower, lang="en")


def _joined(halves: re.Match[str]) -> str:
    """A word that was parted at the end of a line; one that has a hyphen of its own keeps it."""
    first, second = halves[1], halves[2]
    if min(len(first), len(second)) >= _WORD and is_english_word(first.lower()) and is_english_word(second):
        return f"{first}-{second}"
    if is_english_word((first + second).lower()):
        return first + second
    return halves[0]


def _whole_words(text: str) -> str:
    """The text with words made whole that a mark for parting them, which shows nothing, split: *chil dren*."""
    return _HALVES.sub(lambda found: found[1] if _is_one_word(found[1], found[2]) else found[0], text)


def _is_one_word(first: str, second: str) -> bool:
    return not is_english_word(first) and not is_english_word(second) and is_english_word(first + second)
