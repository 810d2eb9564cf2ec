"""Defines the sections that loaders return, which are pieces of text with their origin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from factloop.tools.search.passages import PARAGRAPHS, PassageSettings, split_passages
from factloop.tools.text.blocks import WRAPPED_FROM, awaits_more, find_blocks

_MAY_HOLD = re.compile(r"^[ \t>]*(?:[-*+–—·•‣▪◦●([]|\d{1,3}[.)]|[a-z]{1,5}[.)])", re.MULTILINE)
_CLAUSE = re.compile(r"^[ \t]*\d{1,3}(?:\.\d{1,3}){1,3}\.?[ \t]+[A-Z]", re.MULTILINE)
"""Matches clauses such as *3.2 Contractors*, but not whole sections, whose numbers look like those of items."""
_ENDS = (".", "!", "?", ":", ";")


def with_items_apart(text: str) -> str:
    """Adds a blank line before each item and clause, and after each list. Takes linear time."""
    if not _MAY_HOLD.search(text):
        return text
    starts = sorted({*_items(text), *_clauses(text)})
    return "".join(
        text[start:end] + ("\n" if end < len(text) and _line_above(text, end).strip() else "")
        for start, end in zip([0, *starts], [*starts, len(text)], strict=True)
    )


def _items(text: str) -> Iterator[int]:
    """Yields the start of each line that begins an item, or follows an item without being indented."""
    is_below = False
    for block in find_blocks(text):
        line = text.rfind("\n", 0, block.start) + 1
        is_item = bool(text[line : block.start].strip("> \t|#"))
        if is_item or (is_below and not text[line].isspace()):
            yield line
        is_below = is_item


def _clauses(text: str) -> Iterator[int]:
    for clause in _CLAUSE.finditer(text):
        above = _line_above(text, clause.start()).rstrip()
        if above.endswith(_ENDS) or (len(above) < WRAPPED_FROM and not awaits_more(above)):
            yield clause.start()


def _line_above(text: str, line: int) -> str:
    return text[text.rfind("\n", 0, max(0, line - 1)) + 1 : max(0, line - 1)]


SOFT_HYPHEN = "\xad"
WITHIN = " › "
LONGEST_TITLE = 200
BELOW_MARKED = 7
"""Level of a bold line, below all marked headings. A bold line heads a section but is never the title."""


@dataclass(frozen=True, slots=True)
class Section:
    """A document, a part of one under its headings, a page, or a table row."""

    text: str
    title: str
    url: str | None = None
    """URL of the original, which replaces the path of the file."""
    fragment: str = ""
    """Position in the file, such as "page=3" or "line=12", or an empty string for the whole file."""
    published: str | None = None
    section: str | None = None
    """The headings above the section, outermost first, without the title. It is None if there are no headings."""
    tables: tuple[tuple[int, int], ...] = ()
    """Ranges of the text in which each paragraph is a table row, in order."""
    goes_on: bool = False
    """Whether the section and the previous one belong to the same document."""


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Rows:
    """A table, with the header repeated in each row (see `row_lines`)."""

    lines: tuple[str, ...]


Block = str | Heading | Rows
"""An element of a document. A string may contain several paragraphs."""


def first_heading(blocks: Iterable[Block]) -> str:
    return next((one.text for one in blocks if isinstance(one, Heading) and one.level < BELOW_MARKED), "")


def sections_of(
    blocks: Sequence[Block], *, title: str, url: str | None = None, published: str | None = None
) -> Iterator[Section]:
    """Splits a document at its headings, which are removed. A heading without any text below it becomes text."""
    goes_on = False
    for path, part in _parts(blocks, title):
        text, tables = written_blocks(part)
        if text.strip():
            section = WITHIN.join(path)[:LONGEST_TITLE] or None
            yield Section(text, title[:LONGEST_TITLE], url, "", published, section, tables, goes_on)
            goes_on = True


def _parts(blocks: Sequence[Block], title: str) -> Iterator[tuple[list[str], list[Block]]]:
    path: list[Heading] = []
    part: list[Block] = []
    is_titled = False
    for block in blocks:
        if not isinstance(block, Heading):
            part.append(block)
            continue
        is_empty = not any(isinstance(one, Rows) or one.strip() for one in part if not isinstance(one, Heading))
        if is_empty and path and block.level <= path[-1].level:
            part = [path.pop().text]
        yield _named(path), part
        path = [*(above for above in path if above.level < block.level), block]
        if not is_titled and block.text.casefold() == title.casefold():
            path[-1], is_titled = Heading(block.level, ""), True
        part = []
    if path and not any(isinstance(one, Rows) or (isinstance(one, str) and one.strip()) for one in part):
        part = [path.pop().text]
    yield _named(path), part


def _named(path: Sequence[Heading]) -> list[str]:
    return [heading.text for heading in path if heading.text]


def written_blocks(part: Sequence[Block]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Returns the text of the blocks, with each list item as a paragraph, and the ranges of tables in it."""
    pieces: list[str] = []
    tables: list[tuple[int, int]] = []
    length = 0
    for block in part:
        text = PARAGRAPHS.join(block.lines) if isinstance(block, Rows) else _written(block)
        text = text.replace(SOFT_HYPHEN, "")
        if isinstance(block, Rows):
            tables.append((length, length + len(text)))
        pieces.append(text)
        length += len(text) + len(PARAGRAPHS)
    return PARAGRAPHS.join(pieces), tuple(tables)


def _written(block: str | Heading) -> str:
    return with_items_apart(block) if isinstance(block, str) else ""


BETWEEN = "; "
_LONGEST_ROW = PassageSettings(words=60, slack=10)
"""A row of this length is never cut, because it is shorter than any passage."""
_ROW_CHARACTERS = 400
_LABEL_CHARACTERS = 80


def row_lines(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yields a line such as `Tower: Smeaton's; Lit: 1759` for each nonempty row, without empty cells.

    A row too long for a passage becomes several lines, each with its first cell and the column names.
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
