"""The last resort: other words of the same part of speech, about as common, drawn by chance."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache

from factloop.agents.trustscore.distractors.base import Substitute, Target
from factloop.agents.trustscore.records import Source
from factloop.tools.knowledge_base.built_in import built_in_gazetteer
from factloop.tools.knowledge_base.names import fold
from factloop.tools.linguistics.lexicon import AUXILIARIES, BE, NATIONALITIES
from factloop.tools.vocabulary.closeness import ExcludedWords
from factloop.tools.vocabulary.data import vocabulary_version
from factloop.tools.vocabulary.lexicon import count_of, nationality_adjectives, words_of
from factloop.tools.vocabulary.shapes import shape_of

NATIONALITY = "nationality"
MIN_WINDOW = 400
"""The least number of words to draw from: those nearest to the original in how common they are."""
MIN_LIKE = 60
"""Fewer words of like meaning are too few to draw from."""
LEAST_FAME = 5.7
"""Fame of a place whose name is no longer taken for a person's: a city of half a million."""
SPARE = 3
"""Words looked at for each one wanted: some are forms of the original, or stand in the texts already."""


class SameClassSource:
    """Words of the target's Penn tag from TextBlob's lexicon. Numbers, dates and auxiliary verbs get none.

    A name of several words is replaced by one of a single word.
    """

    @property
    def name(self) -> str:
        return f"same-class words 2 ({vocabulary_version()})"

    async def substitutes(
        self, target: Target, response: str, question: str, *, limit: int, rng: random.Random
    ) -> Sequence[Substitute]:
        words = _words_like(target.text, class_of(target))
        if not words or limit < 1:
            return ()
        taken = ExcludedWords.of(target.text, response, question)
        fit: list[Substitute] = []
        for word in _draw(words, count_of(target.text), limit, rng):
            if len(fit) == limit:
                break
            if word not in taken:
                fit.append(Substitute(word, Source.VOCABULARY, f"same part of speech ({target.tag})"))
        return fit


def class_of(target: Target) -> str:
    """The Penn tag of the words that may stand in the target's place, or NATIONALITY; empty where none may.

    A name stays a name whatever its last word is: *All Night Long*.
    """
    lower = target.text.lower()
    if target.kind in {"date", "number"} or lower in BE | AUXILIARIES:
        return ""
    if lower in NATIONALITIES:
        return NATIONALITY
    is_name = target.tag.startswith("NNP") or (target.kind == "entity" and lower != target.text)
    return ("NNPS" if target.tag == "NNPS" else "NNP") if is_name else target.tag


def _words_like(text: str, word_class: str) -> tuple[str, ...]:
    """Words of the class; of these, those of like meaning by their endings, and no places for a name.

    A name of a place would be known as one."""
    words = words_of_class(word_class)
    if word_class.startswith("NNP"):
        return _no_places(words)
    shape = shape_of(text.rpartition(" ")[2], word_class)
    like = _of_shape(words, word_class, shape) if word_class != NATIONALITY else words
    return like if len(like) >= MIN_LIKE else words


@lru_cache(maxsize=16)
def _no_places(names: tuple[str, ...]) -> tuple[str, ...]:
    places = built_in_gazetteer()
    return tuple(name for name in names if not any(one.fame >= LEAST_FAME for one in places.named(fold(name))))


@lru_cache(maxsize=64)
def _of_shape(words: tuple[str, ...], word_class: str, shape: str) -> tuple[str, ...]:
    return tuple(word for word in words if shape_of(word, word_class) == shape)


def words_of_class(word_class: str) -> tuple[str, ...]:
    return nationality_adjectives() if word_class == NATIONALITY else words_of(word_class)


def _draw(words: Sequence[str], count: int, limit: int, rng: random.Random) -> list[str]:
    """Different words in random order from the part of `words`, the commonest first, where `count` would stand."""
    width = max(MIN_WINDOW, SPARE * limit)
    middle = _rank(words, count) if count else len(words) // 2
    first = max(0, min(middle - width // 2, len(words) - width))
    window = range(first, min(first + width, len(words)))
    return [words[index] for index in rng.sample(window, min(SPARE * limit, len(window)))]


def _rank(words: Sequence[str], count: int) -> int:
    """The rank of the word: how many of the words are more common, by halving."""
    low, high = 0, len(words)
    while low < high:
        middle = (low + high) // 2
        if count_of(words[middle]) > count:
            low = middle + 1
        else:
            high = middle
    return low
