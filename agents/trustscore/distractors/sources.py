"""The sources of substitutes: knowledge bases, other dates and numbers, neighbouring words, words of the same class."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from factloop.agents.trustscore.distractors import dates, numbers
from factloop.agents.trustscore.distractors.base import Kind, Request, Substitute, Target
from factloop.agents.trustscore.distractors.targets import MAX_CHARS, without_article
from factloop.agents.trustscore.records import Source
from factloop.tools.embeddings.embedded_words import EmbeddedWords
from factloop.tools.embeddings.nearest import Embedder
from factloop.tools.embeddings.word_vectors import WordVectors
from factloop.tools.names.base import KnowledgeBase, LinkedEntity
from factloop.tools.names.built_in import CONCRETE, general_types, namesakes
from factloop.tools.names.inflection import lemmas
from factloop.tools.names.made_up import made_up_people
from factloop.tools.names.packaged import NOUN, nouns_of, well_known

MAX_COSINE = 0.9
"""From here on a neighbour says the same as the original (the paper's bound, for word2vec)."""
MAX_COSINE_OF_SENTENCES = 0.75
"""The same for sentence models, which put *physician* at 0.86 from *doctor*, and *surgeon* at 0.75."""
MIN_COSINE = 0.2
"""Below, a neighbour is a word like any other, which another source gives more cheaply."""
MAX_WORDS = 10_000
"""Number of names and nouns that are embedded, the best known: the more, the longer the first run takes."""
_LOOKED_AT = 500
"""Neighbours looked at: many are forms of the original or of another class."""
_COMMON = 400
"""Words of a class to draw from: the best known."""


class KnowledgeBaseSource:
    """A SubstituteSource over one knowledge base. It knows a target only if it links exactly these words."""

    def __init__(self, kb: KnowledgeBase, source: Source) -> None:
        self._kb, self.source, self.name = kb, source, kb.identity

    async def link(self, response: str, question: str) -> Sequence[LinkedEntity]:
        """The entities named in what is looked at of a response. Raises ToolError, ToolTimeout."""
        return await self._kb.link(response[:MAX_CHARS], question)

    async def linked(self, target: Target, request: Request) -> LinkedEntity | None:
        """The entity that is the target, but for its article and a title: *King Solomon* for Solomon."""
        if target.kind not in {"entity", "noun"}:
            return None
        found = [one for one in await self.link(request.response, request.question) if one.end == target.end]
        return next(
            (one for one in found if without_article(request.response, one.start, one.end) >= target.start), None
        )

    async def substitutes(self, target: Target, request: Request) -> Sequence[Substitute]:
        """Substitutes in the order of the knowledge base: more types shared first, then the better known."""
        entity = await self.linked(target, request)
        if entity is None:
            return ()
        title = request.response[target.start : max(entity.start, target.start)]
        siblings = await self._kb.siblings(entity, request.limit)
        return [Substitute(title + one.label, self.source, _shared(one.shared, entity.types)) for one in siblings]


def _shared(shared: Sequence[str], types: Sequence[str]) -> str:
    named = ", ".join(shared)
    return named if len(shared) == len(types) else f"{named} ({len(shared)} of {len(types)} types)"


class MadeUpSource:
    """A SubstituteSource of made-up names for people that `names` links: where all that is known has run out."""

    name = "made-up names 2"

    def __init__(self, names: KnowledgeBaseSource) -> None:
        self._names = names

    async def substitutes(self, target: Target, request: Request) -> Sequence[Substitute]:
        entity = await self._names.linked(target, request)
        if entity is None or entity.types[0] != "person":
            return ()
        made = made_up_people(target.text, request.limit, request.rng)
        return [Substitute(name, self._names.source, "made-up name") for name in made]


class QuantitySource:
    """A SubstituteSource for dates and numbers: same format, another value, at a plausible distance."""

    name = "dates and numbers 4"

    async def substitutes(self, target: Target, request: Request) -> Sequence[Substitute]:
        if target.kind not in {"date", "number"}:
            return ()
        formats, source = (dates.FORMATS, Source.DATE) if target.kind == "date" else (numbers.FORMATS, Source.NUMBER)
        name, texts = numbers.others(request.response, target.start, target.end, formats, request.rng)
        return [Substitute(text, source, f"another {name}") for text in texts[: request.limit]]


class SameClassSource:
    """Nouns of the same supersense by WordNet, by chance: a person for a person, a food for a food.

    None for other words, and none for the answer itself: what the question asks for, or all that the response says.
    Those of another kind would give it away, as a random verb or adjective does nearly always."""

    name = "same-class nouns 4 (WordNet 3.0)"

    async def substitutes(self, target: Target, request: Request) -> Sequence[Substitute]:
        whole = request.response.strip(" .!?\"'").split()
        if target.kind != "noun" or target.asked or len(whole) <= 1 + len(target.text.split()):
            return ()
        general = next((kind for kind in general_types(target.text) if kind.startswith(NOUN)), "")
        known = nouns_of(general) if general.removeprefix(NOUN) in CONCRETE else ()
        words = [word for word in known if word not in namesakes(target.text)]
        drawn = request.rng.sample(words[:_COMMON], min(request.limit, len(words[:_COMMON])))
        return [Substitute(word, Source.VOCABULARY, f"same part of speech ({target.tag}), {general}") for word in drawn]


class NeighbourSource:
    """Near but other names and nouns: `near` gives them with their cosine, nearest first.

    It works in a thread, since the first question may take a while.
    """

    def __init__(self, name: str, near: Callable[[str], Sequence[tuple[str, float]]], max_cosine: float) -> None:
        """Neighbours at `max_cosine` and above are refused, and those below `MIN_COSINE`."""
        self.name = f"neighbours 2 ({name}, cosine {MIN_COSINE:g} to {max_cosine:g})"
        self._near, self._max_cosine = near, max_cosine

    @classmethod
    def of_vectors(cls, vectors: WordVectors) -> Self:
        """Over word vectors from a file, whose words are of all classes and many of no language."""
        return cls(vectors.identity, lambda text: vectors.neighbours(text, _LOOKED_AT), MAX_COSINE)

    @classmethod
    def of_embedder(cls, embedder: Embedder, cache_dir: Path | None = None) -> Self:
        """Over the best known nouns and names. They are embedded when one is first asked for, once for all runs that
        share `cache_dir`: with MiniLM on one core in some 30 s."""
        words = EmbeddedWords(embedder, well_known(MAX_WORDS), cache_dir)
        name = f"{embedder.name}, packaged names"
        return cls(name, lambda text: words.neighbours(text, _LOOKED_AT), MAX_COSINE_OF_SENTENCES)

    async def substitutes(self, target: Target, request: Request) -> Sequence[Substitute]:
        if target.kind not in {"entity", "noun"}:
            return ()
        return await asyncio.to_thread(self._substitutes, target, request.limit)

    def _substitutes(self, target: Target, limit: int) -> list[Substitute]:
        """Only what the table knows as of the target's most general type; of any, where it lacks the target."""
        own = self._types_of(target.text, target.kind)
        seen, fit = {*namesakes(target.text), *lemmas(target.text.lower())}, list[Substitute]()
        for word, cosine in self._near(target.text):
            if len(fit) == limit or cosine < MIN_COSINE:
                break
            types, forms = self._types_of(word, target.kind), lemmas(word.lower())
            if cosine < self._max_cosine and types & (own or types) and forms.isdisjoint(seen):
                seen |= forms
                fit.append(Substitute(word, Source.EMBEDDING, f"cosine {cosine:.2f}"))
        return fit

    @staticmethod
    def _types_of(word: str, kind: Kind) -> set[str]:
        """The general types of the two best known that a name or a noun means; none for all else."""
        types = [one for one in general_types(word) if one.startswith(NOUN) == (kind == "noun")]
        return set(types[:2]) if word[:1].isupper() == (kind == "entity") else set()
