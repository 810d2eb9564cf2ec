"""The output of loaders: a piece of text with its origin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from factloop.tools.search.documents.items import with_items_apart
from factloop.tools.search.passages import PARAGRAPHS

SOFT_HYPHEN = "\xad"
"""Says where a word may be parted, and shows nothing."""
WITHIN = " › "
"""Between the headings of a path."""
LONGEST_TITLE = 200
BELOW_MARKED = 7
"""The level of a line in bold, below that of every marked heading: it heads a stretch, and never names the document."""


@dataclass(frozen=True, slots=True)
class Section:
    """A document, a stretch of one under its headings, a page of it, or a row of a table."""

    text: str
    title: str
    url: str | None = None
    """Address of the original, where the document names one; it then stands for the file."""
    fragment: str = ""
    """Place inside the file, such as "page=3" or "line=12"; empty for the whole."""
    published: str | None = None
    section: str | None = None
    """The headings that it stands under, outermost first, without the title; None if it has no headings."""
    tables: tuple[tuple[int, int], ...] = ()
    """Stretches of the text, in order, whose paragraphs are rows of a table."""
    goes_on: bool = False
    """Whether it belongs to the same document as the section before it."""


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    """Level from 1, the outermost."""
    text: str


@dataclass(frozen=True, slots=True)
class Rows:
    """A table, each row with its header (`tables.row_lines`)."""

    lines: tuple[str, ...]


Block = str | Heading | Rows
"""What a document is made of, in reading order; a text may hold several paragraphs."""


def first_heading(blocks: Iterable[Block]) -> str:
    """The title; empty if the document has none."""
    return next((one.text for one in blocks if isinstance(one, Heading) and one.level < BELOW_MARKED), "")


def sections_of(
    blocks: Sequence[Block], *, title: str, url: str | None = None, published: str | None = None
) -> Iterator[Section]:
    """The document cut at its headings, which are taken out of the text; one that nothing stands under is text."""
    goes_on = False
    for path, part in _parts(blocks, title):
        text, tables = written_blocks(part)
        if text.strip():
            section = WITHIN.join(path)[:LONGEST_TITLE] or None
            yield Section(text, title[:LONGEST_TITLE], url, "", published, section, tables, goes_on)
            goes_on = True


def _parts(blocks: Sequence[Block], title: str) -> Iterator[tuple[list[str], list[Block]]]:
    """The path of headings of each stretch. The first heading that reads as the title is in no path."""
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
    """The text of the blocks, each item of a list a paragraph, and where in it the tables are."""
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
