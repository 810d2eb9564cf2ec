"""Reads HTML as headings, tables and text.

It uses libxml2, because the standard library's parser takes quadratic time on hostile pages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from factloop.core.extras import has_packages, missing

if not has_packages("lxml"):
    raise missing("documents", "reading HTML")

from lxml import etree

from factloop.tools.search.documents.sections import Block, Heading, Rows, row_lines

_MOST_COLUMNS, _MOST_SPANNED = 60, 200
_LONGEST_LAYOUT = 300
"""Maximum number of characters in a cell of a table without a header. A table with longer cells is page layout."""
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
    """Reads one table. A table inside a cell becomes part of the cell's text."""

    def __init__(self, parts: list[str]) -> None:
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
        """Returns the table with the header in each row, or None if the table is only page layout."""
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
                    lines += [names[0]] if names[0] else []  # one cell across the full width is a heading
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
    said: set[tuple[int, str]] = set()
    texts: list[str] = []
    for place, cell in enumerate(row):
        name = header[place] if place < len(header) else ""
        texts.append("" if cell is None or (id(cell), name) in said else cell.text)
        said.add((id(cell), name))
    return texts


def _under(header: list[str], names: list[str]) -> list[str]:
    width = max(len(header), len(names))
    padded = [[*row, *[""] * (width - len(row))] for row in (header, names)]
    return [" ".join(dict.fromkeys(name for name in pair if name)) for pair in zip(*padded, strict=True)]


def _filled(rows: list[_Row]) -> list[list[_Cell | None]]:
    filled: list[list[_Cell | None]] = []
    reaching: dict[int, tuple[_Cell, int]] = {}
    """Maps a column to the cell that extends into it from above, and the number of rows that this cell still covers."""
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


_UNSEEN = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "object"})
_HIDES = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\s*(?=[;!]|$)", re.IGNORECASE
)
"""Matches a `style` attribute that hides an element. Style sheets are not read."""
_WHOLE = frozenset({"html", "body"})
_AROUND = frozenset({"nav", "footer"})
_AROUND_ROLES = frozenset({"navigation", "contentinfo"})
_CONSENT = re.compile(
    r"(?:[a-z0-9]+[-_]+)?(?:cookies?|consent|gdpr|ccpa)[-_]*(?:consent|law|policy)?[-_]*"
    r"(?:banner|notice|bar|popup|pop-up|modal|dialog|overlay|wall|message|alert|prompt)(?:[-_]*(?:wrapper|container|root|inner))?"
    r"|(?:cookie|gdpr)[-_]*consent|onetrust[-_a-z]*|cybotcookiebot[a-z]*",
    re.IGNORECASE,
)
_MAY_ASK = frozenset({"aside", "dialog", "div", "form", "section"})
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "br", "caption", "dd", "details", "div", "dl", "dt"}
    | {"fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li"}
    | {"main", "nav", "ol", "option", "p", "pre", "section", "summary", "table", "td", "th", "title", "tr", "ul"}
)
"""Tags that end a line. All except line breaks, items, rows and cells also end the paragraph."""
_WITHIN_PARAGRAPHS = frozenset({"br", "li", "option", "td", "th", "tr"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


@dataclass(frozen=True, slots=True)
class HtmlPage:
    title: str
    blocks: list[Block]


class _PageParser:
    def __init__(self, *, leave_out: bool) -> None:
        self._leaves_out = leave_out
        self._blocks: list[Block] = []
        self._parts: list[str] = []
        self._title: list[str] = []
        self._in_title = False
        self._depth_left_out = 0
        self._heading_from: int | None = None
        self._table: HtmlTable | None = None

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        is_around = self._leaves_out and _is_around(tag, attributes)
        if self._depth_left_out or tag in _UNSEEN or is_around or _is_hidden(tag, attributes):
            self._depth_left_out += 1
            return
        if tag == "title" and not self._title:
            self._in_title = True
        self._break_at(tag)
        if self._table is not None:
            self._table.start(tag, attributes)
        elif tag == "table":
            self._table = HtmlTable(self._parts)
        elif tag in _HEADINGS and self._heading_from is None:
            self._heading_from = len(self._parts)

    def end(self, tag: str) -> None:
        if self._depth_left_out:
            self._depth_left_out -= 1
            return
        if tag == "title":
            self._in_title = False
        if self._table is not None:
            self._end_in_table(self._table, tag)
        elif tag in _HEADINGS and self._heading_from is not None:
            self._end_heading(tag, self._heading_from)
        self._break_at(tag)

    def data(self, text: str) -> None:
        if not self._depth_left_out:
            (self._title if self._in_title else self._parts).append(text)

    def close(self) -> HtmlPage:
        self._end_text(len(self._parts))
        return HtmlPage(" ".join("".join(self._title).split()), self._blocks)

    def _end_in_table(self, table: HtmlTable, tag: str) -> None:
        if not table.end(tag):
            return
        self._table = None
        rows = table.rows()
        if rows is not None:
            self._end_text(table.begin)
            self._blocks += rows

    def _end_heading(self, tag: str, begin: int) -> None:
        self._heading_from = None
        text = " ".join("".join(self._parts[begin:]).split())
        if text:
            self._end_text(begin)
            self._blocks.append(Heading(_HEADINGS[tag], text))

    def _end_text(self, end: int) -> None:
        if any(part and not part.isspace() for part in self._parts[:end]):
            self._blocks.append("".join(self._parts[:end]))
        self._parts.clear()

    def _break_at(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._parts.append("\n" if tag in _WITHIN_PARAGRAPHS else "\n\n")


def _is_hidden(tag: str, attributes: Mapping[str, str]) -> bool:
    if not attributes or tag in _WHOLE:
        return False
    is_hidden = attributes.get("hidden", "until-found").lower() != "until-found"
    return is_hidden or _HIDES.search(attributes.get("style", "")) is not None


def _is_around(tag: str, attributes: Mapping[str, str]) -> bool:
    if tag in _AROUND or attributes.get("role") in _AROUND_ROLES:
        return True
    if attributes.get("aria-hidden", "").lower() == "true" and tag not in _WHOLE:
        return True  # usually a copy of other text, or a whole page saved while a dialog was open
    if tag not in _MAY_ASK or not attributes:
        return False
    names = f"{attributes.get('id', '')} {attributes.get('class', '')}".split()
    if tag == "aside" and any("cookie" in name.casefold() or "consent" in name.casefold() for name in names):
        return True
    return any(len(name) < 80 and _CONSENT.fullmatch(name) for name in names)


def read_html(markup: str) -> HtmlPage:
    """Reads the visible text of a page, without navigation, footers and cookie banners. Takes linear time.

    If nothing else is left, for example because a `<nav>` is never closed, these parts are read too.
    """
    page = _read(markup, leave_out=True)
    return page if page.blocks else _read(markup, leave_out=False)


def _read(markup: str, *, leave_out: bool) -> HtmlPage:
    if not markup.strip():
        return HtmlPage("", [])
    target: Any = _PageParser(
        leave_out=leave_out
    )  # the type stubs require methods for comments and instructions, but both are removed
    parser = etree.HTMLParser(
        target=target, encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True, recover=True
    )
    parser.feed(markup.encode("utf-8", "replace"))
    page: Any = parser.close()  # the result of the target's `close`
    assert isinstance(page, HtmlPage)
    return page
