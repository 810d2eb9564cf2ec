"""Implements the stages of all plans with a chat model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, TypeVar

from pydantic import BaseModel

from factloop.agents.safe.answer import Answer
from factloop.agents.safe.faithful import Faithful, complaint
from factloop.agents.safe.judgements import (
    ASSESSED,
    GROUNDED,
    LEAST_CITED,
    NO_GROUNDS,
    RATED,
    VerdictField,
    cited_ids,
    known_numbers,
    not_supported,
    refuse,
    refuse_groundless,
    refuse_unless_in_order,
    said,
    with_score,
)
from factloop.agents.safe.schemas import (
    Abstention,
    Assessment,
    Assessments,
    AtomicFacts,
    GivenClaims,
    GroundedClaims,
    GroundedFacts,
    JudgedByPassages,
    NumberedAssessment,
    Rating,
    Relevance,
    SearchCall,
    SearchQuery,
    SelfContainedFact,
    SentenceFacts,
    WindowFact,
    WindowFacts,
)
from factloop.agents.safe.stages import (
    Case,
    CheckContext,
    FoundFact,
    JudgedFact,
    SplitSentence,
    WindowReading,
    WindowTask,
)
from factloop.agents.safe.state import NextQueries, SentenceTask
from factloop.agents.shown import as_shown
from factloop.core import records
from factloop.core.records import Evidence, Judgement
from factloop.prompts.registry import PromptRegistry, RenderedPrompt, Value
from factloop.tools.models.gateway import Accept, AnswerWithTokens, ModelGateway
from factloop.tools.models.logprobs import TOP_LOGPROBS
from factloop.tools.models.schema import Offers, ToolChoice

T = TypeVar("T", bound=BaseModel)
Claims = TypeVar("Claims", GroundedClaims, GivenClaims)

FUSED_PROMPTS = ("safe/abstention", "safe/assessment", "safe/given_facts", "safe/sentence_facts")
PAPER_PROMPTS = (
    "safe/abstention",
    "safe/atomic_facts",
    "safe/rating",
    "safe/relevance",
    "safe/search_query",
    "safe/self_contained_fact",
)
GROUNDED_PROMPTS = ("safe/grounded_claims", "safe/grounded_facts", *FUSED_PROMPTS)

SENTENCE_CHARACTERS = 2_000
"""Maximum number of characters in a supplied sentence. Sentences that factloop splits itself are never longer."""
ANSWER_CHARACTERS = 6_000
"""Number of characters of the answer to show in a prompt. Clearly longer answers are shown as excerpts."""
_ROW_END = re.compile(r"\A[ \t]*\|[ \t]*(?=\r?\n)")
"""Matches the end of a table row, which is not part of the next sentence."""


def passages(evidence: Iterable[Evidence]) -> list[str]:
    """Formats the passages in the order in which the prompt numbers them."""
    return [as_shown(item) for item in evidence]


def sentence_prompt(prompts: PromptRegistry, answer: Answer, tasks: Sequence[SentenceTask]) -> RenderedPrompt:
    """Renders the fused plan's prompt for neighbouring sentences, with the headings and the excerpt of the first."""
    first = tasks[0]
    return prompts["safe/sentence_facts"].render(
        question=answer.prompt or None,
        answer=shown_answer(answer, replace(first, end=tasks[-1].end)),
        above="\n".join(filter(None, (first.above, answer.told_apart_by(first)))) or None,
        sentence=[task.sentence for task in tasks],
    )


def assessment_prompt(
    prompts: PromptRegistry, prompt: str | None, cases: Sequence[Case], evidence: Sequence[Evidence]
) -> RenderedPrompt:
    """Renders the fused plan's prompt for one or more claims. A single claim is not numbered."""
    sentences = list(dict.fromkeys(stated(case.task) for case in cases))
    alone = len(cases) == 1
    return prompts["safe/assessment"].render(
        question=prompt or None,
        sentence=sentences[0] if alone else sentences,
        claim=cases[0].claim if alone else [case.claim for case in cases],
        evidence=passages(evidence),
        asked=_each_once(cases, [case.queries for case in cases]),
        fruitless=_each_once(cases, [case.fruitless for case in cases]),
        left=str(max(case.searches_left for case in cases)),
    )


