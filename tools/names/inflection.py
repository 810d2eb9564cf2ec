"""Lemmas and plurals of English words, by the tables of spaCy's lemmatizer, and their indefinite article."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from factloop.tools.text.pipeline import load_pipeline

CLASSES = ("noun", "verb", "adj")
_S_AS_ES = re.compile(r"(?:s|x|z|ch|sh)$")
_Y_AS_IES = re.compile(r"[^aeiou]y$")
_VOWEL_SOUND = re.compile(r"(?:[aeiou]|hour|hono[u]?r|honest|heir)", re.IGNORECASE)
_CONSONANT_SOUND = re.compile(
    r"(?:uni(?!n|mp|mag|d)|unanim|u[stkbr][aeiou]|ukr|eu|ewe|ufo|once\b|one\b|one-|oui|ouija)", re.IGNORECASE
)
_SPELT_OUT_WITH_VOWEL = frozenset("AEFHILMNORSX")
_EIGHT = re.compile(r"(?:8\d*|1[18](?:\d{3}|\d{6})?)(?!\d)")


@cache
def _table(name: str) -> Mapping[str, Any]:
    lookups = load_pipeline().get_pipe("lemmatizer").lookups.get_table(f"lemma_{name}")  # type: ignore[attr-defined]
    return {word_class: lookups[word_class] for word_class in CLASSES}


@cache
def words_of(word_class: str) -> frozenset[str]:
    """All lemmas of nouns, verbs or adjectives (`CLASSES`) in small letters, names among them."""
    return frozenset(_table("index")[word_class])


@lru_cache(maxsize=65_536)
def lemmas(lower: str) -> frozenset[str]:
    """The word in small letters, and all that it may be a form of: *saw* is a form of *saw* and *see*."""
    return frozenset({lower, *(one for word_class in CLASSES for one in lemmas_of(lower, word_class))})


def lemmas_of(lower: str, word_class: str) -> Iterator[str]:
    """What the word may be a form of, another word of this class."""
    irregular = _table("exc")[word_class].get(lower)
    if irregular:
        yield from irregular
        return
    for ending, instead in _table("rules")[word_class]:
        base = lower[: len(lower) - len(ending)] + instead
        if lower.endswith(ending) and base != lower and base in words_of(word_class):
            yield base


@cache
def _irregular_plurals() -> Mapping[str, str]:
    return {base: form for form, bases in _table("exc")["noun"].items() for base in bases if form != base}


def plural(noun: str) -> str:
    """*wives* for *wife*, *ice ages* for *ice age*."""
    head, gap, last = noun.rpartition(" ")
    if last in _irregular_plurals():
        return head + gap + _irregular_plurals()[last]
    if _Y_AS_IES.search(last):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if _S_AS_ES.search(last) else f"{noun}s"


def indefinite_article(phrase: str) -> str:
    """*a* or *an*, by the sound of the first word: *an hour*, *a university*, *an FBI agent*, *an 18th*."""
    first = re.search(r"\w\S*", phrase)
    word = first[0] if first else ""
    if word[:1].isdigit():
        return "an" if _EIGHT.match(word.replace(",", "")) else "a"
    if word.isupper() and (len(word) <= 3 or not re.search(r"[AEIOU]", word[:4])):  # it is spelt out
        return "an" if word[0] in _SPELT_OUT_WITH_VOWEL else "a"
    return "an" if _VOWEL_SOUND.match(word) and not _CONSONANT_SOUND.match(word) else "a"
