"""HTML as text. Parsed by libxml2, since the standard library's parser takes quadratic time on hostile pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lxml import etree

_UNSEEN = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "object"})
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "br", "caption", "dd", "details", "div", "dl", "dt"}
    | {"fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li"}
    | {"main", "nav", "ol", "option", "p", "pre", "section", "summary", "table", "td", "th", "title", "tr", "ul"}
)
"""Tags that end a line; all others stand within one. Each also ends the paragraph, but for a line break or a cell."""
_WITHIN_PARAGRAPHS = frozenset({"br", "li", "option", "td", "th", "tr"})


class _Text:
    """Collects what a reader would see. Called by the parser, tag by tag, so that no tree is ever built."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._title: list[str] = []
        self._unseen_depth = 0
        self._in_title = False

    def start(self, tag: str, _attributes: Mapping[str, str]) -> None:
        if tag in _UNSEEN:
            self._unseen_depth += 1
        elif tag == "title" and not self._title:
            self._in_title = True
        self._break_at(tag)

    def end(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._unseen_depth -= 1
        elif tag == "title":
            self._in_title = False
        self._break_at(tag)

    def data(self, text: str) -> None:
        if self._unseen_depth == 0:
            (self._title if self._in_title else self._parts).append(text)

    def close(self) -> tuple[str, str]:
        return "".join(self._parts), " ".join("".join(self._title).split())

    def _break_at(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._parts.append("\n" if tag in _WITHIN_PARAGRAPHS else "\n\n")


def html_text(markup: str) -> tuple[str, str]:
    """Visible text, blocks on lines of their own, and the title (empty where there is none). Linear time."""
    if not markup.strip():
        return "", ""
    target: Any = _Text()  # the type stubs ask for comments and instructions too; both are left out below
    parser = etree.HTMLParser(
        target=target, encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True, recover=True
    )
    parser.feed(markup.encode("utf-8", "replace"))
    found: Any = parser.close()  # whatever the target's own `close` gives
    text, title = found
    return text, title
