"""The fused plan for a judge that waits for nothing, such as the offline rules: many sentences and claims a branch.

A branch of the graph takes longer than the rules take for a claim, so that one for each would be most of the time of a
check. The claims of a bunch go through the same steps as alone, and are settled one by one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

from langgraph.runtime import Runtime

from factloop.agents.nodes import Update
from factloop.agents.safe.branch import BunchNode, ClaimNode, search
from factloop.agents.safe.claims import unsplit
from factloop.agents.safe.context import CheckContext
from factloop.agents.safe.fused import FusedPlan
from factloop.agents.safe.judgements import unscored
from factloop.agents.safe.stages import Case
from factloop.agents.safe.state import BunchState, FactState, PlacedClaim, PlacedFact, SentenceState, updated
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.records import Judgement
from factloop.tools.calls.together import together

AT_ONCE = 16
"""Sentences or claims of a bunch: enough for a branch to cost little, few enough to leave the event loop to others."""
BUNCHES_AT_ONCE = 2
"""Branches under way: rules never wait, so that more would keep all else waiting, progress too."""

T = TypeVar("T")


@dataclass(frozen=True)
class BunchedPlan(FusedPlan):
    """The fused plan, a bunch of sentences or claims a branch."""

    @property
    def searches_ahead(self) -> bool:
        """No search waits for the rules, which read sooner than it is answered."""
        return False

    def grouped(self, sentences: Sequence[SentenceState]) -> Sequence[Sequence[SentenceState]]:
        return _bunches(sentences)

    async def find_facts(self, group: Sequence[SentenceState], context: CheckContext) -> list[PlacedFact]:
        """The facts of some sentences, those that need no search already settled."""
        return list(chain.from_iterable([await self._facts_of(sentence, context) for sentence in group]))

    async def _facts_of(self, sentence: SentenceState, context: CheckContext) -> list[PlacedFact]:
        """The facts of one sentence; one that cannot be read is unscored, and the others of its bunch are read."""
        await asyncio.sleep(0)  # what shows the progress gets its turn
        try:
            return await super().find_facts([sentence], context)
        except ConfigError:
            raise
        except FactloopError as error:
            return unsplit(sentence, unscored(error))

    async def conclude(self, case: Case, missing: str, context: CheckContext) -> Judgement:  # noqa: ARG002 - the judge says it
        """What the judge says of the evidence that there is, with its score and the sentence that comes nearest."""
        judgement = await self.stages.assess(case, context)
        assert isinstance(judgement, Judgement), "no search is left, so that it must settle"
        return judgement

    def branches(self, cases: Sequence[FactState]) -> Sequence[BunchState]:
        return [BunchState(cases=list(bunch), settled=[]) for bunch in _bunches(cases)]

    def build_claim_branch(self, *, max_searches: int, look: ClaimNode | None = None) -> BunchNode:
        """A node that takes each claim of a bunch through `search` and `assess` until it is settled.

        It is no graph of its own: starting that would take as long as two or three claims.
        """
        assess = self.build_assess(max_searches)

        async def judged(case: FactState, runtime: Runtime[CheckContext]) -> list[PlacedClaim]:
            state = case if look is None else updated(case, await look(case, runtime))
            while not state["settled"]:
                state = updated(state, await search(state, runtime))
                state = updated(state, await assess(state, runtime))
            return state["settled"]

        async def judge(state: BunchState, runtime: Runtime[CheckContext]) -> Update:
            settled = await together(judged(case, runtime) for case in state["cases"])
            return {"settled": list(chain.from_iterable(settled))}

        return judge


def _bunches(items: Sequence[T]) -> list[Sequence[T]]:
    return [items[start : start + AT_ONCE] for start in range(0, len(items), AT_ONCE)]
