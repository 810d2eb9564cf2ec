"""Keeps distractors apart: from the response, from the question, from one another, and from reference answers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from factloop.agents.trustscore.distractors.form import Insertion
from factloop.tools.names.inflection import lemmas

_WORD = re.compile(r"\d+(?:[.,:/]\d+)*|[^\W\d_]+|\d")
_ARTICLES = frozenset({"a", "an", "the"})
_MAX_PHRASE = 12
"""Longest substitute, in words, whose parts are compared."""

Words = tuple[str, ...]


def normalised(text: str) -> Words:
    """Its words without case, accents, punctuation and articles; figures stay as they are, *1.5* is not *15*."""
    plain = "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one)).casefold()
    return _without_articles(tuple(_WORD.findall(plain.replace("'s", "").replace("’s", ""))))


def _without_articles(words: Words) -> Words:
    """All but the articles; these, too, where there is nothing else."""
    return tuple(word for word in words if word not in _ARTICLES) or words


class Sieve:
    """Admits what differs from the response, from the question and from all that was admitted before.

    Refused are equal texts, texts that contain the response or stand in it, and substitutes that are forms or parts of
    the original or of another substitute in the same place, or that stand elsewhere in the response or question. Takes
    time linear in the number of candidates."""

    def __init__(self, question: str, response: str) -> None:
        self._response = response
        own, asked = normalised(response), normalised(question)
        self._own_text = _padded(own)
        self._said = _padded(_lemmas(own)), _padded(_lemmas(asked))
        self._texts: set[Words] = {own, asked}
        self._places: dict[tuple[int, int], _Place] = {}

    def admits(self, inserted: Insertion) -> bool:
        """Whether it is one more distractor; if so it counts for those that follow."""
        start, end, by = inserted.start, inserted.end, normalised(inserted.by)
        if (start, end) not in self._places:
            self._places[start, end] = _Place(self._response, start, end)
        place, forms = self._places[start, end], _lemmas(by)
        text = _without_articles(place.before + by + place.after)
        padded = _padded(text)
        is_nested = padded in self._own_text or self._own_text in padded
        is_said = any(_padded(forms) in said for said in self._said)
        if not by or text in self._texts or is_nested or is_said or place.has(forms):
            return False
        self._texts.add(text)
        place.add(forms)
        return True


class _Place:
    """What stands before and after a place of the response, and in it: the original and what was admitted."""

    def __init__(self, response: str, start: int, end: int) -> None:
        self.before, self.after = normalised(response[:start]), normalised(response[end:])
        self._wholes: set[Words] = set()
        self._parts: set[Words] = set()
        self.add(_lemmas(normalised(response[start:end])))

    def has(self, forms: Words) -> bool:
        """Whether the words are a part of some that are here, or some of these a part of them."""
        return forms in self._parts or any(part in self._wholes for part in _phrases(forms))

    def add(self, forms: Words) -> None:
        self._wholes.add(forms)
        self._parts.update(_phrases(forms))


def says_reference(references: Sequence[str], response: str, inserted: Insertion) -> bool:
    """Whether a substitute is a right answer, holds one or is a part of one, or completes one in its place.

    A model that proposes distractors may know the right answer, too. Texts are compared without case, accents,
    punctuation and articles."""
    words, whole, before = (_padded(normalised(text)) for text in (inserted.by, inserted.text, response))
    answers = (_padded(found) for answer in references if (found := normalised(answer)))
    return any(one in words or words in one or (one in whole and one not in before) for one in answers)


def _lemmas(words: Words) -> Words:
    """A form of each word by which its other forms are known."""
    return tuple(min(lemmas(word), key=lambda form: (len(form), form)) for word in words)


def _phrases(words: Words) -> Iterator[Words]:
    words = words[:_MAX_PHRASE]
    return (words[start:end] for start in range(len(words)) for end in range(start + 1, len(words) + 1))


def _padded(words: Words) -> str:
    return f" {' '.join(words)} "
