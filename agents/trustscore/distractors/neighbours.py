"""Near but other words: neighbours of a target in embedding space, of the same part of speech."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, Self

from factloop.agents.trustscore.distractors.base import Substitute, Target
from factloop.agents.trustscore.distractors.same_class import NATIONALITY, class_of, words_of_class
from factloop.agents.trustscore.records import Source
from factloop.tools.embeddings.base import Embedder
from factloop.tools.embeddings.embedded_words import EmbeddedWords
from factloop.tools.embeddings.word_vectors import WordVectors
from factloop.tools.linguistics.lexicon import NATIONALITIES
from factloop.tools.vocabulary.closeness import ExcludedWords, too_close
from factloop.tools.vocabulary.data import vocabulary_version
from factloop.tools.vocabulary.lexicon import is_ordinary, tag_of

MAX_COSINE = 0.9
"""From here on a neighbour says the same as the original (the paper's bound, for word2vec)."""
MAX_COSINE_OF_SENTENCES = 0.75
"""The same for sentence models, which put *physician* at 0.86 from *doctor*, and *surgeon* at 0.75."""
MIN_COSINE = 0.2
"""Below, a neighbour is a word like any other, which another source gives more cheaply."""
MAX_WORDS = 5_000
"""Number of words of a part of speech, the commonest: the more, the longer the first run takes."""
SPARE = 5
"""Neighbours looked at for each one wanted: many are forms of the original or of another class."""
_MIN_LOOKED_AT = 100
_PER_FIT_WORD = 5
"""Words of a file looked at for each one of the target's class."""


class Neighbourhood(Protocol):
    """Words near a target that may stand in its place by their class; nearest first, with their cosine."""

    @property
    def name(self) -> str: ...

    def near(self, target: Target, limit: int) -> Sequence[tuple[str, float]]: ...


class NeighbourSource:
    """Neighbours that differ: no form of the original or of one another, nothing that the texts say already.

    Numbers, dates and auxiliary verbs get none. It works in a thread, since the first question may take a while.
    """

    def __init__(self, neighbourhood: Neighbourhood, *, max_cosine: float = MAX_COSINE) -> None:
        """Neighbours at `max_cosine` and above are refused, and those below `MIN_COSINE`."""
        self._neighbourhood = neighbourhood
        self._max_cosine = max_cosine

    @classmethod
    def of_vectors(cls, vectors: WordVectors) -> Self:
        return cls(VectorNeighbourhood(vectors))

    @classmethod
    def of_embedder(cls, embedder: Embedder, cache_dir: Path | None = None) -> Self:
        """Over ordinary English words. Those of a part of speech are embedded when it is first asked for, once for all
        runs that share `cache_dir`: with MiniLM on one core some 15 s for the nouns, a minute for all."""
        return cls(EmbeddedNeighbourhood(embedder, cache_dir), max_cosine=MAX_COSINE_OF_SENTENCES)

    @property
    def name(self) -> str:
        return f"neighbours 1 ({self._neighbourhood.name}, cosine {MIN_COSINE:g} to {self._max_cosine:g})"

    async def substitutes(
        self,
        target: Target,
        response: str,
        question: str,
        *,
        limit: int,
        rng: random.Random,  # noqa: ARG002  # nearness leaves nothing to chance
    ) -> Sequence[Substitute]:
        if limit < 1 or not class_of(target):
            return ()
        return await asyncio.to_thread(self._substitutes, target, response, question, limit)

    def _substitutes(self, target: Target, response: str, question: str, limit: int) -> list[Substitute]:
        taken = ExcludedWords.of(target.text, response, question)
        fit: list[Substitute] = []
        for word, cosine in self._neighbourhood.near(target, max(_MIN_LOOKED_AT, SPARE * limit)):
            if len(fit) == limit or cosine < MIN_COSINE:
                break
            if (
                cosine < self._max_cosine
                and word not in taken
                and not any(too_close(word, other.text) for other in fit)
            ):
                fit.append(Substitute(word, Source.EMBEDDING, f"cosine {cosine:.2f}"))
        return fit


class VectorNeighbourhood:
    """Over word vectors from a file, whose words are of all classes and many of no language."""

    def __init__(self, vectors: WordVectors) -> None:
        self._vectors = vectors
        self.name = vectors.identity

    def near(self, target: Target, limit: int) -> Sequence[tuple[str, float]]:
        near = self._vectors.neighbours(target.text, _PER_FIT_WORD * limit)
        return [pair for pair in near if _stands_for(target, pair[0])][:limit]


class EmbeddedNeighbourhood:
    """Over the commonest words of each part of speech, embedded by a sentence model."""

    def __init__(self, embedder: Embedder, cache_dir: Path | None = None) -> None:
        self._embedder = embedder
        self._cache_dir = cache_dir
        self._of_class: dict[str, EmbeddedWords] = {}
        self.name = f"{embedder.name}, {vocabulary_version()}"

    def near(self, target: Target, limit: int) -> Sequence[tuple[str, float]]:
        word_class = class_of(target)
        if word_class not in self._of_class:
            words = words_of_class(word_class)[:MAX_WORDS]
            self._of_class.setdefault(word_class, EmbeddedWords(self._embedder, words, self._cache_dir))
        return self._of_class[word_class].neighbours(target.text, limit)


def _stands_for(target: Target, word: str) -> bool:
    """Whether a word of a file is of the target's class, and a word."""
    wanted = class_of(target)
    if not all(letter.isalpha() or letter in " -'." for letter in word) or len(word) < 3:
        return False
    if wanted == NATIONALITY:
        return word.lower() in NATIONALITIES
    if wanted.startswith("NNP"):
        return word[0].isupper() and word[-1].islower() and not is_ordinary(word)
    return word.islower() and tag_of(word) == wanted
