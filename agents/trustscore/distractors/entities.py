"""Entities of the same types from a knowledge base, and which entities of a response it knows."""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Sequence

from factloop.agents.trustscore.distractors.base import Substitute, Target
from factloop.agents.trustscore.distractors.spans import TargetSpan, without_article
from factloop.agents.trustscore.distractors.targets import MAX_CHARS
from factloop.agents.trustscore.records import Source
from factloop.tools.knowledge_base.base import KnowledgeBase, LinkedEntity

MAX_REMEMBERED = 512
"""Responses whose links are kept: as many as are in work at once."""


class KnowledgeBaseSource:
    """A SubstituteSource over one knowledge base. It knows a target only if it links exactly these words."""

    def __init__(self, kb: KnowledgeBase, source: Source) -> None:
        self._kb, self._source = kb, source
        self._links: OrderedDict[tuple[str, str], Sequence[LinkedEntity]] = OrderedDict()

    @property
    def name(self) -> str:
        return self._kb.identity

    @property
    def source(self) -> Source:
        return self._source

    async def link(self, response: str, question: str) -> Sequence[LinkedEntity]:
        """The entities named in what is looked at of a response, asked for once. Raises ToolError, ToolTimeout."""
        key = (response, question)
        if key not in self._links:
            self._links[key] = tuple(await self._kb.link(response[:MAX_CHARS], question))
            while len(self._links) > MAX_REMEMBERED:
                self._links.popitem(last=False)
        return self._links.get(key, ())

    async def substitutes(
        self, target: Target, response: str, question: str, *, limit: int, rng: random.Random
    ) -> Sequence[Substitute]:
        """Substitutes in the order of the knowledge base: more types shared first, then the better known."""
        del rng
        if target.kind != "entity" or limit < 1:
            return ()
        entity = next((one for one in await self.link(response, question) if _is_named_by(target, one, response)), None)
        if entity is None:
            return ()
        siblings = await self._kb.siblings(entity, limit)
        return tuple(Substitute(one.label, self._source, _shared(one.shared, entity.types)) for one in siblings)


def _is_named_by(target: Target, entity: LinkedEntity, response: str) -> bool:
    span = without_article(response, TargetSpan(entity.start, entity.end, "entity"))
    return (span.start, span.end) == (target.start, target.end)


def _shared(shared: Sequence[str], types: Sequence[str]) -> str:
    named = ", ".join(shared)
    return named if len(shared) == len(types) else f"{named} ({len(shared)} of {len(types)} types)"
