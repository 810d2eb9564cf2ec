"""Items of lists and numbered clauses as paragraphs: each says what it says for itself, and is read and cut so."""

from __future__ import annotations

import re
from collections.abc import Iterator

from factloop.tools.linguistics.blocks import WRAPPED_FROM, awaits_more, find_blocks

_MAY_HOLD = re.compile(r"^[ \t>]*(?:[-*+–—·•‣▪◦●([]|\d{1,3}[.)]|[a-z]{1,5}[.)])", re.MULTILINE)
"""Matches in every text that has an item or a clause."""
_CLAUSE = re.compile(r"^[ \t]*\d{1,3}(?:\.\d{1,3}){1,3}\.?[ \t]+[A-Z]", re.MULTILINE)
"""*3.2 Contractors*; the number of a whole section is that of an item."""
_ENDS = (".", "!", "?", ":", ";")


def with_items_apart(text: str) -> str:
    """The text with a blank line before each item and clause and after each list. Linear time."""
    if not _MAY_HOLD.search(text):
        return text
    starts = sorted({*_items(text), *_clauses(text)})
    return "".join(
        text[start:end] + ("\n" if end < len(text) and _line_above(text, end).strip() else "")
        for start, end in zip([0, *starts], [*starts, len(text)], strict=True)
    )


def _items(text: str) -> Iterator[int]:
    """Where the lines begin that begin an item, or text that is not indented and follows one."""
    is_below = False
    for block in find_blocks(text):
        line = text.rfind("\n", 0, block.start) + 1
        is_item = bool(text[line : block.start].strip("> \t|#"))
        if is_item or (is_below and not text[line].isspace()):
            yield line
        is_below = is_item


def _clauses(text: str) -> Iterator[int]:
    """Where the lines begin that begin a clause, and go on with no sentence that awaits a figure."""
    for clause in _CLAUSE.finditer(text):
        above = _line_above(text, clause.start()).rstrip()
        if above.endswith(_ENDS) or (len(above) < WRAPPED_FROM and not awaits_more(above)):
            yield clause.start()


def _line_above(text: str, line: int) -> str:
    """The line above the one that begins there; empty for the first."""
    return text[text.rfind("\n", 0, max(0, line - 1)) + 1 : max(0, line - 1)]
