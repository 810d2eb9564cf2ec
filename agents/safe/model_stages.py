"""The stages of all plans filled by a chat model: a prompt, a structured answer, and its meaning."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TypeVar

from pydantic import BaseModel

from factloop.agents.safe import judgements
from factloop.agents.safe.context import CheckContext
from factloop.agents.safe.excerpts import before, whole_or_excerpt
from factloop.agents.safe.grounded_answers import claims_judged, claims_of, complete, reading_of
from factloop.agents.safe.schemas import (
    Assessment,
    AtomicFacts,
    GroundedClaims,
    GroundedFacts,
    Rating,
    Relevance,
    SearchCall,
    SearchQuery,
    SelfContainedFact,
    SentenceFacts,
)
from factloop.agents.safe.stages import (
    Case,
    FoundFact,
    JudgedFact,
    NextQueries,
    SentenceTask,
    WindowReading,
    WindowTask,
)
from factloop.agents.safe.verdict_scores import ASSESSED, GROUNDED, RATED, VerdictField, with_score
from factloop.agents.shown import as_shown
from factloop.core.citations import renumbered
from factloop.core.errors import ModelOutputError
from factloop.core.records import Evidence, Judgement
from factloop.prompts.registry import PromptRegistry, RenderedPrompt, Value
from factloop.tools.models.gateway import Accept, AnswerWithTokens, ModelGateway
from factloop.tools.models.logprobs import TOP_LOGPROBS
from factloop.tools.models.offers import Offers, ToolChoice

T = TypeVar("T", bound=BaseModel)

SENTENCE_CHARACTERS = 2_000
"""Characters of a given sentence; those that are split here are no longer."""
ANSWER_CHARACTERS = 6_000
"""Characters of the answer as prompts show it; of a longer one an excerpt (`excerpts`)."""

FUSED_PROMPTS = ("safe/assessment", "safe/given_facts", "safe/sentence_facts")
PAPER_PROMPTS = ("safe/atomic_facts", "safe/rating", "safe/relevance", "safe/search_query", "safe/self_contained_fact")
GROUNDED_PROMPTS = ("safe/grounded_claims", "safe/grounded_facts", *FUSED_PROMPTS)


@dataclass(frozen=True)
class _ModelStages:
    """A model and its prompts."""

    gateway: ModelGateway
    prompts: PromptRegistry
    reads_code: bool = True
    logprobs: bool = True
    """Whether to ask for log-probabilities with each verdict, to have a score of it."""

    @property
    def name(self) -> str:
        return self.gateway.chat.name

    async def _ask(
        self, stage: str, output: type[T], context: CheckContext, *, accept: Accept | None = None, **values: Value
    ) -> T:
        prompt = self.prompts[f"safe/{stage}"].render(**values)
        return await self.gateway.ask_for(prompt, output, stage=stage, meter=context.meter, accept=accept)

    async def _ask_graded(
        self,
        stage: str,
        prompt: RenderedPrompt,
        output: type[T],
        verdicts: VerdictField,
        context: CheckContext,
        *,
        accept: Accept,
    ) -> AnswerWithTokens[T]:
        return await self.gateway.ask_graded(
            prompt,
            output,
            stage=stage,
            meter=context.meter,
            accept=accept,
            top_logprobs=self._top_logprobs,
            needed=verdicts.pattern,
        )

    @property
    def _top_logprobs(self) -> int:
        return TOP_LOGPROBS if self.logprobs else 0


@dataclass(frozen=True)
class ModelFusedStages(_ModelStages):
    """The fused plan's stages."""

    async def sentence_facts(self, task: SentenceTask, context: CheckContext) -> Sequence[FoundFact]:
        answer = await self.gateway.ask_for(
            sentence_prompt(self.prompts, task), SentenceFacts, stage="sentence_facts", meter=context.meter
        )
        facts = [item for item in answer.facts if item.fact.strip()]
        return [FoundFact(item.fact.strip(), item.fact.strip(), item.status, item.query.strip()) for item in facts]

    async def given_facts(self, task: SentenceTask, facts: Sequence[str], context: CheckContext) -> Sequence[FoundFact]:
        answer = await self._ask(
            "given_facts",
            SentenceFacts,
            context,
            accept=partial(_one_for_each, facts),
            question=task.prompt or None,
            answer=_answer(task),
            sentence=task.sentence[:SENTENCE_CHARACTERS],
            fact=facts,
        )
        return [
            FoundFact(text, item.fact.strip() or text, item.status, item.query.strip())
            for text, item in zip(facts, answer.facts, strict=True)
        ]

    async def assess(self, case: Case, context: CheckContext) -> Judgement | NextQueries:
        answered = await self.gateway.ask_offering(
            assessment_prompt(self.prompts, case),
            Assessment,
            stage="assessment",
            meter=context.meter,
            offers=self._offered(context) if case.may_search else None,
            accept=partial(_rests_on_evidence, case),
            top_logprobs=self._top_logprobs,
            needed=ASSESSED.pattern,
        )
        answer = answered.value
        if isinstance(answer, ToolChoice):
            queries = tuple(query.strip() for query in answer.args.queries if query.strip())
            return NextQueries(queries or (case.claim,), answer.args.missing.strip(), answer.name)
        (score,) = ASSESSED.scores(answered.tokens, [answer.verdict])
        return with_score(self._meaning(answer, case), score)

    def _offered(self, context: CheckContext) -> Offers[Assessment, SearchCall]:
        return _offers(tuple((tool.name, tool.description) for tool in context.searching.tools))

    def _meaning(self, answer: Assessment, case: Case) -> Judgement:
        cited, why = judgements.cited_ids(answer.cited, case.evidence), _kept_numbers(answer.rationale, case)
        if answer.verdict == "insufficient":
            return judgements.not_supported(why, cited, self.name, contradicted=False)
        if answer.verdict == "ambiguous":
            return judgements.ambiguous(why, self.name)
        if answer.verdict == "supported":
            return judgements.supported(why, cited, self.name)
        return judgements.not_supported(why, cited, self.name, contradicted=True, wrong=answer.wrong.strip())


@lru_cache(maxsize=64)
def _offers(tools: tuple[tuple[str, str], ...]) -> Offers[Assessment, SearchCall]:
    """The searches on offer, by names and descriptions. Kept over sessions, as each has a class made for it."""
    return Offers(dict(tools), SearchCall, Assessment, lambda one: one.verdict == "insufficient")


@dataclass(frozen=True)
class ModelGroundedStages(ModelFusedStages):
    """The grounded plan's stages, and those of the fused plan for what it leaves out."""

    async def read(self, window: WindowTask, context: CheckContext) -> WindowReading:
        first = window.sentences[0]
        prompt = self.prompts["safe/grounded_facts"].render(
            passage=passages(window.passages),
            question=window.prompt or None,
            answer=before(window.response, first.start, most=ANSWER_CHARACTERS) or None,
            sentence=_in_place(window),
        )
        accept = partial(complete, len(window.sentences))
        answered = await self._ask_graded("grounded_facts", prompt, GroundedFacts, GROUNDED, context, accept=accept)
        scores = GROUNDED.scores(answered.tokens, [fact.verdict for fact in answered.value.facts])
        return reading_of(answered.value, window, self.name, scores=scores)

    async def look_again(
        self, claims: Sequence[str], window: WindowTask, context: CheckContext
    ) -> Sequence[JudgedFact]:
        prompt, accept = claims_prompt(self.prompts, claims, window), partial(claims_judged, len(claims))
        answered = await self._ask_graded("grounded_claims", prompt, GroundedClaims, GROUNDED, context, accept=accept)
        scores = GROUNDED.scores(answered.tokens, [entry.verdict for entry in answered.value.claims])
        return claims_of(answered.value, claims, window, self.name, scores=scores)


