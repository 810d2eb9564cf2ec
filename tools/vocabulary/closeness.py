"""Tells which words are no substitute for an original: its own forms and parts, and words of the texts around it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from factloop.tools.vocabulary.inflections import lemmas, same_lemma
from factloop.tools.vocabulary.tokens import TOKEN

_ROOT_LETTERS = 5
_ROOT_SHARE = 0.8


def too_close(word: str, original: str) -> bool:
    """Whether one is a form of the other or made from it, or holds its letters.

    *temples* and *temple*, *Floridian* and *Florida*, *party* and *art*, *King Solomon* and *king*.
    """
    one, other = (" ".join(text.casefold().replace("_", " ").split()) for text in (word, original))
    return one in other or other in one or same_lemma(one, other) or _of_one_root(one, other)


def _of_one_root(one: str, other: str) -> bool:
    """Whether two words begin alike for most of the shorter: *president*, *presidency*; not *Austria*, *Australia*."""
    if " " in one + other:
        return False
    letters = max(_ROOT_LETTERS, math.ceil(_ROOT_SHARE * min(len(one), len(other))))
    return len(one) >= letters and one[:letters] == other[:letters]


@dataclass(frozen=True, slots=True)
class ExcludedWords:
    """The words that may not replace `original` in these texts. `word in excluded` tests one word or several."""

    original: str
    said: frozenset[str]
    """Words of the texts and their lemmas, in lower case."""

    @classmethod
    def of(cls, original: str, *texts: str) -> Self:
        return cls(original, frozenset().union(*map(_words_and_lemmas, texts)))

    def __contains__(self, word: str) -> bool:
        parts = word.lower().replace("_", " ").split()
        said = all(part in self.said or not lemmas(part).isdisjoint(self.said) for part in parts)
        return said or too_close(word, self.original)


@lru_cache(maxsize=256)
def _words_and_lemmas(text: str) -> frozenset[str]:
    words = frozenset(word.lower() for word in TOKEN.findall(text))
    return words.union(*map(lemmas, words))
