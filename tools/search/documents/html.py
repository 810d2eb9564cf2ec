"""HTML as headings, tables and text. Parsed by libxml2, since the standard library's parser takes quadratic time on
hostile pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from factloop.core.extras import has_packages, missing

if not has_packages("lxml"):
    raise missing("documents", "reading HTML")

from lxml import etree

from factloop.tools.search.documents.html_styles import HIDES, HiddenNames
from factloop.tools.search.documents.html_tables import HtmlTable
from factloop.tools.search.documents.sections import Block, Heading

_UNSEEN = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "object"})
_SEEN_MEDIA = frozenset({"", "all", "screen"})
_WHOLE = frozenset({"html", "body"})
"""Hidden only until a script has set the page up."""
_AROUND = frozenset({"nav", "footer"})
_AROUND_ROLES = frozenset({"navigation", "contentinfo"})
"""What stands on every page of a site, and is no evidence."""
_CONSENT = re.compile(
    r"(?:[a-z0-9]+[-_]+)?(?:cookies?|consent|gdpr|ccpa)[-_]*(?:consent|law|policy)?[-_]*"
    r"(?:banner|notice|bar|popup|pop-up|modal|dialog|overlay|wall|message|alert|prompt)(?:[-_]*(?:wrapper|container|root|inner))?"
    r"|(?:cookie|gdpr)[-_]*consent|onetrust[-_a-z]*|cybotcookiebot[a-z]*",
    re.IGNORECASE,
)
"""Names of the blocks that ask for cookies."""
_MAY_ASK = frozenset({"aside", "dialog", "div", "form", "section"})
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "br", "caption", "dd", "details", "div", "dl", "dt"}
    | {"fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li"}
    | {"main", "nav", "ol", "option", "p", "pre", "section", "summary", "table", "td", "th", "title", "tr", "ul"}
)
"""Tags that end a line; all others stand within one. Each also ends the paragraph, but for a line break or a cell."""
_WITHIN_PARAGRAPHS = frozenset({"br", "li", "option", "td", "th", "tr"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


@dataclass(frozen=True, slots=True)
class HtmlPage:
    title: str
    """The text of its `<title>`; empty if the page has no title."""
    blocks: list[Block]


class _PageParser:
    """Collects what a reader would see. Called by the parser, tag by tag, so that no tree is ever built."""

    def __init__(self, *, leave_out: bool) -> None:
        self._leaves_out = leave_out
        self._blocks: list[Block] = []
        self._parts: list[str] = []
        self._title: list[str] = []
        self._in_title = False
        self._depth_left_out = 0
        """How many tags are open from the one on that is left out."""
        self._heading_from: int | None = None
        self._table: HtmlTable | None = None
        self._style: list[str] | None = None
        """The style sheet that is being read."""
        self._hidden = HiddenNames()

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "style" and not self._depth_left_out and attributes.get("media", "").strip().lower() in _SEEN_MEDIA:
            self._style = []
        is_around = self._leaves_out and _is_around(tag, attributes)
        if self._depth_left_out or tag in _UNSEEN or is_around or self._is_hidden(tag, attributes):
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
        if tag == "style" and self._style is not None:
            self._hidden.read("".join(self._style))
            self._style = None
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
        if self._style is not None:
            self._style.append(text)
        if not self._depth_left_out:
            (self._title if self._in_title else self._parts).append(text)

    def close(self) -> HtmlPage:
        self._end_text(len(self._parts))
        return HtmlPage(" ".join("".join(self._title).split()), self._blocks)

    def _is_hidden(self, tag: str, attributes: Mapping[str, str]) -> bool:
        by_sheet = self._leaves_out and tag not in _WHOLE and self._hidden.hold(attributes)
        return by_sheet or _is_hidden(tag, attributes)

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
        """Makes a block of the text collected before `end`; what comes after it has been read otherwise."""
        if any(part and not part.isspace() for part in self._parts[:end]):
            self._blocks.append("".join(self._parts[:end]))
        self._parts.clear()

    def _break_at(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._parts.append("\n" if tag in _WITHIN_PARAGRAPHS else "\n\n")


def _is_hidden(tag: str, attributes: Mapping[str, str]) -> bool:
    """Whether no reader sees what the tag holds; what a search within the page finds (`until-found`) is seen."""
    if not attributes or tag in _WHOLE:
        return False
    is_hidden = attributes.get("hidden", "until-found").lower() != "until-found"
    return is_hidden or HIDES.search(attributes.get("style", "")) is not None


def _is_around(tag: str, attributes: Mapping[str, str]) -> bool:
    if tag in _AROUND or attributes.get("role") in _AROUND_ROLES:
        return True
    if attributes.get("aria-hidden", "").lower() == "true" and tag not in _WHOLE:
        return True  # mostly a second copy; all of a page that was saved while a dialog was open
    if tag not in _MAY_ASK or not attributes:
        return False
    names = f"{attributes.get('id', '')} {attributes.get('class', '')}".split()
    if tag == "aside" and any("cookie" in name.casefold() or "consent" in name.casefold() for name in names):
        return True
    return any(len(name) < 80 and _CONSENT.fullmatch(name) for name in names)


def read_html(markup: str) -> HtmlPage:
    """Reads the text of a page: nothing hidden, no navigation, no footers, nothing that asks for cookies. Linear time.

    A page that has nothing else, as one whose `<nav>` is never closed, is read with them, and with what its style
    sheets hide: a script would show it.
    """
    page = _read(markup, leave_out=True)
    return page if page.blocks else _read(markup, leave_out=False)


def _read(markup: str, *, leave_out: bool) -> HtmlPage:
    if not markup.strip():
        return HtmlPage("", [])
    target: Any = _PageParser(
        leave_out=leave_out
    )  # the type stubs ask for comments and instructions too; both are left out
    parser = etree.HTMLParser(
        target=target, encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True, recover=True
    )
    parser.feed(markup.encode("utf-8", "replace"))
    page: Any = parser.close()  # whatever the target's own `close` gives
    assert isinstance(page, HtmlPage)
    return page