def _each_once(cases: Sequence[Case], queries: Sequence[Sequence[str]]) -> Sequence[str]:
    return queries[0] if len(cases) == 1 else list(dict.fromkeys(query for of_one in queries for query in of_one))


def rating_prompt(prompts: PromptRegistry, prompt: str | None, case: Case) -> RenderedPrompt:
    return prompts["safe/rating"].render(
        question=prompt or None, sentence=stated(case.task), fact=case.claim, evidence=passages(case.evidence)
    )


def claims_prompt(prompts: PromptRegistry, answer: Answer, claims: Sequence[str], window: WindowTask) -> RenderedPrompt:
    return prompts["safe/grounded_claims"].render(
        passage=passages(window.passages),
        question=answer.prompt or None,
        answer=shown_answer(answer, window.sentences[0]),
        claim=claims,
    )


def shown_answer(answer: Answer, task: SentenceTask, most: int = ANSWER_CHARACTERS) -> str:
    return answer.around(task.start, task.end, most=most)


def in_context(answer: Answer, task: SentenceTask) -> str:
    """Returns the sentence of the supplied facts, preceded by text that distinguishes it from identical sentences."""
    return "\n".join(filter(None, (answer.told_apart_by(task), task.sentence[:SENTENCE_CHARACTERS])))


def stated(task: SentenceTask) -> str:
    """Returns a sentence with its headings or table header, for a judge that does not see the rest of the answer."""
    sentence = task.sentence[:SENTENCE_CHARACTERS]
    return f"{task.above}\n{sentence}" if task.above else sentence


def _in_place(answer: Answer, window: WindowTask) -> list[str]:
    reached = window.sentences[0].start
    texts: list[str] = []
    for task in window.sentences:
        texts.append(_ROW_END.sub("", answer.response[reached : task.end]).strip() or task.sentence)
        reached = max(reached, task.end)
    return texts


@dataclass(frozen=True)
class _ModelStages:
    gateway: ModelGateway
    prompts: PromptRegistry
    reads_code: bool = True
    logprobs: bool = True
    """Whether to request log-probabilities, from which the scores of verdicts are calculated."""

    @property
    def name(self) -> str:
        return self.gateway.chat.name

    async def abstention(
        self, task: SentenceTask, shown: Sequence[Evidence], context: CheckContext
    ) -> records.Abstention:
        answer = await self._ask(
            "abstention",
            Abstention,
            context,
            question=context.answer.prompt or None,
            sentence=stated(task),
            passage=passages(shown),
        )
        cited = cited_ids(answer.passages, shown)
        return records.Abstention(
            is_right=not cited,
            missing=answer.missing.strip(),
            why=answer.answer.strip() if cited else "",
            evidence=tuple(item for item in shown if item.id in cited),
        )

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
        accept: Accept | None = None,
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

    def _judged(
        self, verdict: str, answer: Assessment | NumberedAssessment | Rating, evidence: Sequence[Evidence]
    ) -> Judgement:
        why = answer.reasoning if isinstance(answer, Rating) else answer.rationale
        cited = cited_ids(answer.cited, evidence)
        return said(verdict, known_numbers(why, len(evidence)), cited, self.name, answer.wrong)


