"""How much of a response the knowledge bases are shown."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.agents.trustscore.distractors.entities import KnowledgeBaseSource
from factloop.agents.trustscore.distractors.targets import MAX_CHARS
from factloop.agents.trustscore.records import Source
from factloop.tools.knowledge_base.base import LinkedEntity, Sibling


class Witness:
    """A knowledge base that knows nothing and keeps what it was shown."""

    identity = "witness"

    def __init__(self) -> None:
        self.shown: list[str] = []

    async def link(self, text: str, question: str) -> Sequence[LinkedEntity]:  # noqa: ARG002 - the contract's
        self.shown.append(text)
        return ()

    async def siblings(self, entity: LinkedEntity, limit: int) -> Sequence[Sibling]:
        raise AssertionError(f"nothing was linked, yet {limit} siblings of {entity} are wanted")


async def test_only_the_part_that_is_looked_at_and_only_once() -> None:
    witness = Witness()
    source = KnowledgeBaseSource(witness, Source.KNOWLEDGE_BASE)
    long = "Rome lies on the Tiber. " * 10_000
    assert await source.link(long, "Where?") == ()
    assert await source.link(long, "Where?") == ()
    assert witness.shown == [long[:MAX_CHARS]]
