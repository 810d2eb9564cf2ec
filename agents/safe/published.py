"""The plan `safe`: SAFE as its authors' code runs it (Wei et al. 2024, section 3 and appendix C).

Its prompts see what SAFE's see: the split a sentence alone, the revision a fact with the whole response, the query and
the rating a fact with what was found. Every sentence is split and every fact judged, in all rounds of search, by two
verdicts: supported, in the sense of strongly implied, or not. docs/papers.md lists the departures that are left; the
plan `paper` departs from it where that gives better verdicts.
"""

from __future__ import annotations

from dataclasses import dataclass

from factloop.agents.safe.judgements import VerdictField, known_numbers, said, with_score
from factloop.agents.safe.model_stages import ModelPaperStages, passages
from factloop.agents.safe.paper import PaperPlan
from factloop.agents.safe.schemas import AtomicFacts, PublishedRating, SearchQuery, SelfContainedFact
from factloop.agents.safe.stages import Case, CheckContext, SplitSentence
from factloop.agents.safe.state import NextQueries, SentenceTask
from factloop.core.records import Judgement
from factloop.prompts.registry import PromptRegistry, RenderedPrompt

PUBLISHED_PROMPTS = (
    "safe/published/atomic_facts",
    "safe/published/rating",
    "safe/published/search_query",
    "safe/published/self_contained_fact",
    "safe/relevance",
)
RATED = VerdictField.of(PublishedRating, "rating")


def published_rating(prompts: PromptRegistry, case: Case) -> RenderedPrompt:
    """The prompt on one claim at the end of the plan."""
    return prompts["safe/published/rating"].render(fact=case.claim, evidence=passages(case.evidence))


@dataclass(frozen=True)
class PublishedPlan(PaperPlan):
    """The paper's plan without its shortcuts."""

    reads_all = True
    merges_repeats = False
    ends_early = False


@dataclass(frozen=True)
class PublishedStages(ModelPaperStages):
    """The stages of the plan `safe`."""

    def _shown(self, task: SentenceTask, context: CheckContext) -> str:  # noqa: ARG002 - the whole response
        return context.answer.response.strip()

    async def split(self, task: SentenceTask, context: CheckContext) -> SplitSentence:
        prompt = self.prompts["safe/published/atomic_facts"].render(sentence=task.sentence)
        answer = await self.gateway.ask_for(prompt, AtomicFacts, stage="atomic_facts", meter=context.meter)
        return SplitSentence([fact.strip() for fact in answer.facts if fact.strip()])

    async def revise(self, fact: str, task: SentenceTask, context: CheckContext) -> str:
        shown, stage = self._shown(task, context), "self_contained_fact"
        prompt = self.prompts["safe/published/self_contained_fact"].render(response=shown, fact=fact)
        answer = await self.gateway.ask_for(prompt, SelfContainedFact, stage=stage, meter=context.meter)
        return answer.fact.strip() or fact

    async def next_query(self, case: Case, context: CheckContext) -> NextQueries:
        prompt = self.prompts["safe/published/search_query"].render(fact=case.claim, evidence=passages(case.evidence))
        answer = await self.gateway.ask_for(prompt, SearchQuery, stage="search_query", meter=context.meter)
        return NextQueries((answer.query.strip() or case.claim,))

    async def rate(self, case: Case, context: CheckContext) -> Judgement:
        prompt = published_rating(self.prompts, case)
        answered = await self._ask_graded("rating", prompt, PublishedRating, RATED, context)
        rating = answered.value.rating
        (score,) = RATED.scores(answered.tokens, [rating])
        why = known_numbers(answered.value.reasoning, len(case.evidence))
        # The rating names no passage: it rests on all that it was shown.
        cited = tuple(item.id for item in case.evidence) if rating == "supported" else ()
        return with_score(said(rating, why, cited, self.name), score)
