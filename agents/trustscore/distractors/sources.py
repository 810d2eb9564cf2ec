"""Sources of substitutes: knowledge bases, dates and numbers, similar words, and words of the same class."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from factloop.agents.trustscore.distractors import dates, numbers
from factloop.agents.trustscore.distractors.base import Kind, Request, Substitute, Target
from factloop.agents.trustscore.distractors.targets import MAX_CHARS, without_article
from factloop.agents.trustscore.records import Source
from factloop.tools.embeddings.embedded_words import EmbeddedWords
from factloop.tools.embeddings.nearest import Embedder
from factloop.tools.names.base import KnowledgeBase, LinkedEntity
from factloop.tools.names.built_in import CONCRETE, general_types, namesakes
from factloop.tools.names.inflection import lemmas
from factloop.tools.names.made_up import made_up_people
from factloop.tools.names.packaged import NOUN, nouns_of, well_known

MAX_COSINE = 0.75
"""Words at least this similar count as synonyms: sentence models give *doctor* and *physician* 0.86, and *doctor* and
*surgeon* 0.75. The paper's limit is 0.9, for word2vec.
"""
MIN_COSINE = 0.2
"""Words less similar than this are arbitrary, and other sources provide arbitrary words at lower cost."""
MAX_WORDS = 10_000
"""Number of names and nouns to embed, best known first. Embedding more would slow down the first run."""
_LOOKED_AT = 500
_COMMON = 400


class KnowledgeBaseSource:
    """Substitutes from a knowledge base. A target has substitutes only if it is linked to an entity."""

    def __init__(self, kb: KnowledgeBase, source: Source) -> None:
        self._kb, self.source, self.name = kb, source, kb.identity

    async def link(self, response: str, question: str) -> Sequence[LinkedEntity]:
        return await self._kb.link(response[:MAX_CHARS], question)

    async def linked(self, target: Target, request: Request) -> LinkedEntity | None:
        """Returns the entity that the target names, ignoring articles and titles such as *King*."""
        if target.kind not in {"entity", "noun"}:
            return None
        found = [one for one in await self.link(request.response, request.question) if one.end == target.end]
        return next(
            (one for one in found if without_article(request.response, one.start, one.end) >= target.start), None
        )

    async def substitutes(self, target: Target, request: Request) -> Sequence[Substitute]:
        """Returns entities in the order of the knowledge base (see `KnowledgeBase.siblings`)."""
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
    """Made-up names for people that `names` links, for use when no known names are left."""

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
    """Other dates and numbers in the same format, at a plausible distance."""

    name = "dates and numbers 4"

    async def substitutes(self, target: Target, request: Request) -> Sequence[Substitute]:
        if target.kind not in {"date", "number"}:
            return ()
        formats, source = (dates.FORMATS, Source.DATE) if target.kind == "date" else (numbers.FORMATS, Source.NUMBER)
        name, texts = numbers.others(request.response, target.start, target.end, formats, request.rng)
        return [Substitute(text, source, f"another {name}") for text in texts[: request.limit]]


class SameClassSource:
    """Random nouns with the target's WordNet supersense, such as another person for a person.

    Finds none if the target is not a concrete noun, or if it may be the answer, because random words would reveal it.
    """

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
    """Well-known names and nouns whose sentence-model vectors are similar to the target's.

    These words are embedded on first use, once for all runs that share `cache_dir`. This takes about 30 s with MiniLM
    on one core. The search runs in a thread.
    """

    def __init__(self, embedder: Embedder, cache_dir: Path | None = None) -> None:
        self.name = f"neighbours 2 ({embedder.name}, packaged names, cosine {MIN_COSINE:g} to {MAX_COSINE:g})"
        self._words = EmbeddedWords(embedder, well_known(MAX_WORDS), cache_dir)

    async def substitutes(self, target: Target, request: Request) -> Sequence[Substitute]:
        if target.kind not in {"entity", "noun"}:
            return ()
        return await asyncio.to_thread(self._substitutes, target, request.limit)

    def _substitutes(self, target: Target, limit: int) -> list[Substitute]:
        own = self._types_of(target.text, target.kind)
        seen, fit = {*namesakes(target.text), *lemmas(target.text.lower())}, list[Substitute]()
        for word, cosine in self._words.neighbours(target.text, _LOOKED_AT):
            if len(fit) == limit or cosine < MIN_COSINE:
                break
            types, forms = self._types_of(word, target.kind), lemmas(word.lower())
            if cosine < MAX_COSINE and types & (own or types) and forms.isdisjoint(seen):
                seen |= forms
                fit.append(Substitute(word, Source.EMBEDDING, f"cosine {cosine:.2f}"))
        return fit

    @staticmethod
    def _types_of(word: str, kind: Kind) -> set[str]:
        types = [one for one in general_types(word) if one.startswith(NOUN) == (kind == "noun")]
        return set(types[:2]) if word[:1].isupper() == (kind == "entity") else set()
