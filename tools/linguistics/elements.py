"""HTML in a text: what no reader of the page sees (scripts, styles, comments), and tags that begin a new line."""

from __future__ import annotations

import re
from bisect import bisect_right

from factloop.tools.linguistics.blocks import code_in
from factloop.tools.linguistics.markup import ATTRIBUTES

Span = tuple[int, int]

_OPENING = re.compile(r"(?<!`)<(?:(script|style)\b[^<>]{0,500}>|!--)", re.IGNORECASE)
_CLOSING = {
    "script": re.compile(r"</script\s{0,9}>", re.IGNORECASE),
    "style": re.compile(r"</style\s{0,9}>", re.IGNORECASE),
    "!--": re.compile("-->"),
}
_NEW_LINE = re.compile(
    rf"(?<!`)</?(?:article|blockquote|br|details|div|d[dlt]|h[1-6r]|li|[ou]l|p|section|summary|table|tr){ATTRIBUTES}\s?/?>",
    re.IGNORECASE,
)
_SHOWN = re.compile(r"[^\r\n]")


def elements_in(text: str) -> list[Span]:
    """Start and end of each in order, but for those that the text speaks of: in a code fence or after a backtick. One
    that nothing closes is text. Linear."""
    opening = _OPENING.search(text)
    if opening is None:
        return []
    fences = list(code_in(text))
    starts = [start for start, _ in fences]
    found: list[Span] = []
    unclosed: set[str] = set()
    while opening is not None:
        name = (opening[1] or "!--").lower()
        place = bisect_right(starts, opening.start()) - 1
        is_code = place >= 0 and opening.start() < fences[place][1]
        closing = None if is_code or name in unclosed else _CLOSING[name].search(text, opening.end())
        if closing is not None:
            found.append((opening.start(), closing.end()))
        elif not is_code:
            unclosed.add(name)
        opening = _OPENING.search(text, opening.end() if closing is None else closing.end())
    return found


def open_element(text: str) -> int | None:
    """Where one opens that nothing closes yet; None where there is none."""
    closed = elements_in(text)
    first = closed[-1][1] if closed else 0
    fences = list(code_in(text))
    openings = (found.start() for found in _OPENING.finditer(text, first))
    return next((at for at in openings if not any(start <= at < end for start, end in fences)), None)


def opens_element(text: str) -> bool:
    """Whether one begins with the text."""
    return _OPENING.match(text) is not None


def without_elements(text: str) -> str:
    """The text with blanks in their place, and ends of lines for tags that make one; everything else stands where it
    stood. In a line with a bar, which may be a row of a table, tags stay."""
    pieces: list[str] = []
    reached = 0
    for start, end in elements_in(text):
        pieces += (text[reached:start], _SHOWN.sub(" ", text[start:end]))
        reached = end
    shown = "".join([*pieces, text[reached:]]) if pieces else text
    if "<" not in shown or _NEW_LINE.search(shown) is None:
        return shown
    return "".join(line if "|" in line else _NEW_LINE.sub(_line_end, line) for line in shown.splitlines(keepends=True))


def _line_end(tag: re.Match[str]) -> str:
    return "\n".ljust(len(tag[0]))
