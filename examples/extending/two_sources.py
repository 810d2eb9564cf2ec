"""A stricter judge: one source is not enough to support a claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from factloop.agents.safe import judgements
from factloop.agents.safe.stages import Case, CheckContext, FoundFact, FusedStages
from factloop.agents.safe.state import NextQueries, SentenceTask
from factloop.core.records import Evidence, Judgement, Verdict


@dataclass(frozen=True)
class TwoSources:
    """`FusedStages` whose judge must cite two sources for a claim to be supported."""

    stages: FusedStages

    @property
    def name(self) -> str:
        return f"{self.stages.name}, by two sources"

    @property
    def reads_code(self) -> bool:
        return self.stages.reads_code

    async def sentence_facts(
        self, tasks: Sequence[SentenceTask], context: CheckContext
    ) -> Sequence[Sequence[FoundFact] | None]:
        return await self.stages.sentence_facts(tasks, context)

    async def given_facts(self, task: SentenceTask, facts: Sequence[str], context: CheckContext) -> Sequence[FoundFact]:
        return await self.stages.given_facts(task, facts, context)

    async def assess(self, case: Case, context: CheckContext) -> Judgement | NextQueries:
        return self._borne_out(await self.stages.assess(case, context), case.evidence)

    async def assess_together(
        self, cases: Sequence[Case], evidence: Sequence[Evidence], context: CheckContext
    ) -> Sequence[Judgement | NextQueries]:
        steps = await self.stages.assess_together(cases, evidence, context)
        return [self._borne_out(step, evidence) for step in steps]

    def _borne_out(self, found: Judgement | NextQueries, evidence: Sequence[Evidence]) -> Judgement | NextQueries:
        if isinstance(found, NextQueries) or found.verdict is not Verdict.SUPPORTED:
            return found
        sources = {item.source for item in evidence if item.id in found.cited}
        if len(sources) > 1:
            return found
        return judgements.not_supported("Only one source says so.", found.cited, self.name, contradicted=False)
