"""Tells text in another language than English, which the rules do not read.

By the share of its words that an English dictionary has. Words with a capital do not count, since names are in no
dictionary, and in German no noun would count for English. Text in another script has no such words at all.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from factloop.tools.linguistics.english import is_known

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_ADDRESS = re.compile(r"//|@|www\.")
_LEAST_SHARE, _SURELY, _SURELY_NOT = 0.5, 0.7, 0.35
"""Of 4,300 sentences of English biographies, full of names, none has less than 0.7; texts in nine other languages have
0.35 at most."""
_ENOUGH_WORDS = 8
"""Words of a paragraph that tell its language."""
_FEWEST_WORDS = 5
"""Words of a response, or of a sentence that is surely in one language, that tell it."""
_AROUND = 1_000
"""Characters before and after a sentence that are looked at, so that a paragraph of any length takes no longer."""
_OPENERS = frozenset(
    {
        *("der", "die", "das", "ein", "eine", "er", "sie", "es", "wir", "ihr"),
        *("le", "la", "les", "un", "une", "des", "il", "elle", "ils", "elles", "ce", "cette"),
        *("el", "los", "las", "una", "unos", "ella", "ellos", "lo", "gli", "uno", "het", "een", "zij", "hij"),
        *("os", "um", "uma", "ele", "ela", "den", "det", "ett", "en", "han", "hun", "hon"),
    }
)
"""Articles and pronouns of other languages, which open many of their sentences. They open names, too."""
_LETTERS = 3
"""Letters of a word that tells something: *in*, *m* and *kg* stand in many languages."""
_ENGLISH_ENDING = re.compile(r"(?:ed|ing|ly|s|tion|ness)$")
"""Ends many English words that no dictionary has."""
_READ = 5_000
"""Characters of the response that tell its language."""


def is_english_at(response: str, start: int, end: int) -> bool:
    """Whether the stretch of the response is English: judged by itself where that leaves no doubt, else by its
    paragraph, where that is short with those before it, and by the beginning of the response where these are short,
    too."""
    own = response[start:end]
    if _is_in_other_script(own) or _opens_in_other(own):
        return False
    if len(words := _words(own)) >= _FEWEST_WORDS and not _SURELY_NOT < (share := _known_share(words)) < _SURELY:
        return share >= _SURELY
    first = max(0, start - _AROUND)
    after = response.find("\n\n", end, end + _AROUND)
    last = after if after >= 0 else end + _AROUND
    place = max(response.rfind("\n\n", first, start), first)
    if _is_in_other_script(response[place:last]):
        return False
    while len(words := _words(response[place:last])) < _ENOUGH_WORDS and place > first:
        place = max(response.rfind("\n\n", first, place), first)
    return _known_share(words) >= _LEAST_SHARE if len(words) >= _ENOUGH_WORDS else _is_english(response)


@lru_cache(maxsize=128)
def _is_english(response: str) -> bool:
    """Whether a response begins in English; True where it has too few words to tell."""
    words = _words(response[:_READ])
    if len(words) < _FEWEST_WORDS:
        return not _is_in_other_script(response[:_READ])
    return _known_share(words) >= _LEAST_SHARE


def _opens_in_other(sentence: str) -> bool:
    """Whether a sentence opens with an article or a pronoun of another language and has hardly a word that may be
    English: *Die Pumpe wiegt 3 kg und hat keinen Motor.*, but not *Die Zeit is a weekly.*"""
    opening = _WORD.search(sentence)
    if opening is None or opening[0].lower() not in _OPENERS or not sentence.rstrip("*_ ").endswith((".", "!", "?")):
        return False
    words = [word for word in _words(sentence[opening.end() :]) if len(word) >= _LETTERS and word not in _OPENERS]
    return sum(_is_known(word) or _ENGLISH_ENDING.search(word) is not None for word in words) < _SURELY_NOT * len(words)


def _words(text: str) -> list[str]:
    pieces = " ".join(piece for piece in text.split() if _ADDRESS.search(piece) is None)
    return [word for word in _WORD.findall(pieces) if word[0].islower()]


def _known_share(words: Sequence[str]) -> float:
    return sum(map(_is_known, words)) / len(words)


@lru_cache(maxsize=16_384)
def _is_known(word: str) -> bool:
    return is_known(word)


def _is_in_other_script(text: str) -> bool:
    if text.isascii():
        return False
    letters = [character for character in text if character.isalpha()]
    return sum(_is_latin(letter) for letter in letters) * 2 < len(letters)


@lru_cache(maxsize=4_096)
def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith("LATIN")
