"""The block structure of a response: paragraphs, headings, list items, table rows and quotes, as Markdown has them.

Only what matters to sentences is recognised: where one unit of text ends and the next begins, and which characters are
markers. The rules read the text once, line by line, with bounded look-ahead, so that hostile input stays linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from factloop.tools.linguistics.bold import is_bold_title, words_in_bold
from factloop.tools.linguistics.fences import NOTHING_BEFORE, Before, Line, fences_of, lines_of

_QUOTE = re.compile(r"[ \t]*>[ \t]?")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+")
_UNDERLINE = re.compile(r"={2,}|-{2,}")
_LONGEST_UNDERLINED = 120
_ENDS_SENTENCE = tuple(".!?:;,…。！？")
_MARKER = re.compile(
    r"[ \t]*(?:[-*+–—·][ \t]+|[•‣▪◦●][ \t]*|\(?\d{1,3}[.)][ \t]+|\(?[a-z]\)[ \t]+|\(?[ivx]{2,5}[.)][ \t]+"
    r"|\[\^[^\]\s]{1,40}\]:[ \t]+)"  # the text of a footnote
    r"(?:\[[ xX]\][ \t]+)?"
)
_EMPTY_AT_EDGE = re.compile(r"^\|[ \t]*\||\|[ \t]*\|$")
_ENDS_OPEN = re.compile(
    r"(?:[,;(\[–—-]|\b(?:a|an|and|as|at|but|by|for|from|in|of|on|or|that|the|to|was|with)|\b(?:dr|fig|mr|mrs|ms|no|prof|st)\.)$"
)

_AWAITS = re.compile(
    r"\b(?:about|above|almost|are|below|between|for|from|had|has|have|is|least|most|nearly|of|only|over|than|to|under"
    r"|until|was|were)$"
)
"""A number is to follow."""
_NUMBER = re.compile(r"\(?(\d{1,3})[.)][ \t]+$")
_LINK = re.compile(r"(?:\S*\]\(|\S*://)\S*[ \t]+[a-z]")
"""The first word of a line is a link, and its sentence goes on."""
_PLAIN_TITLE = re.compile(r"[^\W_a-z](?:[^.!?…:;,。！？|]|[:;,](?!\s|$)|\.(?![\s.]|$))*")
"""A capital letter or a figure first, and no mark that parts or ends sentences, or a label from its value."""
_ASKS = re.compile(r"(?:how|what|when|where|which|who|why)\b", re.IGNORECASE)
"""Opens titles that may end in any word: *What it is for*."""

WRAPPED_FROM = 48
"""A line at least this long may have been wrapped: its sentence may go on in the next line."""

_NARROWEST = 30
"""Characters of the narrowest lines that prose is wrapped to."""


Kind = Literal["prose", "item", "heading", "row"]


@dataclass(frozen=True, slots=True)
class Block:
    """One unit of text, `text[start:end]`; no sentence reaches beyond it."""

    start: int
    end: int
    kind: Kind
    """A paragraph, an item of a list, a heading (a line all in bold, too, that is no sentence), or a row of a table."""

    @property
    def splittable(self) -> bool:
        """False for units that are one sentence whatever they hold."""
        return self.kind in ("prose", "item")


def find_blocks(text: str, before: Before = NOTHING_BEFORE) -> Iterator[Block]:
    """Yields the blocks of a response in order. Fenced code is skipped (`fences.py`); an unclosed fence is no fence.

    `before` says what stands before the text, where it is the rest of one.
    """
    lines = list(lines_of(text))
    fences = {one.index: one for one in fences_of(lines, before) if one.is_passed_over or not one.is_indented}
    open_start, previous = -1, None
    open_kind: Kind = "prose"
    opens_alone = after_blank = True
    index = 0
    while index < len(lines):
        line = lines[index]
        fence = fences.get(index)
        if fence is not None:
            if open_start >= 0 and previous is not None:
                yield Block(open_start, previous.end, open_kind)
            open_start, previous = (-1, None) if fence.words is None else (line.start + fence.words, line)
            open_kind = "prose"
            index = fence.after
            opens_alone = after_blank = False
            continue
        index += 1
        start, fresh, kind = _strip_markers(text, line)
        goes_on = open_start >= 0 and previous is not None and _goes_on(text, previous, line, start, open_kind)
        if goes_on:
            start, fresh, kind = line.start, False, "prose"
        is_blank = not any(character.isalnum() for character in text[start : line.end])
        if (
            open_start >= 0
            and open_kind == "prose"
            and previous is not None
            and _underlines(line, previous, open_start)
        ):
            yield _whole(text, open_start, previous.end, "heading")
            open_start = -1
            continue
        is_one_line = previous is not None and open_start >= previous.start and open_kind == "prose"
        if previous is not None and is_one_line and opens_alone and not fresh and not is_blank:
            open_kind = "heading" if _heads(previous, line) else open_kind
        if (
            open_start >= 0
            and previous is not None
            and (is_blank or fresh or (not goes_on and _breaks(previous, text[start])))
        ):
            yield Block(open_start, previous.end, open_kind)
            open_start = -1
        opens_alone = after_blank if open_start < 0 else opens_alone
        after_blank = is_blank
        if is_blank:
            continue
        if kind in ("heading", "row"):
            yield _whole(text, start, line.end, kind)
            continue
        if open_start < 0:
            open_start, open_kind = start, kind
        previous = line
    if open_start >= 0 and previous is not None:
        yield Block(open_start, previous.end, open_kind)


def code_in(text: str, before: Before = NOTHING_BEFORE) -> Iterator[tuple[int, int]]:
    """Start and end of each stretch of code, which `find_blocks` skips; the fences are part of it."""
    lines = list(lines_of(text))
    for fence in fences_of(lines, before):
        if fence.is_passed_over:
            yield lines[fence.index].start, lines[fence.after - 1].end


def _strip_markers(text: str, line: Line) -> tuple[int, bool, Kind]:
    """Where the text of the line begins, whether a block begins there, and of which kind it would be."""
    start, fresh = line.start, False
    kind: Kind = "prose"
    while (quote := _QUOTE.match(text, start, line.end)) is not None:
        start = quote.end()
    heading = _HEADING.match(text, start, line.end)
    if heading is not None:
        return heading.end(), True, "heading"
    marker = _MARKER.match(text, start, line.end)
    if marker is not None:
        start, fresh, kind = marker.end(), True, "item"
    body = text[start : line.end]
    if body.startswith("|") or body.count(" | ") >= 2:
        return start, True, "row"
    bold = words_in_bold(body)
    if bold is not None:
        return start, True, "heading" if is_bold_title(bold) else kind
    return start, fresh, kind


def _underlines(line: Line, previous: Line, open_start: int) -> bool:
    """Whether the line makes a heading of the one before it: a short one, alone, which is no sentence.

    Writers put a rule right under a paragraph, too, and its claims must not be lost with a heading.
    """
    if not _UNDERLINE.fullmatch(line.body) or open_start < previous.start:
        return False
    return len(previous.body) <= _LONGEST_UNDERLINED and not previous.body.rstrip("*_ ").endswith(_ENDS_SENTENCE)


def _heads(line: Line, below: Line) -> bool:
    """Whether a line heads the one below. A figure in it may be a claim, which must not be lost with a heading."""
    is_open = _ENDS_OPEN.search(line.body[-8:].lower()) is not None
    return not is_open and heads_paragraph(line.body, below.body) and not any(map(str.isdigit, line.body))


def heads_paragraph(line: str, below: str) -> bool:
    """Whether a line, alone but for the paragraph right below it, heads it as in plain text: *How to take it*.

    It is short and no sentence, and the first word below would have stood beside it, had it been wrapped.
    """
    if len(line) >= WRAPPED_FROM or not _PLAIN_TITLE.fullmatch(line):
        return False
    if _ENDS_OPEN.search(line[-8:].lower()) and not _ASKS.match(line):
        return False
    is_paragraph = len(below) >= WRAPPED_FROM or below.endswith((".", "!", "?"))
    width = max(len(below), _NARROWEST)
    return is_paragraph and not below[0].islower() and len(line) + 1 + len(below.split(maxsplit=1)[0]) <= width


def _goes_on(text: str, previous: Line, line: Line, start: int, kind: Kind) -> bool:
    """Whether a line goes on within a link or code of the line before, or with a number that only looks like that of
    an item: *it has* / *34. The roof is new*. Only *1* begins a list within a paragraph."""
    above, below = previous.body, text[start : line.end]
    bracket = below.find("]")
    if above.rfind("[") > above.rfind("]") and bracket >= 0 and "[" not in below[:bracket]:
        return True
    if above.count("`") % 2 and "`" in below:
        return True
    if above.rstrip("*_ ").endswith(_ENDS_SENTENCE):
        return False
    is_wide = kind == "prose" and len(above) >= _NARROWEST
    number = _NUMBER.search(text, line.start, start)
    if _AWAITS.search(above[-8:].lower()):
        return below[:1].isdigit() if number is None else number[1] != "1"
    return is_wide and (_LINK.match(below) is not None if number is None else number[1] != "1")


def awaits_more(line: str) -> bool:
    """Whether the sentence of a line goes on in the next by its last word: *it has*, *grown to*."""
    return any(form.search(line[-8:].lower()) for form in (_ENDS_OPEN, _AWAITS))


def _breaks(previous: Line, next_character: str) -> bool:
    """Whether a line break inside a paragraph ends a sentence although no full stop says so."""
    if previous.hard_break or words_in_bold(previous.body) is not None:
        return True
    if len(previous.body) >= WRAPPED_FROM or next_character.islower():
        return False
    return not _ENDS_OPEN.search(previous.body[-8:].lower())


def _whole(text: str, start: int, end: int, kind: Kind) -> Block:
    """A heading without closing marks, or a table row without its outer pipes, unless a cell beside one is empty."""
    inner = text[start:end]
    if kind == "row" and _EMPTY_AT_EDGE.search(inner):
        return Block(start, end, kind)
    stripped = inner.strip("| \t#") if inner.startswith("|") else inner.rstrip("# \t")
    offset = inner.find(stripped)
    return Block(start + offset, start + offset + len(stripped), kind)
