"""Finds the block structure of a response: paragraphs, headings, list items, table rows, quotes and fenced code.

Text is read line by line with bounded look-ahead, so even hostile input takes linear time. A Markdown parser would be
unsuitable, because models write Markdown loosely and answers are read while they are still being written.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from factloop.tools.text.words import STOP_WORDS

WRAPPED_FROM = 48
"""A line at least this long may have been wrapped, so its sentence may continue on the next line."""
_BREAKS = "\r\n\v\f\x1c\x1d\x1e\u0085\u2028\u2029"

_FENCE = re.compile(r"(```|~~~)[`~]*[ \t]*([\w+#.-]*)(?:[ \t]+[^\s`~]*[={\[][^`~]*|[:,{][^`~]*)?", re.ASCII)
"""Matches a fence followed by at most a language name and attributes: *python title="a.py"*. A line with other words is
text.
"""
_UNNAMED = frozenset({"", "text", "txt", "plain", "plaintext"})
_PROSE = frozenset({"md", "markdown", "answer", "response", "quote", "note", "summary"})
"""Info strings of fences that contain prose. Fences with any other info string contain code."""
_MOST_LINES = 40
_LONGEST_LOOK = 400
_ALONE = re.compile(r"[*_]{0,3}(`{1,2})([^`\r\n]{1,2000})\1[*_]{0,3}[.:;]?")
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]{0,200}>|^(?:(?:[>|*+•-]|\(?\d{1,3}[.)])[ \t]+)+")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SENTENCE = re.compile(
    r"[\"'“‘(*_]{0,2}[^\W\d_a-z][^.!?…=;{}]{0,300}(?:[.](?=\w)[^.!?…=;{}]{0,300}){0,9}[.!?…。！？][\"'”’)*_]{0,3}(?=\s|$)"
)
_CODE = re.compile(
    r".*(?:[{}]|=(?!>)|::|&&|\|\||\w_\w|\w\((?!e?s\))|\s--?[a-z])|\$ ?[a-zA-Z_(./]|>>>|//|/\*|\"{3}|'{3}"
    r"|from \w|import \w+ as"
)
_THREE_WORDS = re.compile(r"[^\W\d_]{2,} [^\W\d_]{2,} [^\W\d_]{2,}")

_LINE_IN_BOLD = re.compile(r"[ \t]*(\*{2,3}|_{2,3})(?![\s*_])((?:(?!\1)[^\n]){1,120})(?<![\s*_])\1[ \t]*:?[ \t]*")
_SHORT_TITLE = 2
ASKS = re.compile(r"(?:who|whom|whose|what|where|when|which|how|why)\b", re.IGNORECASE)
"""First words of titles that may end with any word: *What it is for*."""

_QUOTE = re.compile(r"[ \t]*>[ \t]?")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+")
_MARKER = re.compile(
    r"[ \t]*(?:[-*+–—·][ \t]+|[•‣▪◦●][ \t]*|\(?\d{1,3}[.)][ \t]+|\(?[a-z]\)[ \t]+|\(?[ivx]{2,5}[.)][ \t]+"
    r"|\[\^[^\]\s]{1,40}\]:[ \t]+)"  # the text of a footnote
    r"(?:\[[ xX]\][ \t]+)?"
)
_EMPTY_AT_EDGE = re.compile(r"^\|[ \t]*\||\|[ \t]*\|$")
_ENDS_OPEN = re.compile(
    r"(?:[,;(\[–—-]|\b(?:a|an|and|as|at|but|by|for|from|in|of|on|or|that|the|to|was|with)|\b(?:dr|fig|mr|mrs|ms|no|prof|st)\.)$"
)
Kind = Literal["prose", "item", "heading", "row"]


@dataclass(frozen=True, slots=True)
class Line:
    start: int
    end: int
    body: str
    """The text without indentation, trailing spaces and newline."""
    hard_break: bool
    is_whole: bool
    """Whether the newline has been seen, so that no later text can belong to the line."""


@dataclass(frozen=True, slots=True)
class Fence:
    """A line that looks like a code fence, whether or not it really opens or closes code."""

    index: int
    after: int
    """Index of the line at which to continue: the one after the code if it is closed, otherwise the next one."""
    is_code: bool | None
    is_closed: bool
    within: str | None

    @property
    def is_passed_over(self) -> bool:
        """Whether the lines between this fence and `after` are code and are skipped."""
        return self.after > self.index + 1


@dataclass(frozen=True, slots=True)
class Block:
    """One unit of text, `text[start:end]`. No sentence extends beyond a block."""

    start: int
    end: int
    kind: Kind
    """A paragraph, a list item, a heading (or a line that is entirely bold and not a sentence), or a table row."""

    @property
    def splittable(self) -> bool:
        """Whether the block may contain several sentences. Headings and table rows always count as one sentence."""
        return self.kind in ("prose", "item")


def lines_of(text: str) -> Iterator[Line]:
    position = 0
    for whole in text.splitlines(keepends=True):
        raw = whole.rstrip(_BREAKS)
        start = position + len(raw) - len(raw.lstrip())
        body = raw.strip()
        yield Line(start, start + len(body), body, raw.endswith(("  ", "\\")), len(raw) < len(whole))
        position += len(whole)


def fences_of(lines: Sequence[Line], within: str | None = None) -> Iterator[Fence]:
    """Yields the fences in order, except those inside code. `within` is the mark of a fence opened before these lines.

    Lines after an unclosed code fence are not skipped, because a stray mark must not hide the claims below it.
    """
    closing = {mark: [at for at, line in enumerate(lines) if _closes(line, mark)] for mark in ("```", "~~~")}
    index = 0
    while index < len(lines):
        found = _FENCE.fullmatch(lines[index].body)
        if found is None:
            index += 1
            continue
        if within == found[1] and _closes(lines[index], found[1]):
            fence = Fence(index, index + 1, is_code=False, is_closed=True, within=None)
        else:
            later = bisect_right(closing[found[1]], index)
            fence = _opened(lines, index, found, next(iter(closing[found[1]][later : later + 1]), None))
        yield fence
        within = within if fence.is_passed_over else fence.within
        index = fence.after


def fence_around(lines: Sequence[Line], start: int, within: str | None = None) -> str | None:
    """Returns the mark of the fence that contains the line at `start` or is closed by it, or None if there is none."""
    for fence in fences_of(lines, within):
        if lines[fence.index].start >= start:
            break
        if not fence.is_passed_over or lines[fence.after - 1].end >= start:
            within = fence.within
    return within


def _closes(line: Line, mark: str) -> bool:
    return line.body.startswith(mark) and not line.body.strip("`~")


def _opened(lines: Sequence[Line], index: int, found: re.Match[str], end: int | None) -> Fence:
    inside = lines[index + 1 : min(len(lines) if end is None else end, index + 1 + _MOST_LINES)]
    name = found[2].lower()
    is_code: bool | None = name not in _PROSE
    if name in _UNNAMED and found[1] == "```":
        is_code = next((told for line in inside if (told := _is_code(line)) is not None), None)
        if is_code is None and end is not None:
            is_code = any(line.body for line in inside) and not any(_THREE_WORDS.search(line.body) for line in inside)
    after = end + 1 if is_code and end is not None else index + 1
    return Fence(index, after, is_code=is_code, is_closed=end is not None, within=found[1])


def _is_code(line: Line) -> bool | None:
    said = _MARKUP.sub("", line.body[:_LONGEST_LOOK]).strip()
    sentence = _SENTENCE.match(said)
    if sentence is not None and (line.is_whole or sentence.end() < len(said)):
        return False
    if not line.is_whole:
        return None
    if said.startswith(("|", "**")):
        return False
    if _CODE.match(said):
        return True
    words = [word.lower() for word in _WORD.findall(said)]
    is_phrase = len(words) > 3 and not STOP_WORDS.isdisjoint(words)
    if is_phrase and not said.startswith("#") and not said.endswith(":"):
        return False
    return True if said.endswith(";") else None


def is_code_alone(text: str) -> bool:
    """Whether the whole text is code in backticks, such as *`x = 1`*. English words in backticks do not count."""
    found = _ALONE.fullmatch(text)
    return found is not None and _is_code(Line(0, len(found[2]), found[2], hard_break=False, is_whole=True)) is True


def find_blocks(text: str, within: str | None = None) -> Iterator[Block]:
    """Yields the blocks of a response in order. Skips fenced code, but ignores fences that are never closed.

    `within` is the mark of the fence, if any, that contains the beginning of the text.
    """
    lines = list(lines_of(text))
    fences = {one.index: one for one in fences_of(lines, within)}
    previous: Line | None = None
    open_kind: Kind = "prose"
    open_start, index = -1, 0
    while index < len(lines):
        line, fence = lines[index], fences.get(index)
        if fence is not None:
            if previous is not None and open_start >= 0:
                yield Block(open_start, previous.end, open_kind)
            open_start, previous = -1, None
            index = fence.after
            continue
        index += 1
        start, fresh, kind = _strip_markers(text, line)
        open_line = previous if open_start >= 0 else None
        is_blank = not any(map(str.isalnum, text[start : line.end]))
        if open_line is not None and (is_blank or fresh or _breaks(open_line, text[start])):
            yield Block(open_start, open_line.end, open_kind)
            open_start = -1
        if is_blank:
            continue
        if kind in ("heading", "row"):
            yield _whole(text, start, line.end, kind)
            continue
        if open_start < 0:
            open_start, open_kind = start, kind
        previous = line
    if previous is not None and open_start >= 0:
        yield Block(open_start, previous.end, open_kind)


def code_in(text: str, within: str | None = None) -> Iterator[tuple[int, int]]:
    lines = list(lines_of(text))
    for fence in fences_of(lines, within):
        if fence.is_passed_over:
            yield lines[fence.index].start, lines[fence.after - 1].end


def words_in_bold(line: str) -> str | None:
    """Returns the words of an entirely bold line, without the marks and a final colon, or None for any other line."""
    found = _LINE_IN_BOLD.fullmatch(line)
    return None if found is None else found[2].rstrip(": \t") or None


def is_bold_title(words: str) -> bool:
    """Whether the words in a bold line form a title. *How it works* is a title, but *It costs 9 euros.* is not."""
    return not words.endswith((".", "!")) or len(words.split()) <= _SHORT_TITLE or ASKS.match(words) is not None


def _strip_markers(text: str, line: Line) -> tuple[int, bool, Kind]:
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


def awaits_more(line: str) -> bool:
    """Whether the end of a line, such as a comma or *to*, shows that the sentence continues on the next line."""
    return _ENDS_OPEN.search(line[-8:].lower()) is not None


def _breaks(previous: Line, next_character: str) -> bool:
    if previous.hard_break or words_in_bold(previous.body) is not None:
        return True
    if len(previous.body) >= WRAPPED_FROM or next_character.islower():
        return False
    return not awaits_more(previous.body)


def _whole(text: str, start: int, end: int, kind: Kind) -> Block:
    inner = text[start:end]
    if kind == "row" and _EMPTY_AT_EDGE.search(inner):
        return Block(start, end, kind)
    stripped = inner.strip("| \t#") if inner.startswith("|") else inner.rstrip("# \t")
    offset = inner.find(stripped)
    return Block(start + offset, start + offset + len(stripped), kind)
