"""Both plans' stages filled by a chat model: a prompt, a structured answer, and its meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeVar

from pydantic import BaseModel

from factloop.agents.safe import judgements
from factloop.agents.safe.excerpts import around, before
from factloop.agents.safe.schemas import (
    Assessment,
    AtomicFacts,
    Rating,
    Relevance,
    SearchCall,
    SearchQuery,
    SelfContainedFact,
    SentenceFacts,
)
from factloop.agents.safe.stages import Case, FoundFact, NextQuery, SentenceTask
from factloop.errors import ModelOutputError
from factloop.prompts.registry import PromptRegistry, Value
from factloop.records import Evidence, Judgement
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.models.gateway import Accept, ModelGateway
from factloop.tools.models.offers import Chosen, Offers
from factloop.tools.search.base import SearchTool

T = TypeVar("T", bound=BaseModel)

CONTEXT_CHARACTERS = 600
SENTENCE_CHARACTERS = 2_000
"""Of a sentence that was given; those that are split here are no longer."""
RESPONSE_CHARACTERS = 6_000
PASSAGE_CHARACTERS = 1_500
FINAL = "No further search is possible: settle it now."

FUSED_PROMPTS = ("safe/assessment", "safe/given_facts", "safe/sentence_facts")
PAPER_PROMPTS = ("safe/atomic_facts", "safe/rating", "safe/relevance", "safe/search_query", "safe/self_contained_fact")


@dataclass(frozen=True)
class _ModelStages:
    """A model, the prompts, and the account to which one run's calls go."""

    gateway: ModelGateway
    prompts: PromptRegistry
    meter: UsageMeter
    tools: Sequence[SearchTool]

    @property
    def name(self) -> str:
        return self.gateway.chat.name

    async def _ask(self, stage: str, output: type[T], *, accept: Accept | None = None, **values: Value) -> T:
        prompt = self.prompts[f"safe/{stage}"].render(**values)
        return await self.gateway.ask_for(prompt, output, stage=stage, meter=self.meter, accept=accept)


class ModelFusedStages(_ModelStages):
    """The fused plan's stages."""

    async def sentence_facts(self, task: SentenceTask) -> Sequence[FoundFact]:
        answer = await self._ask(
            "sentence_facts",
            SentenceFacts,
            question=task.prompt or None,
            context=before(task.response, task.start, most=CONTEXT_CHARACTERS) or None,
            sentence=task.sentence,
        )
        facts = [item for item in answer.facts if item.fact.strip()]
        return [FoundFact(item.fact.strip(), item.fact.strip(), item.status, item.query.strip()) for item in facts]

    async def given_facts(self, task: SentenceTask, facts: Sequence[str]) -> Sequence[FoundFact]:
        answer = await self._ask(
            "given_facts",
            SentenceFacts,
            accept=partial(_one_for_each, facts),
            question=task.prompt or None,
            context=before(task.response, task.start, most=CONTEXT_CHARACTERS) or None,
            sentence=task.sentence[:SENTENCE_CHARACTERS],
            fact=facts,
        )
        return [
            FoundFact(text, item.fact.strip() or text, item.status, item.query.strip())
            for text, item in zip(facts, answer.facts, strict=True)
        ]

    async def assess(self, case: Case) -> Judgement | NextQuery:
        prompt = self.prompts["safe/assessment"].render(
            claim=case.claim,
            evidence=passages(case.evidence),
            asked=case.queries,
            final=None if case.may_search else FINAL,
        )
        offers = self._offers if case.may_search else None
        answer = await self.gateway.ask(
            prompt,
            Assessment,
            stage="assessment",
            meter=self.meter,
            offers=offers,
            accept=partial(_rests_on_evidence, case),
        )
        if isinstance(answer, Chosen):
            return NextQuery(answer.args.query.strip() or case.claim, answer.args.missing.strip(), answer.name)
        return self._meaning(answer, case)

    @cached_property
    def _offers(self) -> Offers[Assessment, SearchCall]:
        descriptions = {tool.name: tool.description for tool in self.tools}
        return Offers(descriptions, SearchCall, Assessment, lambda answer: answer.verdict == "insufficient")

    def _meaning(self, answer: Assessment, case: Case) -> Judgement:
        cited = judgements.cited_ids(answer.cited, case.evidence)
        if answer.verdict == "insufficient":
            return judgements.not_supported(answer.rationale, cited, self.name, contradicted=False)
        if answer.verdict == "ambiguous":
            return judgements.ambiguous(answer.rationale, self.name)
        if answer.verdict == "supported":
            return judgements.supported(answer.rationale, cited, self.name)
        return judgements.not_supported(answer.rationale, cited, self.name, contradicted=True)


class ModelPaperStages(_ModelStages):
    """The paper plan's stages."""

    async def split(self, task: SentenceTask) -> Sequence[str]:
        answer = await self._ask("atomic_facts", AtomicFacts, sentence=task.sentence)
        return [fact.strip() for fact in answer.facts if fact.strip()]

    async def revise(self, fact: str, task: SentenceTask) -> str:
        answer = await self._ask("self_contained_fact", SelfContainedFact, response=_response(task), fact=fact)
        return answer.fact.strip() or fact

    async def relevance(self, claim: str, task: SentenceTask) -> bool:
        if not task.prompt:
            return True  # without a question nothing is beside it
        answer = await self._ask("relevance", Relevance, question=task.prompt, response=_response(task), fact=claim)
        return answer.relevant

    async def next_query(self, case: Case) -> NextQuery:
        answer = await self._ask(
            "search_query", SearchQuery, fact=case.claim, evidence=passages(case.evidence), asked=case.queries
        )
        return NextQuery(answer.query.strip() or case.claim)

    async def rate(self, case: Case) -> Judgement:
        answer = await self._ask(
            "rating",
            Rating,
            accept=partial(_rests_on_evidence, case),
            fact=case.claim,
            evidence=passages(case.evidence),
        )
        cited = judgements.cited_ids(answer.cited, case.evidence)
        if answer.rating == "not_supported":
            return judgements.not_supported(answer.reasoning, cited, self.name, contradicted=False)
        if answer.rating == "supported":
            return judgements.supported(answer.reasoning, cited, self.name)
        return judgements.not_supported(answer.reasoning, cited, self.name, contradicted=True)


def _one_for_each(given: Sequence[str], answer: SentenceFacts) -> None:
    """Refuses an answer that split, merged or left out: nobody could say which fact each entry is."""
    if len(answer.facts) != len(given):
        raise ModelOutputError(
            f"{len(given)} facts are given, and {len(answer.facts)} came back: return each once, in order",
            schema=type(answer).__name__,
            reply=answer.model_dump_json(),
        )


def _rests_on_evidence(case: Case, answer: Assessment | Rating) -> None:
    """Refuses a verdict for or against a claim where there is no evidence: it would come from memory."""
    verdict = answer.verdict if isinstance(answer, Assessment) else answer.rating
    if not case.evidence and verdict in {"supported", "contradicted"}:
        raise ModelOutputError(
            f"{verdict} cannot rest on no evidence at all", schema=type(answer).__name__, reply=answer.model_dump_json()
        )


def passages(evidence: Sequence[Evidence]) -> list[str]:
    """The evidence as the model reads it, in the order in which it is numbered."""
    return [f"{_heading(item)}\n{item.passage[:PASSAGE_CHARACTERS]}".strip() for item in evidence]


def _heading(item: Evidence) -> str:
    return f"{item.title} ({item.published})" if item.published else item.title


def _response(task: SentenceTask) -> str:
    return around(task.response, task.start, task.end, most=RESPONSE_CHARACTERS)