@dataclass(frozen=True)
class ModelPaperStages(_ModelStages):
    async def split(self, task: SentenceTask, context: CheckContext) -> SplitSentence:
        fits = _fitting([task], context, lambda answer: ((1, fact) for fact in answer.facts))
        shown = {"above": task.above or None, "sentence": task.sentence}
        answer = await self._ask("atomic_facts", AtomicFacts, context, accept=fits, **shown)
        if fits.unfit:
            return SplitSentence([task.sentence], is_whole=True)
        return SplitSentence([fact.strip() for fact in answer.facts if fact.strip()])

    async def revise(self, fact: str, task: SentenceTask, context: CheckContext) -> str:
        shown, sentence = self._shown(task, context), in_context(context.answer, task)
        answer = await self._ask(
            "self_contained_fact", SelfContainedFact, context, response=shown, sentence=sentence, fact=fact
        )
        return _revised(fact, answer.fact, context)

    def _shown(self, task: SentenceTask, context: CheckContext) -> str:
        return shown_answer(context.answer, task)

    async def relevance(self, claim: str, task: SentenceTask, context: CheckContext) -> bool:
        if not context.answer.prompt:
            return True  # without a question, nothing is irrelevant
        shown, question = self._shown(task, context), context.answer.prompt
        return (
            await self._ask("relevance", Relevance, context, question=question, response=shown, fact=claim)
        ).relevant

    async def next_query(self, case: Case, context: CheckContext) -> NextQueries:
        answer = await self._ask(
            "search_query",
            SearchQuery,
            context,
            question=context.answer.prompt or None,
            fact=case.claim,
            evidence=passages(case.evidence),
            asked=case.queries,
            fruitless=case.fruitless,
        )
        return NextQueries(_queries([answer.query]) or (() if case.evidence else (case.claim,)))

    async def rate(self, case: Case, context: CheckContext) -> Judgement:
        prompt = rating_prompt(self.prompts, context.answer.prompt, case)
        accept = partial(_rests_on_evidence, case)
        answered = await self._ask_graded("rating", prompt, Rating, RATED, context, accept=accept)
        rating = answered.value.rating
        context.note_steering(answered.value.steering, case.evidence)
        (score,) = RATED.scores(answered.tokens, [rating])
        return with_score(self._judged(rating, answered.value, case.evidence), score)


@dataclass(frozen=True)
class ModelFusedStages(_ModelStages):
    async def sentence_facts(
        self, tasks: Sequence[SentenceTask], context: CheckContext
    ) -> Sequence[Sequence[FoundFact] | None]:
        prompt, fits = sentence_prompt(self.prompts, context.answer, tasks), _fitting(tasks, context, _numbered)
        accept, stage = partial(_fits_window, len(tasks), fits), "sentence_facts"
        window = await self.gateway.ask_for(prompt, WindowFacts, stage=stage, meter=context.meter, accept=accept)
        found = ((n, _found(fact for fact in window.facts if fact.sentence == n)) for n in range(1, len(tasks) + 1))
        return [
            _whole(tasks[number - 1])
            if number in fits.unfit
            else facts
            if facts or number in window.without_fact
            else None
            for number, facts in found
        ]

    async def given_facts(self, task: SentenceTask, facts: Sequence[str], context: CheckContext) -> Sequence[FoundFact]:
        answer = await self._ask(
            "given_facts",
            SentenceFacts,
            context,
            accept=partial(_one_for_each, facts),
            question=context.answer.prompt or None,
            answer=shown_answer(context.answer, task),
            sentence=in_context(context.answer, task),
            fact=facts,
        )
        return [
            FoundFact(text, _revised(text, item.fact, context), item.status, item.query.strip())
            for text, item in zip(facts, answer.facts, strict=True)
        ]

    async def assess(self, case: Case, context: CheckContext) -> Judgement | NextQueries:
        answered = await self.gateway.ask_offering(
            assessment_prompt(self.prompts, context.answer.prompt, [case], case.evidence),
            Assessment,
            stage="assessment",
            meter=context.meter,
            offers=_offers(tuple((tool.name, tool.description) for tool in context.searching.tools))
            if case.may_search
            else None,
            accept=partial(_rests_on_evidence, case),
            top_logprobs=self._top_logprobs,
            needed=ASSESSED.pattern,
        )
        answer = answered.value
        if isinstance(answer, ToolChoice):
            queries = _queries(answer.args.queries)
            return NextQueries(queries or (case.claim,), answer.args.missing.strip(), answer.name)
        context.note_steering(answer.steering, case.evidence)
        (score,) = ASSESSED.scores(answered.tokens, [answer.verdict])
        return with_score(self._judged(answer.verdict, answer, case.evidence), score)

    async def assess_together(
        self, cases: Sequence[Case], evidence: Sequence[Evidence], context: CheckContext
    ) -> Sequence[Judgement | NextQueries]:
        prompt = assessment_prompt(self.prompts, context.answer.prompt, cases, evidence)
        accept = partial(_each_assessed, len(cases), len(evidence))
        answered = await self._ask_graded("assessments", prompt, Assessments, ASSESSED, context, accept=accept)
        entries = answered.value.claims
        context.note_steering(answered.value.steering, evidence)
        scores = ASSESSED.scores(answered.tokens, [entry.verdict for entry in entries])
        steps: list[Judgement | NextQueries] = []
        for case, entry, score in zip(cases, entries, scores, strict=True):
            queries = _queries(entry.queries)
            if entry.verdict == "insufficient" and case.may_search and queries:
                steps.append(NextQueries(queries, entry.rationale.strip()))
            else:
                steps.append(with_score(self._judged(entry.verdict, entry, evidence), score))
        return steps