@dataclass(frozen=True)
class ModelPaperStages(_ModelStages):
    """The paper plan's stages."""

    answer_characters: int | None = ANSWER_CHARACTERS
    """Characters of the answer that prompts show at most; None for all of it, as published."""

    async def split(self, task: SentenceTask, context: CheckContext) -> Sequence[str]:
        answer = await self._ask("atomic_facts", AtomicFacts, context, above=task.above or None, sentence=task.sentence)
        return [fact.strip() for fact in answer.facts if fact.strip()]

    async def revise(self, fact: str, task: SentenceTask, context: CheckContext) -> str:
        answer = await self._ask(
            "self_contained_fact",
            SelfContainedFact,
            context,
            response=self._shown(task),
            sentence=task.sentence[:SENTENCE_CHARACTERS],
            fact=fact,
        )
        return answer.fact.strip() or fact

    def _shown(self, task: SentenceTask) -> str:
        return task.response.strip() if self.answer_characters is None else _answer(task, self.answer_characters)

    async def relevance(self, claim: str, task: SentenceTask, context: CheckContext) -> bool:
        if not task.prompt:
            return True  # without a question nothing is beside it
        answer = await self._ask(
            "relevance", Relevance, context, question=task.prompt, response=self._shown(task), fact=claim
        )
        return answer.relevant

    async def next_query(self, case: Case, context: CheckContext) -> NextQueries:
        answer = await self._ask(
            "search_query",
            SearchQuery,
            context,
            question=case.task.prompt or None,
            fact=case.claim,
            evidence=passages(case.evidence),
            asked=case.queries,
            fruitless=case.fruitless,
        )
        return NextQueries((answer.query.strip() or case.claim,))

    async def rate(self, case: Case, context: CheckContext) -> Judgement:
        prompt, accept = rating_prompt(self.prompts, case), partial(_rests_on_evidence, case)
        answered = await self._ask_graded("rating", prompt, Rating, RATED, context, accept=accept)
        (score,) = RATED.scores(answered.tokens, [answered.value.rating])
        return with_score(self._meaning(answered.value, case), score)

    def _meaning(self, answer: Rating, case: Case) -> Judgement:
        cited, why = judgements.cited_ids(answer.cited, case.evidence), _kept_numbers(answer.reasoning, case)
        if answer.rating == "not_supported":
            return judgements.not_supported(why, cited, self.name, contradicted=False)
        if answer.rating == "supported":
            return judgements.supported(why, cited, self.name)
        return judgements.not_supported(why, cited, self.name, contradicted=True, wrong=answer.wrong.strip())


def sentence_prompt(prompts: PromptRegistry, task: SentenceTask) -> RenderedPrompt:
    """The prompt on one sentence in the fused plan."""
    return prompts["safe/sentence_facts"].render(
        question=task.prompt or None, answer=_answer(task), above=task.above or None, sentence=task.sentence
    )


def assessment_prompt(prompts: PromptRegistry, case: Case) -> RenderedPrompt:
    """The prompt on one claim in the fused plan."""
    return prompts["safe/assessment"].render(
        question=case.task.prompt or None,
        sentence=_stated(case.task),
        claim=case.claim,
        evidence=passages(case.evidence),
        asked=case.queries,
        fruitless=case.fruitless,
        left=str(case.searches_left),
    )


def rating_prompt(prompts: PromptRegistry, case: Case) -> RenderedPrompt:
    """The prompt on one claim at the end of the paper's plan."""
    return prompts["safe/rating"].render(
        question=case.task.prompt or None,
        sentence=_stated(case.task),
        fact=case.claim,
        evidence=passages(case.evidence),
    )


def claims_prompt(prompts: PromptRegistry, claims: Sequence[str], window: WindowTask) -> RenderedPrompt:
    """The prompt on several claims at once in the grounded plan."""
    return prompts["safe/grounded_claims"].render(
        passage=passages(window.passages),
        question=window.prompt or None,
        answer=_answer(window.sentences[0]),
        claim=claims,
    )


def _one_for_each(given: Sequence[str], answer: SentenceFacts) -> None:
    """Refuses an answer that split, merged or omitted facts: its entries cannot be matched with the facts."""
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


def _kept_numbers(text: str, case: Case) -> str:
    """A rationale whose numbers are those of the claim's evidence, and no others."""
    n_shown = len(case.evidence)
    return renumbered(text, {number: number for number in range(1, n_shown + 1)}, n_shown=n_shown)


def passages(evidence: Sequence[Evidence]) -> list[str]:
    """The evidence as the model reads it, in the order in which it is numbered."""
    return [as_shown(item) for item in evidence]


def _answer(task: SentenceTask, most: int = ANSWER_CHARACTERS) -> str:
    """The whole answer, as far as prompts hold it, so that requests about one answer begin alike."""
    return whole_or_excerpt(task.response, task.start, task.end, most=most)


def _stated(task: SentenceTask) -> str:
    """A sentence as a judge reads it who has not seen the rest: under its headings, or the head of its table."""
    sentence = task.sentence[:SENTENCE_CHARACTERS]
    return f"{task.above}\n{sentence}" if task.above else sentence


_ROW_END = re.compile(r"\A[ \t]*\|[ \t]*(?=\r?\n)")
"""What a row of a table leaves of its line, and is no part of what follows."""


def _in_place(window: WindowTask) -> list[str]:
    """The sentences of a window as the answer goes on: each with what stands between it and the one before."""
    reached = window.sentences[0].start
    texts: list[str] = []
    for sentence in window.sentences:
        texts.append(_ROW_END.sub("", window.response[reached : sentence.end]).strip() or sentence.sentence)
        reached = max(reached, sentence.end)
    return texts
