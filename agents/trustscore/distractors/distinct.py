"""Keeps distractors apart: from the response, from the question, from one another, and from reference answers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from factloop.agents.trustscore.distractors.form import Insertion
from factloop.agents.trustscore.distractors.targets import lemma

_WORD = re.compile(r"\d+(?:[.,:/]\d+)*|[^\W\d_]+|\d")
_ARTICLES = frozenset({"a", "an", "the"})
_MAX_PHRASE = 12
"""Longest substitute, in words, whose parts are compared."""


def normalised(text: str) -> tuple[str, ...]:
    """Its words without case, accents, punctuation and articles; figures stay as they are, *1.5* is not *15*."""
    plain = "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one)).casefold()
    words = tuple(_WORD.findall(plain.replace("'s", "").replace("’s", "")))
    return _without_articles(words)


def _without_articles(words: tuple[str, ...]) -> tuple[str, ...]:
    """All but the articles; these, too, where there is nothing else."""
    return tuple(word for word in words if word not in _ARTICLES) or words


class Sieve:
    """Admits what differs from the response, from the question and from all that was admitted before.

    Refused are equal texts, texts that contain the response or stand in it, and substitutes that are forms or parts of
    the original or of another substitute in the same place, or that stand elsewhere in the response or question. Takes
    time linear in the number of candidates."""

    def __init__(self, question: str, response: str) -> None:
        self._response = response
        self._own, self._question = normalised(response), normalised(question)
        self._own_text = _padded(self._own)
        self._said = _padded(_lemmas(self._own)), _padded(_lemmas(self._question))
        self._around: dict[tuple[int, int], tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self._texts: set[tuple[str, ...]] = {self._own, self._question}
        self._wholes: dict[tuple[int, int], set[tuple[str, ...]]] = {}
        self._parts: dict[tuple[int, int], set[tuple[str, ...]]] = {}

    def admits(self, inserted: Insertion) -> bool:
        """Whether it is one more distractor; if so it counts for those that follow."""
        place = inserted.start, inserted.end
        by = normalised(inserted.by)
        before, after = self._surroundings(place)
        text = _without_articles(before + by + after)
        if not by or text in self._texts or self._is_nested(text) or self._repeats(by, place):
            return False
        self._texts.add(text)
        self._remember(by, place)
        return True

    def _surroundings(self, place: tuple[int, int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if place not in self._around:
            start, end = place
            self._around[place] = normalised(self._response[:start]), normalised(self._response[end:])
            self._remember(normalised(self._response[start:end]), place)
        return self._around[place]

    def _is_nested(self, text: Sequence[str]) -> bool:
        padded = _padded(text)
        return padded in self._own_text or self._own_text in padded

    def _repeats(self, by: tuple[str, ...], place: tuple[int, int]) -> bool:
        lemmas = _lemmas(by)
        if any(_padded(lemmas) in said for said in self._said):
            return True
        return lemmas in self._parts[place] or any(part in self._wholes[place] for part in _phrases(lemmas))

    def _remember(self, by: tuple[str, ...], place: tuple[int, int]) -> None:
        lemmas = _lemmas(by)
        self._wholes.setdefault(place, set()).add(lemmas)
        self._parts.setdefault(place, set()).update(_phrases(lemmas))


class ReferenceAnswers:
    """Right answers to the question, where they are known: what a model proposes must say none of them.

    Without case, accents, punctuation and articles, as all texts are compared here.
    """

    def __init__(self, answers: Iterable[str], response: str) -> None:
        padded = (_padded(normalised(answer)) for answer in answers)
        self._answers = tuple(answer for answer in padded if answer.strip())
        self._said_before = _padded(normalised(response))

    def are_said_by(self, substitute: str, text: str) -> bool:
        """Whether `substitute` is an answer, holds one or is a part of one, or `text`, which has it, newly says one."""
        words, whole = _padded(normalised(substitute)), _padded(normalised(text))
        return any(
            answer in words or words in answer or (answer in whole and answer not in self._said_before)
            for answer in self._answers
        )


def _lemmas(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(lemma(word) for word in words)


def _phrases(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    words = words[:_MAX_PHRASE]
    return (words[start:end] for start in range(len(words)) for end in range(start + 1, len(words) + 1))


def _padded(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "
