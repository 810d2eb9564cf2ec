"""Stretches of HTML that no reader of the page sees: scripts, styles and comments."""

from __future__ import annotations

import re
from bisect import bisect_right

from factloop.tools.linguistics.blocks import code_in

Span = tuple[int, int]

_OPENING = re.compile(r"(?<!`)<(?:(script|style)\b[^<>]{0,500}>|!--)", re.IGNORECASE)
_CLOSING = {
    "script": re.compile(r"</script\s{0,9}>", re.IGNORECASE),
    "style": re.compile(r"</style\s{0,9}>", re.IGNORECASE),
    "!--": re.compile("-->"),
}
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
    """The text with blanks in their place: everything else stands where it stood."""
    pieces: list[str] = []
    reached = 0
    for start, end in elements_in(text):
        pieces += (text[reached:start], _SHOWN.sub(" ", text[start:end]))
        reached = end
    return "".join([*pieces, text[reached:]]) if pieces else text