@lru_cache(maxsize=64)
def _offers(tools: tuple[tuple[str, str], ...]) -> Offers[Assessment, SearchCall]:
    """The result is cached, because each combination of tools requires its own class."""
    return Offers(dict(tools), SearchCall, Assessment, lambda one: one.verdict == "insufficient")


@dataclass(frozen=True)
class ModelGroundedStages(ModelFusedStages):
    """The grounded stages. Sentences missing from a reply go through the stages of the fused plan."""

    async def read(self, window: WindowTask, context: CheckContext) -> WindowReading:
        prompt = self.prompts["safe/grounded_facts"].render(
            passage=passages(window.passages),
            question=context.answer.prompt or None,
            answer=context.answer.before(window.sentences[0].start, most=ANSWER_CHARACTERS) or None,
            sentence=_in_place(context.answer, window),
        )
        fits = _fitting(window.sentences, context, _numbered)
        accept = partial(_fits_window, len(window.sentences), fits)
        answered = await self._ask_graded("grounded_facts", prompt, GroundedFacts, GROUNDED, context, accept=accept)
        answer = answered.value
        context.note_steering(answer.steering, window.passages)
        steering = set(answer.steering_sentences)
        told = (task.sentence for number, task in enumerate(window.sentences, 1) if number in steering)
        context.steering.update(dict.fromkeys(told, "sentence of the response"))
        scores = GROUNDED.scores(answered.tokens, [fact.verdict for fact in answer.facts])
        facts = [
            JudgedFact(
                sentence=fact.sentence - 1,
                text=fact.fact.strip(),
                judgement=self._grounded(fact, window, score),
                relevant=fact.sentence not in answer.off_topic if context.answer.prompt else None,
            )
            for fact, score in zip(answer.facts, scores, strict=True)
            if fact.fact.strip() and fact.sentence not in fits.unfit
        ]
        silent = {number - 1 for number in answer.without_fact} - {fact.sentence for fact in facts}
        unfit = frozenset(number - 1 for number in fits.unfit)
        return WindowReading(sorted(facts, key=lambda fact: fact.sentence), frozenset(silent), unfit)

    async def judge_given(
        self, claims: Sequence[str], window: WindowTask, context: CheckContext
    ) -> Sequence[JudgedFact]:
        answer, judged = await self._judged_claims(claims, window, context, GivenClaims)
        told = [_revised(claim, entry.fact, context) for claim, entry in zip(claims, answer.claims, strict=True)]
        return [JudgedFact(0, text, judgement) for text, judgement in zip(told, judged, strict=True)]

    async def look_again(self, claims: Sequence[str], window: WindowTask, context: CheckContext) -> Sequence[Judgement]:
        _, judged = await self._judged_claims(claims, window, context, GroundedClaims)
        return judged

    async def _judged_claims(
        self, claims: Sequence[str], window: WindowTask, context: CheckContext, reply: type[Claims]
    ) -> tuple[Claims, Sequence[Judgement]]:
        prompt = claims_prompt(self.prompts, context.answer, claims, window)
        accept = partial(_each_assessed, len(claims), len(window.passages))
        answered = await self._ask_graded("grounded_claims", prompt, reply, GROUNDED, context, accept=accept)
        answer = answered.value
        context.note_steering(answer.steering, window.passages)
        scores = GROUNDED.scores(answered.tokens, [entry.verdict for entry in answer.claims])
        judged = [self._grounded(entry, window, score) for entry, score in zip(answer.claims, scores, strict=True)]
        return answer, judged

    def _grounded(self, entry: JudgedByPassages, window: WindowTask, score: float | None) -> Judgement:
        cited = cited_ids(entry.passages, window.passages)
        if len(cited) < LEAST_CITED.get(entry.verdict, 0):
            return not_supported(NO_GROUNDS, (), self.name, contradicted=False)
        why = known_numbers(entry.reason.strip(), len(window.passages))
        return with_score(said(entry.verdict, why, cited, self.name, entry.wrong), score)


