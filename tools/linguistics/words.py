"""Words of a sentence with a coarse class each, by closed lists and endings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from factloop.tools.linguistics import lexicon

WordClass = Literal[
    "determiner", "possessive", "pronoun", "preposition", "conjunction", "subordinator", "relative", "auxiliary",
    "modal", "past", "ed", "participle", "present", "base", "adverb", "number", "name", "mark", "other",
]  # fmt: skip
"""`past` is surely past tense, `ed` past tense or participle, `present` a form in -s, `base` a plural present."""

FINITE: frozenset[WordClass] = frozenset({"auxiliary", "modal", "past", "present"})
NOMINAL: frozenset[WordClass] = frozenset({"determiner", "possessive", "number", "name", "other"})

_TOKEN = re.compile(r"\d+(?:[.,:/]\d+)*(?:st|nd|rd|th|s|%)?|[^\W\d_]\.(?:[^\W\d_]\.)+|\w+(?:[.'’&-]\w+)*|[^\w\s]")
_CLOSED: tuple[tuple[frozenset[str], WordClass], ...] = (
    (lexicon.POSSESSIVES, "possessive"),
    (lexicon.RELATIVES, "relative"),
    (lexicon.SUBORDINATORS, "subordinator"),
    (lexicon.DETERMINERS, "determiner"),
    (lexicon.PRONOUNS, "pronoun"),
    (lexicon.AUXILIARIES, "auxiliary"),
    (lexicon.MODALS, "modal"),
    (lexicon.CONJUNCTIONS, "conjunction"),
    (lexicon.ADVERBS, "adverb"),
    (lexicon.NUMBER_WORDS, "number"),
    (lexicon.PREPOSITIONS, "preposition"),
    (lexicon.PAST, "past"),
    (lexicon.PARTICIPLES, "participle"),
    (lexicon.PAST_OR_PARTICIPLE, "ed"),
)
_CLASS_OF: dict[str, WordClass] = {word: name for words, name in reversed(_CLOSED) for word in words}
_BEFORE_NOUN: frozenset[WordClass] = frozenset({"determiner", "possessive", "preposition", "number"})
_BEFORE_OBJECT: frozenset[WordClass] = frozenset({"ed", "participle", "past", "present", "auxiliary"})
"""A verb before a form in -s makes that a noun: *published works*."""


class Word(NamedTuple):
    """`sentence[start:end] == text`. A tuple, since thousands are made a second: in a third of a dataclass's time."""

    text: str
    lower: str
    start: int
    end: int
    word_class: WordClass
    enclosed: bool
    """Inside a quotation or parenthesis, where nothing is ever split."""


@lru_cache(maxsize=1024)
def tag_words(sentence: str) -> tuple[Word, ...]:
    """Words and marks of a sentence in order.

    Cached: the steps that split a sentence, and the references of the next one, look at the same text again."""
    found = list(_TOKEN.finditer(sentence))
    enclosed = _enclosed(found)
    words: list[Word] = []
    for index, match in enumerate(found):
        text = match.group()
        words.append(Word(text, text.lower(), match.start(), match.end(), _classify(text, words), enclosed[index]))
    return tuple(words)


def content_words(text: str) -> list[str]:
    """Lower-cased words that carry content, in order, with repetitions; numbers are among them."""
    return [
        word.lower()
        for word in _TOKEN.findall(text.replace("’", "'").replace("'s", ""))
        if (word[0].isalnum()) and word.lower() not in lexicon.FUNCTION_WORDS
    ]


def capitalised(word: str) -> bool:
    return word[:1].isupper() and word[:1].isalpha()


def _classify(text: str, before: Sequence[Word]) -> WordClass:
    if not text[0].isalnum():
        return "mark"
    if text[0].isdigit():
        return "number"
    lower = text.lower()
    is_first = not before or (len(before) == 1 and before[0].word_class == "mark")
    if capitalised(text) and not is_first:
        return "name"
    previous = before[-1] if before else None
    closed = _CLASS_OF.get(lower)
    if closed is not None:
        follows_article = previous is not None and previous.word_class in {"determiner", "possessive"}
        if follows_article and closed in {"ed", "participle"}:
            return "other"
        return "number" if follows_article and lower == "first" else closed  # *the first tower*, but *was first lit*
    if is_first and capitalised(text):
        return "adverb" if lower.endswith("ly") else "name"
    if lower.endswith("ly") and len(lower) > 4:
        return "adverb"
    if lower.endswith("ed") and lower not in lexicon.NOT_VERBS_IN_ED and len(lower) > 3:
        return "other" if previous is not None and previous.word_class in {"determiner", "possessive"} else "ed"
    return _present_tense(lower, previous)


def _present_tense(lower: str, previous: Word | None) -> WordClass:
    if previous is None or previous.word_class in _BEFORE_NOUN | _BEFORE_OBJECT:
        return "other"
    if previous.lower.endswith(("'s", "’s", "'", "’")):
        return "other"
    if lower.endswith("s") and (lower[:-1] in lexicon.VERBS or _stem(lower) in lexicon.VERBS):
        return "present"
    follows_plural = previous.lower in {"they", "we", "you"} or (
        previous.word_class in {"other", "name"} and previous.lower.endswith("s") and not previous.lower.endswith("ss")
    )
    follows_modal = previous.word_class == "modal" or previous.lower in {"to", "also", "and", "not"}
    return "base" if lower in lexicon.VERBS and (follows_plural or follows_modal) else "other"


def _stem(lower: str) -> str:
    if lower.endswith("ies"):
        return lower[:-3] + "y"
    return lower[:-2] if lower.endswith(("ses", "xes", "zes", "ches", "shes", "oes")) else lower[:-1]


def _enclosed(found: Sequence[re.Match[str]]) -> list[bool]:
    """Marks what stands between quotation marks or brackets, the marks included; an unclosed mark encloses nothing."""
    inside = [False] * len(found)
    closers = {"“": "”", "(": ")", "[": "]", "«": "»", '"': '"'}
    opened: dict[str, int] = {}
    for index, match in enumerate(found):
        mark = match.group()
        if mark in opened:
            first = opened.pop(mark)
            inside[first : index + 1] = [True] * (index + 1 - first)
        elif mark in closers:
            opened[closers[mark]] = index
    return inside
