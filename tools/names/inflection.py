"""Inflects words with the tables of spaCy's lemmatizer, chooses articles, and gives one name the form of another."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
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
    """Returns all lemmas of a word class (one of `CLASSES`) in lowercase. Nouns include names."""
    return frozenset(_table("index")[word_class])


@lru_cache(maxsize=65_536)
def lemmas(lower: str) -> frozenset[str]:
    """Returns the word and all words that it may be a form of, such as *saw* and *see* for *saw*."""
    return frozenset({lower, *(one for word_class in CLASSES for one in lemmas_of(lower, word_class))})


def lemmas_of(lower: str, word_class: str) -> Iterator[str]:
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
    head, gap, last = noun.rpartition(" ")
    if last in _irregular_plurals():
        return head + gap + _irregular_plurals()[last]
    if _Y_AS_IES.search(last):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if _S_AS_ES.search(last) else f"{noun}s"


def indefinite_article(phrase: str) -> str:
    """Returns *a* or *an* depending on the sound of the first word: *an hour*, *a university*, *an FBI agent*."""
    first = re.search(r"\w\S*", phrase)
    word = first[0] if first else ""
    if word[:1].isdigit():
        return "an" if _EIGHT.match(word.replace(",", "")) else "a"
    if word.isupper() and (len(word) <= 3 or not re.search(r"[AEIOU]", word[:4])):  # it is spelled out
        return "an" if word[0] in _SPELT_OUT_WITH_VOWEL else "a"
    return "an" if _VOWEL_SOUND.match(word) and not _CONSONANT_SOUND.match(word) else "a"


LONGEST_LABEL = 120
_EXPLANATION = re.compile(r"(?<=\S)\s+\([^()]*\)\s*$")
_SUFFIX = re.compile(r"(?:[jJ]r|[sS]r|[IVX]{1,4})\.?")
_EPITHETS = frozenset({"the", "of"})


@lru_cache(maxsize=1 << 14)
def fold(name: str) -> str:
    """Removes case, accents, full stops and extra spaces, so that different spellings of a name compare equal."""
    if name.isascii():
        lowered = name.lower()
        return lowered if lowered.isalpha() else " ".join(lowered.replace(".", "").split())
    plain = unicodedata.normalize("NFKD", name.replace("’", "'")).casefold()
    return " ".join("".join(c for c in plain if not unicodedata.combining(c)).replace(".", "").split())


def plain_label(label: str) -> str:
    """Returns the label on one line, without a final note in brackets: "Casablanca (film)" becomes "Casablanca"."""
    line = " ".join(label.split())
    return _EXPLANATION.sub("", line) or line


def is_usable(label: str) -> bool:
    return 0 < len(label) <= LONGEST_LABEL and label.isprintable() and any(map(str.isalpha, label))


def fitted(label: str, name: str, own: str, *, is_person: bool) -> str:
    """Adapts `label` to the form of `name`, which refers to the thing labelled `own`.

    Any part of `own` that `name` leaves out is left out of `label` as well. For example, "Boise" for "Boise, Idaho"
    turns "Boston, Massachusetts" into "Boston", "Obama" gives "Bush", and "King Solomon" gives "King David".
    """
    label, own = plain_label(label), plain_label(own)
    if ", " in own and "," not in name:
        label = label.partition(", ")[0]
    words = label.split(), name.split(), own.split()
    return _as_person(*words) if is_person and all(words) else label


def _as_person(label: Sequence[str], name: Sequence[str], own: Sequence[str]) -> str:
    titles = name[: next((at for at, word in enumerate(name) if _bare(word) in map(_bare, own)), 0)]
    rest = [_bare(word) for word in name[len(titles) :]]
    words = list(label)
    if rest != [_bare(word) for word in own]:
        if rest == [_bare(family_name(own))]:
            words = [family_name(label)]
        elif rest == [_bare(own[0])]:
            words = words[:1]
    if titles and len(words) > 1 and _bare(words[0]) in map(_bare, titles):
        words = words[1:]
    return " ".join([*titles, *words])


def family_name(words: Sequence[str]) -> str:
    """Returns the last word of a name without "Jr." or "II", or the word before "the Great" or "of Aragon"."""
    end = next((at for at, word in enumerate(words) if at and word in _EPITHETS), len(words))
    while end > 1 and _SUFFIX.fullmatch(words[end - 1]):
        end -= 1
    return words[end - 1].rstrip(",")


def _bare(word: str) -> str:
    return word.strip(".,").casefold()
