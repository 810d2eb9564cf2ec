"""Finds the places where names may stand in a text, and compares two spellings of one name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_WORD = re.compile(r"(?:[^\W\d_]\.){2,}|(?:(?!['’]s\b)(?:[^\W_]|['’&.-](?=[^\W_])|[\u0300-\u036f\u0900-\u0dff]))+")
_GAP = re.compile(r"\s+|\.\s+|,\s+")
"""What may stand between the words of one name: *New York*, *St. Louis*, *Washington, D.C.*"""
_SENTENCE_END = frozenset('.!?:"“”‘«')
_GENITIVE = frozenset({"s", "S"})


@dataclass(frozen=True, slots=True)
class NameWord:
    """`text[start:end] == word`."""

    word: str
    start: int
    end: int
    opens: bool
    """First of a sentence or of a quotation, where a capital says nothing."""

    @property
    def capitalised(self) -> bool:
        return self.word[:1].isupper()


def fold_anew(name: str) -> str:
    """As `fold`, without a look at what is kept: for names that are met once."""
    if name.isascii():
        lowered = name.lower()
        return lowered if lowered.isalpha() else " ".join(lowered.replace(".", "").split())
    plain = unicodedata.normalize("NFKD", name.replace("’", "'")).casefold()
    return " ".join("".join(c for c in plain if not unicodedata.combining(c)).replace(".", "").split())


@lru_cache(maxsize=1 << 14)
def fold(name: str) -> str:
    """The name without case, accents, full stops and odd spaces: equal for spellings of one name."""
    return fold_anew(name)


@lru_cache(maxsize=1024)
def name_words(text: str) -> tuple[NameWord, ...]:
    """The words of a text in order, a genitive's *'s* left out; the dots of *U.S.* belong to it but at the very end."""
    words: list[NameWord] = []
    for match in _WORD.finditer(text):
        if match.group() in _GENITIVE and text[match.start() - 1 : match.start()] in {"'", "’"}:
            continue
        gap = text[words[-1].end : match.start()].strip() if words else ""
        abbreviated = gap == "." and len(words[-1].word) <= 2
        opens = not words or (gap[-1:] in _SENTENCE_END and gap != "" and not abbreviated)
        end = match.end() - (match.group().endswith(".") and not text[match.end() :].strip())
        words.append(NameWord(text[match.start() : end], match.start(), end, opens))
    return tuple(words)


def windows(text: str, words: tuple[NameWord, ...], longest: int) -> Iterator[tuple[int, int]]:
    """Runs of up to `longest` words with nothing but spaces, full stops or commas between, as word indexes [i, j)."""
    for first in range(len(words)):
        for after in range(first + 1, min(first + longest, len(words)) + 1):
            if after > first + 1 and not _GAP.fullmatch(text, words[after - 2].end, words[after - 1].start):
                break
            yield first, after