def _fitting(
    tasks: Sequence[SentenceTask], context: CheckContext, facts_of: Callable[[Any], Iterable[tuple[int, str]]]
) -> Faithful[Any]:
    """Returns a check of facts against these sentences. Code is not checked, because facts may describe it freely."""
    sentences = ["" if task.is_code else task.sentence for task in tasks]
    return Faithful(sentences, context.answer.wording, facts_of)


def _fits_window(n_sentences: int, fits: Faithful[Any], answer: GroundedFacts | WindowFacts) -> None:
    _of_sentences_shown(n_sentences, answer)
    fits(answer)


def _numbered(answer: GroundedFacts | WindowFacts) -> Iterable[tuple[int, str]]:
    return ((fact.sentence, fact.fact) for fact in answer.facts)


def _revised(fact: str, told: str, context: CheckContext) -> str:
    told = told.strip()
    return told if told and complaint(fact, [told], context.answer.wording) is None else fact


def _whole(task: SentenceTask) -> list[FoundFact]:
    return [FoundFact(task.sentence, task.sentence, "check", "", is_whole=True)]


def _found(facts: Iterable[WindowFact]) -> list[FoundFact]:
    told = ((one, one.fact.strip()) for one in facts)
    return [FoundFact(fact, fact, one.status, one.query.strip()) for one, fact in told if fact]


def _queries(told: Iterable[str]) -> tuple[str, ...]:
    return tuple(query.strip() for query in told if query.strip())


def _one_for_each(given: Sequence[str], answer: SentenceFacts) -> None:
    """Rejects a reply that splits, merges or omits facts, because its entries cannot be matched to the given facts."""
    if len(answer.facts) != len(given):
        refuse(answer, f"{len(given)} facts are given, and {len(answer.facts)} came back: return each once, in order")


def _of_sentences_shown(n_sentences: int, answer: GroundedFacts | WindowFacts) -> None:
    """Rejects a reply that refers to an unknown sentence, because it may count all sentences from 0. Also rejects a
    sentence that is listed both with and without a fact. Skipped sentences are requested again later.
    """
    with_fact, without = {fact.sentence for fact in answer.facts}, set(answer.without_fact)
    off_topic = set(answer.off_topic) if isinstance(answer, GroundedFacts) else set()
    if strangers := sorted((with_fact | without | off_topic) - set(range(1, n_sentences + 1))):
        refuse(answer, f"there is no sentence {strangers[0]}: the sentences are numbered 1 to {n_sentences}")
    if both := sorted(with_fact & without):
        refuse(answer, f"sentence {both[0]} has a fact, and yet it is listed in without_fact")


def _each_assessed(n_claims: int, n_shown: int, answer: Assessments | GroundedClaims | GivenClaims) -> None:
    refuse_unless_in_order([entry.claim for entry in answer.claims], n_claims, answer)
    for entry in answer.claims:
        cited = entry.passages if isinstance(entry, JudgedByPassages) else entry.cited
        refuse_groundless(entry.verdict, cited, n_shown, answer, of=f"claim {entry.claim}: ")


def _rests_on_evidence(case: Case, answer: Assessment | Rating) -> None:
    verdict = answer.verdict if isinstance(answer, Assessment) else answer.rating
    refuse_groundless(verdict, answer.cited, len(case.evidence), answer)
