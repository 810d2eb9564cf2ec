"""Splits text into sentences while it is being written, and returns each sentence once its end is certain.

The result does not depend on how the text is divided into chunks. The sentences are the same as in `split_sentences`,
except in a line that only later turns out to be a table row, and in code of more than `LONGEST_FENCE` characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from factloop.tools.text.blocks import code_in, fence_around, fences_of, find_blocks, lines_of
from factloop.tools.text.markup import with_line_ends
from factloop.tools.text.sentences import MAX_SENTENCE, Sentence, first_open, sentences_of

LONGEST_FENCE = 20_000
"""Maximum number of characters to wait for the end of fenced code. Longer code is read as text."""
LONGEST_LINE = 1_000
"""Maximum number of earlier characters on the same line that are reread with a sentence."""
PATIENT_FROM = ((3_000, 1.5), (300, 1.1))
"""After this many characters without a sentence, the text is reread only once it has grown by this factor."""
LONGEST_CITATION = 620
_LONGEST_LINK = 300

_LOOK = re.compile(r"\s|(?<=[。！？｡」』）】])\w")
_MAY_END = re.compile(r"[.!?…。！？｡؟۔।\r\n\v\f\u0085\u2028\u2029]")
_BREAK = r"(?:\r\n|[\r\n\v\f\u0085\u2028\u2029])"
_BLANK_LINE = re.compile(rf"[^\w\r\n]{{0,20}}{_BREAK}[ \t]*{_BREAK}")
_WORD = re.compile(r"\S*\w\S*\s")
_AFTER_CJK = re.compile(r"[^\w\s]*\w")
_CJK_STOP = re.compile(r"[。！？｡][\"'”’»)\]}*_`」』）】]*$")
_CITATION = re.compile(r"[ \t]?\(?[\[【]")
_WHOLE_CITATION = re.compile(r"[ \t]?\(?[\[【][^\]】\n]*[\]】]\S*\s|[^\]】\n]*\n")
_MAY_BE_BOLD = re.compile(r"[ \t]*(\*\*|__)[^*_]{0,121}(?:[*_]{1,2}:?[ \t]*)?$")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of the text, from the end of the previous piece to the end of a sentence.

    Any text before the sentence consists of spaces and list markers. Only the last piece of a text has no sentence.
    Fenced code, with its fences, counts as one sentence.
    """

    text: str
    start: int
    sentence: Sentence | None
    seen: int
    """The length of the text when the sentence became certain. Later text may show what kind of sentence it is."""
    is_code: bool = False


class GrowingText:
    """Splits a growing text into stretches, which together form the whole text."""

    def __init__(self) -> None:
        self.text = ""
        self._looked = 0
        self._cut = 0
        self._fence: int | None = None
        self._within: str | None = None
        self._again = 0

    def feed(self, chunk: str) -> Iterator[Stretch]:
        """Yields the stretches that this chunk completes. Consume all of them before calling `feed` again."""
        self.text += chunk
        while (look := _LOOK.search(self.text, self._looked)) is not None:
            self._looked = look.end()
            if self._is_worth_reading(look.end()):
                yield from self._certain(look.end())

    def end(self) -> Iterator[Stretch]:
        end = len(self.text)
        for sentence, is_code in self._sentences(end):
            yield self._up_to(sentence, end, is_code=is_code)
        if self._cut < end:
            yield Stretch(self.text[self._cut :], self._cut, None, end)
            self._cut = end

    def _is_worth_reading(self, end: int) -> bool:
        if end < self._again:
            return False
        if self._fence is not None and end - self._fence < LONGEST_FENCE:
            marker = self.text[self._fence : self._fence + 3]
            return self.text.find(marker, self._fence + 3, end) >= 0
        return end - self._cut > MAX_SENTENCE or _MAY_END.search(self.text, self._cut, end) is not None

    def _certain(self, end: int) -> Iterator[Stretch]:
        waited = end - self._cut
        self._again = self._cut + next((int(waited * factor) for least, factor in PATIENT_FROM if waited >= least), 0)
        anchor = self._anchor
        window = with_line_ends(self.text[anchor:end])
        fence, is_code = _open_fence(window, self._within)
        self._fence = anchor + fence if fence is not None and is_code else None
        fence = None if fence is not None and len(window) - fence >= LONGEST_FENCE else fence
        limit = min(place for place in (fence, _open_mark(window, self._within), len(window)) if place is not None)
        for sentence, is_code in self._sentences(end):
            over = _is_line_over if is_code else _is_over
            if sentence.end - anchor > limit or not over(window, sentence.end - anchor):
                return
            yield self._up_to(sentence, end, is_code=is_code)

    def _sentences(self, end: int) -> Iterator[tuple[Sentence, bool]]:
        anchor = self._anchor
        window = with_line_ends(self.text[anchor:end])
        found = [
            (one.start, one.end, False)
            for block in find_blocks(window, self._within)
            for one in sentences_of(window, block)
        ]
        found += [(*place, True) for place in code_in(window, self._within)]
        for first, last, is_code in sorted(found):
            body = self.text[max(anchor + first, self._cut) : anchor + last].lstrip()
            if any(character.isalnum() for character in body):
                yield Sentence(body, anchor + last - len(body), anchor + last), is_code

    @property
    def _anchor(self) -> int:
        line = max(self.text.rfind(mark, 0, self._cut) for mark in "\r\n") + 1
        return line if self._cut - line <= LONGEST_LINE else self._cut

    def _up_to(self, sentence: Sentence, seen: int, *, is_code: bool) -> Stretch:
        start, anchor = self._cut, self._anchor
        self._cut = sentence.end
        if self._anchor > anchor:
            lines = list(lines_of(self.text[anchor : self._cut]))
            self._within = fence_around(lines, self._anchor - anchor, self._within)
        self._fence, self._again = None, 0
        return Stretch(self.text[start : sentence.end], start, sentence, seen, is_code)


def _open_fence(window: str, within: str | None) -> tuple[int | None, bool]:
    lines = list(lines_of(window))
    for fence in fences_of(lines, within):
        if not fence.is_closed and fence.is_code is not False:
            return lines[fence.index].start, bool(fence.is_code)
    return None, False


def _open_mark(window: str, within: str | None) -> int | None:
    blocks = list(find_blocks(window, within))
    if not blocks or _BLANK_LINE.match(window, blocks[-1].end):
        return None
    last = blocks[-1]
    line = max(window.rfind(mark) for mark in "\r\n") + 1
    if _MAY_BE_BOLD.match(window, line):
        return line
    paragraph = max(window.rfind("\n\n"), len(window) - _LONGEST_LINK, 0)
    link = window.rfind("[", paragraph)
    if link >= 0 and "]" not in window[link:]:
        return link
    if window.count("`", paragraph) % 2:
        return window.rfind("`")
    return first_open(window, last.start, len(window)) if last.splittable else None


def _is_line_over(window: str, end: int) -> bool:
    return re.match(_BREAK, window[end : end + 2]) is not None


def _is_over(window: str, end: int) -> bool:
    if _BLANK_LINE.match(window, end):
        return True
    rest = window[end : end + 2 * LONGEST_CITATION]
    if _CITATION.match(rest) and not _WHOLE_CITATION.match(rest) and len(rest) < LONGEST_CITATION:
        return False
    if _CJK_STOP.search(window[max(0, end - 10) : end]) and _AFTER_CJK.match(rest):
        return True
    return _WORD.search(rest) is not None
