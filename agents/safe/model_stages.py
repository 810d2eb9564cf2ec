"""The stages of all plans filled by a chat model: a prompt, a structured answer, and its meaning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TypeVar

from pydantic import BaseModel

from factloop.agents.safe import judgements
from factloop.agents.safe.context import CheckContext
from factloop.agents.safe.excerpts import before
from factloop.agents.safe.grounded_answers import (
    claims_judged,
    claims_of,
    of_sentences_shown,
    reading_of,
    refuse_groundless,
)
from factloop.agents.safe.schemas import (
    Assessment,
    Assessments,
    AtomicFacts,
    GroundedClaims,
    GroundedFacts,
    NumberedAssessment,
    Rating,
    Relevance,
    SearchCall,
    SearchQuery,
    SelfContainedFact,
    SentenceFact,
    SentenceFacts,
    WindowFact,
    WindowFacts,
)
from factloop.agents.safe.stage_prompts import (
    ANSWER_CHARACTERS,
    assessment_prompt,
    assessments_prompt,
    claims_prompt,
    in_context,
    in_place,
    passages,
    rating_prompt,
    sentence_prompt,
    shown_answer,
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
from factloop.core.citations import renumbered
from factloop.core.errors import ModelOutputError
from factloop.core.records import Evidence, Judgement
from factloop.prompts.registry import PromptRegistry, RenderedPrompt, Value
from factloop.tools.models.gateway import Accept, AnswerWithTokens, ModelGateway
from factloop.tools.models.logprobs import TOP_LOGPROBS
from factloop.tools.models.offers import Offers, ToolChoice

T = TypeVar("T", bound=BaseModel)

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

    async def sentence_facts(
        self, tasks: Sequence[SentenceTask], context: CheckContext
    ) -> Sequence[Sequence[FoundFact] | None]:
        prompt, stage = sentence_prompt(self.prompts, tasks), "sentence_facts"
        if len(tasks) == 1:
            answer = await self.gateway.ask_for(prompt, SentenceFacts, stage=stage, meter=context.meter)
            return [_found(answer.facts)]
        accept = partial(of_sentences_shown, len(tasks))
        window = await self.gateway.ask_for(prompt, WindowFacts, stage=stage, meter=context.meter, accept=accept)
        return [_found_in(number, window) for number, _ in enumerate(tasks, 1)]

    async def given_facts(self, task: SentenceTask, facts: Sequence[str], context: CheckContext) -> Sequence[FoundFact]:
        answer = await self._ask(
            "given_facts",
            SentenceFacts,
            context,
            accept=partial(_one_for_each, facts),
            question=task.prompt or None,
            answer=shown_answer(task),
            sentence=in_context(task),
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
        return with_score(self._meaning(answer, case.evidence), score)

    async def assess_together(
        self, cases: Sequence[Case], evidence: Sequence[Evidence], context: CheckContext
    ) -> Sequence[Judgement | NextQueries]:
        prompt, accept = assessments_prompt(self.prompts, cases, evidence), partial(_each_assessed, cases, evidence)
        answered = await self._ask_graded("assessments", prompt, Assessments, ASSESSED, context, accept=accept)
        entries = answered.value.claims
        scores = ASSESSED.scores(answered.tokens, [entry.verdict for entry in entries])
        steps: list[Judgement | NextQueries] = []
        for case, entry, score in zip(cases, entries, scores, strict=True):
            queries = tuple(query.strip() for query in entry.queries if query.strip())
            if entry.verdict == "insufficient" and case.may_search and queries:
                steps.append(NextQueries(queries, entry.rationale.strip()))
            else:
                steps.append(with_score(self._meaning(entry, evidence), score))
        return steps

    def _offered(self, context: CheckContext) -> Offers[Assessment, SearchCall]:
        return _offers(tuple((tool.name, tool.description) for tool in context.searching.tools))

    def _meaning(self, answer: Assessment | NumberedAssessment, evidence: Sequence[Evidence]) -> Judgement:
        cited, why = judgements.cited_ids(answer.cited, evidence), _kept_numbers(answer.rationale, len(evidence))
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
            sentence=in_place(window),
        )
        accept = partial(of_sentences_shown, len(window.sentences))
        answered = await self._ask_graded("grounded_facts", prompt, GroundedFacts, GROUNDED, context, accept=accept)
        scores = GROUNDED.scores(answered.tokens, [fact.verdict for fact in answered.value.facts])
        return reading_of(answered.value, window, self.name, scores=scores)

    async def look_again(
        self, claims: Sequence[str], window: WindowTask, context: CheckContext
    ) -> Sequence[JudgedFact]:
        prompt = claims_prompt(self.prompts, claims, window)
        accept = partial(claims_judged, len(claims), len(window.passages))
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
            sentence=in_context(task),
            fact=fact,
        )
        return answer.fact.strip() or fact

    def _shown(self, task: SentenceTask) -> str:
        return task.response.strip() if self.answer_characters is None else shown_answer(task, self.answer_characters)

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
        cited, why = (
            judgements.cited_ids(answer.cited, case.evidence),
            _kept_numbers(answer.reasoning, len(case.evidence)),
        )
        if answer.rating == "not_supported":
            return judgements.not_supported(why, cited, self.name, contradicted=False)
        if answer.rating == "supported":
            return judgements.supported(why, cited, self.name)
        return judgements.not_supported(why, cited, self.name, contradicted=True, wrong=answer.wrong.strip())


def _found(facts: Iterable[SentenceFact | WindowFact]) -> list[FoundFact]:
    told = ((one, one.fact.strip()) for one in facts)
    return [FoundFact(fact, fact, one.status, one.query.strip()) for one, fact in told if fact]


def _found_in(number: int, answer: WindowFacts) -> list[FoundFact] | None:
    """The facts of one sentence of several; None where the answer does not say that it states none."""
    facts = _found(fact for fact in answer.facts if fact.sentence == number)
    return facts if facts or number in answer.without_fact else None


def _one_for_each(given: Sequence[str], answer: SentenceFacts) -> None:
    """Refuses an answer that split, merged or omitted facts: its entries cannot be matched with the facts."""
    if len(answer.facts) != len(given):
        raise ModelOutputError(
            f"{len(given)} facts are given, and {len(answer.facts)} came back: return each once, in order",
            schema=type(answer).__name__,
            reply=answer.model_dump_json(),
        )


def _each_assessed(cases: Sequence[Case], evidence: Sequence[Evidence], answer: Assessments) -> None:
    """Refuses a reply that is not one entry for each claim, in order, or has a verdict that rests on no passage.

    A claim has what was found for it, and of the passages found for the others those that its entry cites.
    """
    numbers = [entry.claim for entry in answer.claims]
    if numbers != list(range(1, len(cases) + 1)):
        raise ModelOutputError(
            f"{len(cases)} claims are given, and judged were {numbers}: judge each once, in order",
            schema=type(answer).__name__,
            reply=answer.model_dump_json(),
        )
    for entry in answer.claims:
        refuse_groundless(entry.verdict, entry.cited, len(evidence), answer, of=f"claim {entry.claim}: ")


def _rests_on_evidence(case: Case, answer: Assessment | Rating) -> None:
    verdict = answer.verdict if isinstance(answer, Assessment) else answer.rating
    refuse_groundless(verdict, answer.cited, len(case.evidence), answer)


def _kept_numbers(text: str, n_shown: int) -> str:
    """A rationale whose numbers are those of the passages shown, and no others."""
    return renumbered(text, {number: number for number in range(1, n_shown + 1)}, n_shown=n_shown)
