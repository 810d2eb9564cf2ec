"""The paper's substitution by priority (section 2.1, appendix A.5.1): what is replaced first, then by what.

Departures: a target is replaced as a whole; entities of one level are used by turns, so that no single word takes all;
dates and numbers have a source of their own before the vocabulary, since another year is better than another word.
"""

from __future__ import annotations

import random
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from factloop.agents.trustscore.distractors.base import Substitute, SubstituteSource, Target
from factloop.agents.trustscore.distractors.distinct import ReferenceAnswers, Sieve
from factloop.agents.trustscore.distractors.entities import KnowledgeBaseSource
from factloop.agents.trustscore.distractors.form import Insertion, insert
from factloop.agents.trustscore.distractors.targets import TargetOrder, find_targets, find_tiers
from factloop.agents.trustscore.records import Distractor, DistractorSet, Source
from factloop.core.errors import ConfigError, FactloopError, ToolError
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.knowledge_base.base import LinkedEntity

if TYPE_CHECKING:
    from factloop.agents.trustscore.distractors.proposed import ModelProposer

_NAMES = {
    Source.DBPEDIA: "DBpedia",
    Source.KNOWLEDGE_BASE: "the knowledge base",
    Source.BUILT_IN: "the built-in names",
}
_HALF = re.compile("[\ud800-\udfff]")
_SPARE = 12
"""Substitutes asked for beyond those wanted, since some are refused."""


async def generate_distractors(
    question: str,
    response: str,
    *,
    wanted: int,
    sources: Sequence[SubstituteSource],
    seed: int,
    order: TargetOrder = "asked",
    proposer: ModelProposer | None = None,
    references: Sequence[str] = (),
    meter: UsageMeter | None = None,
) -> DistractorSet:
    """At most `wanted` distinct distractors, best first; fewer where the sources or the response give no more.

    `sources` are asked in order until there are enough. A source that fails is noted and not asked again for
    this response. A `proposer` is asked once, before all of them, at a cost that goes to `meter`; what it proposes says
    none of the `references`, right answers that are known. They bar nothing else, so that a score without a proposer
    stays free of references, as in the paper. The same arguments and answers of the sources give the same set. Raises
    ConfigError."""
    rng = random.Random(f"{seed}\n{question}\n{response}".encode(errors="surrogatepass"))
    barred = ReferenceAnswers(references, response)
    work = _Work(_readable(question), response, wanted, sources, rng, order, barred)
    if proposer is not None and wanted > 0:
        await work.ask(proposer, meter or UsageMeter())
    found = [one async for one in work.distractors()] if wanted > 0 else []
    return DistractorSet(
        question=question,
        response=response,
        wanted=wanted,
        distractors=tuple(found),
        notes=work.notes,
        seed=seed,
    )


def _readable(text: str) -> str:
    """The text with a mark, of the same length, for each half of a character: libraries raise at these."""
    return _HALF.sub("\ufffd", text)


def _is_dbpedia(source: SubstituteSource) -> bool:
    return isinstance(source, KnowledgeBaseSource) and source.source is Source.DBPEDIA


class _Work:
    """The state of one generation: which sources still answer, and what was admitted."""

    def __init__(
        self,
        question: str,
        response: str,
        wanted: int,
        sources: Sequence[SubstituteSource],
        rng: random.Random,
        order: TargetOrder,
        references: ReferenceAnswers,
    ) -> None:
        self._order, self._references = order, references
        self._question, self._response, self._wanted, self._rng = question, _readable(response), wanted, rng
        self._original = response
        self._sources = list(sources)
        self._sieve = Sieve(question, self._response)
        self._unknown: list[str] = []
        self._failures: list[str] = []

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on sources that failed, and on what DBpedia, if it was asked for by name, gave nothing for."""
        if not self._unknown:
            return tuple(self._failures)
        named = ", ".join(self._unknown)
        return (*self._failures, f"DBpedia gave nothing for {named}: the next source was used")

    async def ask(self, proposer: ModelProposer, meter: UsageMeter) -> None:
        """Puts what a model proposes before all sources; where it fails, that is noted."""
        targets = find_targets(self._question, self._response, await self._linked(), self._order)
        try:
            found = await proposer.propose(self._question, self._response, targets, meter=meter)
        except ConfigError:
            raise
        except FactloopError as error:
            self._failures.append(f"the model proposed no distractors ({error}): the next source was used")
        else:
            self._sources.insert(0, found)

    async def distractors(self) -> AsyncIterator[Distractor]:
        left = self._wanted
        for tier in find_tiers(self._question, self._response, await self._linked(), self._order):
            for source in list(self._sources):
                for target, substitute in await self._offers(source, tier):
                    distractor = self._made(target, substitute)
                    if distractor is not None:
                        yield distractor
                        left -= 1
                        if not left:
                            return

    async def _linked(self) -> list[LinkedEntity]:
        linked: list[LinkedEntity] = []
        for source in list(self._sources):
            if isinstance(source, KnowledgeBaseSource):
                try:
                    linked.extend(await source.link(self._response, self._question))
                except ToolError as error:
                    self._give_up(source, error)
        return linked

    async def _offers(self, source: SubstituteSource, targets: Sequence[Target]) -> Iterator[tuple[Target, Substitute]]:
        """Substitutes of one source for all targets of equal rank, by turns."""
        offers: list[list[tuple[Target, Substitute]]] = []
        for target in targets:
            if source not in self._sources:
                break
            try:
                found = await source.substitutes(
                    target, self._response, self._question, limit=self._wanted + _SPARE, rng=self._rng
                )
            except ToolError as error:
                self._give_up(source, error)
            else:
                offers.append([(target, substitute) for substitute in found])
                if not found and target.kind == "entity" and _is_dbpedia(source) and target.text not in self._unknown:
                    self._unknown.append(target.text)
        return (offer for turn in zip_longest(*offers) for offer in turn if offer is not None)

    def _give_up(self, source: SubstituteSource, error: ToolError) -> None:
        self._sources.remove(source)
        named = _NAMES.get(source.source, source.name) if isinstance(source, KnowledgeBaseSource) else source.name
        self._failures.append(f"{named} did not answer ({error}): the next source was used")

    def _made(self, target: Target, substitute: Substitute) -> Distractor | None:
        inserted = insert(self._response, target, substitute.text)
        if substitute.source is Source.MODEL and self._says_a_reference(inserted):
            return None
        if not self._sieve.admits(inserted):
            return None
        return Distractor(
            text=self._original[: inserted.start] + inserted.by + self._original[inserted.end :],
            replaced=self._original[inserted.start : inserted.end],
            span=(inserted.start, inserted.end),
            by=inserted.by,
            level=target.level,
            source=substitute.source,
            detail=substitute.detail,
        )

    def _says_a_reference(self, inserted: Insertion) -> bool:
        text = self._response[: inserted.start] + inserted.by + self._response[inserted.end :]
        return self._references.are_said_by(inserted.by, text)
