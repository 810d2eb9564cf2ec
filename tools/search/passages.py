"""Splits text into passages of about eighty words, and selects passages by the words of a query."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from factloop.tools.text.sentences import NEVER_FINAL

SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # kana, Han
)
"""Scripts that do not separate words with spaces, as ranges for a regular expression's character class."""

PARAGRAPHS, PARAGRAPH = "\n\n", "\n"
"""The separators between paragraphs in a text and in a passage, respectively."""

_SPACELESS_CHARACTER = re.compile(f"[{SPACELESS}]")
_LONGEST_UNIT = 100
_UNIT = re.compile(rf"[{SPACELESS}]{{1,2}}|[^\s{SPACELESS}]{{1,{_LONGEST_UNIT}}}")
_SENTENCE_END = re.compile(r"[.!?\u2026\u3002\uff01\uff1f\u0964][\"'\u201d\u2019)\]\u00bb\u300d\u300f]*\Z")
_LONGEST_SHORT = 8
_AROUND = ".([\"'"
_WORD = re.compile(rf"[{SPACELESS}]|[^\W{SPACELESS}]+")


@dataclass(frozen=True)
class PassageSettings:
    """Lengths in words. In scripts without spaces, two characters count as a word."""

    words: int = 80
    slack: int = 20
    """Number of words by which a passage may be longer or shorter than `words`, so that it can end with a sentence."""

    def __post_init__(self) -> None:
        if not self.words > self.slack >= 0:
            raise ValueError(f"`slack` must be at least 0 and less than `words`, but got {self}")


DEFAULT_SETTINGS = PassageSettings()


@dataclass(frozen=True, slots=True)
class Chunk:
    text: str
    """The text with whitespace collapsed, except for newlines between paragraphs."""
    joint: str = PARAGRAPH
    """The separator between this passage and the previous one: a newline, a space, or nothing."""
    begins_within: bool = False
    """Whether the passage continues a sentence that is too long for one passage."""


def split_passages(text: str, settings: PassageSettings = DEFAULT_SETTINGS) -> Iterator[str]:
    """Splits text into passages, in order and without overlap, in linear time and constant extra memory.

    Each passage ends with a sentence, unless the sentence is too long for one passage. A text of at most `words +
    slack` words is one passage. A "word" of more than 100 characters is cut. Blank text has no passages.
    """
    return (chunk.text for chunk in split_chunks(text, settings))


def split_chunks(
    text: str, settings: PassageSettings = DEFAULT_SETTINGS, tables: Sequence[tuple[int, int]] = ()
) -> Iterator[Chunk]:
    """Splits text like `split_passages`. Within the ranges in `tables`, paragraphs are table rows and are not cut."""
    longest = settings.words + settings.slack
    is_short = len(text) <= 10 * longest and (text.isascii() or not _SPACELESS_CHARACTER.search(text))
    if is_short and len(words := text.split()) <= longest:  # this is true for most table rows
        if words:
            yield Chunk(_collapsed(text) if PARAGRAPHS in text else " ".join(words))
        return
    ends = _Ends(text, tables)
    units: list[tuple[int, int]] = []
    joint, begins_within = PARAGRAPH, False
    for match in _UNIT.finditer(text):
        units.append(match.span())
        if len(units) > longest:
            count, is_end = ends.nearest(units, settings)
            yield Chunk(_collapsed(text[units[0][0] : units[count - 1][1]]), joint, begins_within)
            between, begins_within = text[units[count - 1][1] : units[count][0]], not is_end
            joint = PARAGRAPH if PARAGRAPHS in between else between and " "
            units = units[count:]
    if units:
        yield Chunk(_collapsed(text[units[0][0] : units[-1][1]]), joint, begins_within)


class _Ends:
    def __init__(self, text: str, tables: Sequence[tuple[int, int]]) -> None:
        self._text, self._tables = text, tables
        self._starts = [start for start, _ in tables]

    def nearest(self, units: Sequence[tuple[int, int]], settings: PassageSettings) -> tuple[int, bool]:
        """Chooses the end nearest to `words`, or else an earlier one, or else exactly `words` units."""
        wished = settings.words
        near = (count for distance in range(settings.slack + 1) for count in (wished - distance, wished + distance))
        for count in (*near, *range(wished - settings.slack - 1, 0, -1)):
            if self._is_end(units[count - 1], units[count][0]):
                return count, True
        return wished, False

    def _is_end(self, unit: tuple[int, int], following: int) -> bool:
        start, end = unit
        if PARAGRAPHS in self._text[end : min(following, end + 80)]:
            return True
        if self._starts and self._is_within_table(end):
            return False
        if not _SENTENCE_END.search(self._text, max(start, end - 4), end):
            return False
        return self._text[max(start, end - _LONGEST_SHORT) : end].strip(_AROUND).casefold() not in NEVER_FINAL

    def _is_within_table(self, place: int) -> bool:
        table = bisect_right(self._starts, place) - 1
        return table >= 0 and place < self._tables[table][1]


def _collapsed(text: str) -> str:
    if PARAGRAPHS not in text:
        return " ".join(text.split())
    return PARAGRAPH.join(" ".join(part.split()) for part in text.split(PARAGRAPHS) if part and not part.isspace())


def best_passages(query: str, passages: Sequence[str], limit: int) -> list[int]:
    """Returns the indices of at most `limit` passages, starting with those that share the rarest words with the query.

    Each shared word is weighted by the logarithm of its rarity among the passages. Ties keep their order.
    """
    wanted = set(_words(query))
    shared = [wanted.intersection(_words(passage)) for passage in passages]
    spread = Counter(word for words in shared for word in words)
    scores = [sum(math.log(1 + len(passages) / spread[word]) for word in sorted(words)) for words in shared]
    return sorted(range(len(passages)), key=lambda index: -scores[index])[:limit]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
