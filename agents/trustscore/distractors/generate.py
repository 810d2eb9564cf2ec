"""The paper's substitution by priority (section 2.1, appendix A.5.1): what is replaced first, then by what.

Departures: a target is replaced as a whole; entities of one level are used by turns, so that no single word takes all;
dates and numbers have a source of their own before the vocabulary, since another year is better than another word; and
where no source has more of a kind, there are fewer distractors: a filler of another kind gives the answer away.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from factloop.agents.trustscore.distractors.base import Request, Substitute, SubstituteSource, Target
from factloop.agents.trustscore.distractors.distinct import Sieve, says_reference
from factloop.agents.trustscore.distractors.form import insert
from factloop.agents.trustscore.distractors.sources import KnowledgeBaseSource
from factloop.agents.trustscore.distractors.targets import TargetOrder, find_tiers
from factloop.agents.trustscore.records import Distractor, DistractorSet, Source
from factloop.core.errors import ConfigError, FactloopError, ToolError
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.names.base import LinkedEntity

if TYPE_CHECKING:
    from factloop.agents.trustscore.distractors.proposed import ModelProposer

_HALF = re.compile("[\ud800-\udfff]")
"""Half of a character, at which libraries raise. A mark of the same length takes its place."""
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

    Tier by tier of what may be replaced, the sources are asked in order until there are enough. A source that fails is
    noted and not asked again for this response. A `proposer` is asked once, before all of them, at a cost that goes to
    `meter`; all that it proposes comes first, and says none of the `references`, right answers that are known. They bar
    nothing else, so that a score without a proposer stays free of references, as in the paper. The same arguments and
    answers of the sources give the same set. Raises ConfigError."""
    rng = random.Random(f"{seed}\n{question}\n{response}".encode(errors="surrogatepass"))
    work = _Work(_HALF.sub("\ufffd", question), _HALF.sub("\ufffd", response), wanted, references, rng)
    if wanted > 0:
        linked = [entity for source in sources for entity in await work.linked_by(source)]
        tiers = find_tiers(work.question, work.response, linked, order)
        steps = [(source, tier) for tier in tiers for source in sources]
        if proposer is not None:
            targets = [target for tier in tiers for target in tier]
            proposed = await work.proposed_by(proposer, targets, meter or UsageMeter())
            steps = [(source, tier) for source in proposed for tier in tiers] + steps
        for source, tier in steps:
            if len(work.found) < wanted:
                await work.use(source, tier)
    return DistractorSet(
        question=question,
        response=response,
        wanted=wanted,
        distractors=tuple(work.found),
        notes=tuple(work.notes),
        seed=seed,
    )


class _Work:
    """The state of one generation: what was found, and which sources have failed."""

    def __init__(
        self, question: str, response: str, wanted: int, references: Sequence[str], rng: random.Random
    ) -> None:
        self.question, self.response = question, response
        self.found: list[Distractor] = []
        self.notes: list[str] = []
        self._wanted, self._references = wanted, references
        self._request = Request(response, question, wanted + _SPARE, rng)
        self._sieve = Sieve(question, response)
        self._failed: list[SubstituteSource] = []

    async def linked_by(self, source: SubstituteSource) -> Sequence[LinkedEntity]:
        """The entities that a knowledge base links in the response."""
        if isinstance(source, KnowledgeBaseSource):
            try:
                return await source.link(self.response, self.question)
            except ToolError as error:
                self._give_up(source, error)
        return ()

    async def proposed_by(
        self, proposer: ModelProposer, targets: Sequence[Target], meter: UsageMeter
    ) -> Sequence[SubstituteSource]:
        """What a model proposes as one source; none where it fails, which is noted."""
        try:
            return [await proposer.propose(self.question, self.response, targets, meter=meter)]
        except ConfigError:
            raise
        except FactloopError as error:
            self.notes.append(f"the model proposed no distractors ({error}): the next source was used")
            return ()

    async def use(self, source: SubstituteSource, targets: Sequence[Target]) -> None:
        """Adds what one source gives for all targets of equal rank, by turns."""
        offers: list[list[tuple[Target, Substitute]]] = []
        for target in targets if source not in self._failed else ():
            try:
                found = await source.substitutes(target, self._request)
            except ToolError as error:
                self._give_up(source, error)
                break
            offers.append([(target, substitute) for substitute in found])
        for turn in zip_longest(*offers):
            for target, substitute in filter(None, turn):
                if len(self.found) < self._wanted:
                    self._add(target, substitute)

    def _give_up(self, source: SubstituteSource, error: ToolError) -> None:
        self._failed.append(source)
        is_dbpedia = isinstance(source, KnowledgeBaseSource) and source.source is Source.DBPEDIA
        named = "DBpedia" if is_dbpedia else source.name
        self.notes.append(f"{named} did not answer ({error}): the next source was used")

    def _add(self, target: Target, substitute: Substitute) -> None:
        inserted = insert(self.response, target, substitute.text)
        if substitute.source is Source.MODEL and says_reference(self._references, self.response, inserted):
            return
        if self._sieve.admits(inserted):
            distractor = Distractor(
                text=inserted.text,
                replaced=self.response[inserted.start : inserted.end],
                span=(inserted.start, inserted.end),
                by=inserted.by,
                level=target.level,
                source=substitute.source,
                detail=substitute.detail,
            )
            self.found.append(distractor)
