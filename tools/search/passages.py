"""Text into passages of about a hundred words that overlap, and a choice among passages by the words of a query."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # kana, Han
)
"""Ranges of the scripts that put no spaces between words, for use inside a regular expression's brackets."""

_SPACELESS_CHARACTER = re.compile(f"[{SPACELESS}]")
_LONGEST_UNIT = 100
_UNIT = re.compile(rf"[{SPACELESS}]{{1,2}}|[^\s{SPACELESS}]{{1,{_LONGEST_UNIT}}}")
_SENTENCE_END = re.compile(r"[.!?\u2026\u3002\uff01\uff1f\u0964][\"'\u201d\u2019)\]\u00bb\u300d\u300f]*\Z")
_WORD = re.compile(rf"[{SPACELESS}]|[^\W{SPACELESS}]+")


@dataclass(frozen=True)
class PassageSettings:
    """Lengths in words. Where a script has no spaces, two characters count as a word."""

    words: int = 100
    overlap: int = 20
    slack: int = 20
    """How far a passage may be longer or shorter than `words` in order to end with a sentence."""

    def __post_init__(self) -> None:
        if not (self.overlap >= 0 and self.slack >= 0 and self.words > self.slack + self.overlap):
            raise ValueError(f"words must exceed slack and overlap together: {self}")


DEFAULT_SETTINGS = PassageSettings()


def split_passages(text: str, settings: PassageSettings = DEFAULT_SETTINGS) -> Iterator[str]:
    """Passages in order, whitespace collapsed; none for blank text. Linear time, constant memory beside `text`.

    A text of at most `words + slack` words is one passage. A "word" of more than 100 characters is cut.
    """
    longest = settings.words + settings.slack
    is_short = len(text) <= 10 * longest and (text.isascii() or not _SPACELESS_CHARACTER.search(text))
    if is_short and len(words := text.split()) <= longest:  # most rows of a table
        if words:
            yield " ".join(words)
        return
    units: list[tuple[int, int]] = []
    for match in _UNIT.finditer(text):
        units.append(match.span())
        if len(units) > longest:
            end = _sentence_end_near(settings.words, text, units, settings.slack)
            yield _collapsed(text, units[:end])
            units = units[_sentence_end_near(end - settings.overlap, text, units, settings.overlap // 2) :]
    if units:
        yield _collapsed(text, units)


def _sentence_end_near(wished: int, text: str, units: Sequence[tuple[int, int]], slack: int) -> int:
    """How many units to take: as near to `wished` as a sentence or a paragraph ends, else `wished` itself."""
    for distance in range(slack + 1):
        for count in (wished - distance, wished + distance):
            (start, end), following = units[count - 1], units[count][0]
            if _SENTENCE_END.search(text, max(start, end - 4), end) or "\n\n" in text[end : min(following, end + 80)]:
                return count
    return wished


def _collapsed(text: str, units: Sequence[tuple[int, int]]) -> str:
    return " ".join(text[units[0][0] : units[-1][1]].split())


def best_passages(query: str, passages: Sequence[str], limit: int) -> list[int]:
    """Indices of at most `limit` passages, best first: those that share the rarest words with the query.

    A shared word weighs the logarithm of how rare it is among the passages. Ties keep their order, and passages that
    share nothing come last.
    """
    wanted = set(_words(query))
    shared = [wanted.intersection(_words(passage)) for passage in passages]
    spread = Counter(word for words in shared for word in words)
    scores = [sum(math.log(1 + len(passages) / spread[word]) for word in sorted(words)) for words in shared]
    return sorted(range(len(passages)), key=lambda index: -scores[index])[:limit]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
