"""Judges of passages: a chat model, or a verifier (an NLI encoder, or the offline rater)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from factloop.agents.documents import document_numbers
from factloop.agents.shown import as_shown
from factloop.agents.trustscore.records import Relation
from factloop.agents.trustscore.schemas import Entailment
from factloop.agents.trustscore.stages import PassageJudgement
from factloop.agents.trustscore.statements import statement_of
from factloop.core.records import Evidence
from factloop.prompts.registry import PromptRegistry
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.verifiers.base import Label, Verifier

ENTAILMENT = "trustscore/entailment"
JUDGE_PROMPTS = (ENTAILMENT,)
JUDGE = "entailment"
"""Name of the stage in the account of a run."""
SHORT_ANSWER_WORDS = 4
"""An answer of so few words says little without its question."""

_RELATION: Mapping[Label, Relation] = {
    "supported": Relation.SUPPORT,
    "contradicted": Relation.CONTRADICT,
    "insufficient": Relation.NEUTRAL,
}


@dataclass(frozen=True)
class ModelJudge:
    """A chat model as the judge (paper, appendix A.5.2)."""

    gateway: ModelGateway
    prompts: PromptRegistry

    @property
    def name(self) -> str:
        return self.gateway.chat.name

    async def judge(
        self, question: str, answer: str, passages: Sequence[Evidence], *, meter: UsageMeter
    ) -> PassageJudgement:
        shown = [as_shown(item) for item in passages]
        prompt = self.prompts[ENTAILMENT].render(question=question, answer=answer, passage=shown)
        found = await self.gateway.ask_for(prompt, Entailment, stage=JUDGE, meter=meter)
        cited = tuple(dict.fromkeys(number - 1 for number in found.cited if 1 <= number <= len(passages)))
        return PassageJudgement(Relation(found.relation), found.rationale, cited)


@dataclass(frozen=True)
class VerifierJudge:
    """A verifier as the judge; free. A short answer is put into its question, so that it can be compared."""

    verifier: Verifier

    @property
    def name(self) -> str:
        return self.verifier.name

    async def judge(
        self,
        question: str,
        answer: str,
        passages: Sequence[Evidence],
        *,
        meter: UsageMeter,  # noqa: ARG002 - nothing is paid
    ) -> PassageJudgement:
        claim = answer if len(answer.split()) > SHORT_ANSWER_WORDS else statement_of(question, answer)
        texts = [item.passage for item in passages]
        found = await asyncio.to_thread(self.verifier.verify, claim, texts, document_numbers(passages))
        return PassageJudgement(_RELATION[found.label], found.rationale, found.cited)
