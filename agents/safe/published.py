"""The `safe` plan: SAFE as in the authors' code (Wei et al. 2024, section 3 and appendix C).

Each prompt contains the same input as in SAFE: the sentence for splitting, the fact and the whole response for
revising, and the fact and the search results for queries and ratings. Every sentence is split, and every fact is rated
after all rounds of search. The verdict is either supported (strongly implied by the evidence) or not. See
docs/papers.md for the remaining departures.
"""

from __future__ import annotations

from dataclasses import dataclass

from factloop.agents.safe.claim import ClaimNode
from factloop.agents.safe.judgements import VerdictField, known_numbers, said, with_score
from factloop.agents.safe.model_stages import ModelPaperStages, passages
from factloop.agents.safe.paper import PaperPlan
from factloop.agents.safe.schemas import AtomicFacts, PublishedRating, SearchQuery, SelfContainedFact
from factloop.agents.safe.stages import Case, CheckContext, SafeGraph, SplitSentence
from factloop.agents.safe.state import NextQueries, SentenceTask
from factloop.core.records import Judgement
from factloop.prompts.registry import PromptRegistry, RenderedPrompt
from factloop.tools.text.sentences import split_sentences

PUBLISHED_PROMPTS = (
    "safe/published/atomic_facts",
    "safe/published/rating",
    "safe/published/search_query",
    "safe/published/self_contained_fact",
    "safe/relevance",
)
VERIFIABLE_PROMPTS = ("safe/published/rating", "safe/published/verifiable_claims")
BEFORE, AFTER = 3, 1
"""Number of sentences that VeriScore shows before and after the one to split."""
WINDOW_CHARACTERS = 2_000
RATED = VerdictField.of(PublishedRating, "rating")


def published_rating(prompts: PromptRegistry, case: Case) -> RenderedPrompt:
    return prompts["safe/published/rating"].render(fact=case.claim, evidence=passages(case.evidence))


@dataclass(frozen=True)
class PublishedPlan(PaperPlan):
    """The `paper` plan without its shortcuts."""

    reads_all = True
    merges_repeats = False
    ends_early = False


@dataclass(frozen=True)
class PublishedStages(ModelPaperStages):
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
        # The rating cites no passages, because it is based on all that were shown.
        cited = tuple(item.id for item in case.evidence) if rating == "supported" else ()
        return with_score(said(rating, why, cited, self.name), score)


@dataclass(frozen=True)
class VerifiablePlan(PublishedPlan):
    """The `safe` plan with VeriScore's claims (Song, Kim and Iyyer 2024, arXiv 2406.19276) and one search per claim."""

    merges_repeats = True

    def build_claim_branch(self, *, max_searches: int, look: ClaimNode | None = None) -> SafeGraph:  # noqa: ARG002 - one
        return super().build_claim_branch(max_searches=1, look=look)


@dataclass(frozen=True)
class VerifiableStages(PublishedStages):
    """Splits sentences as VeriScore does, into verifiable claims that are already self-contained."""

    async def split(self, task: SentenceTask, context: CheckContext) -> SplitSentence:
        response = context.answer.response
        before = split_sentences(response[max(0, task.start - WINDOW_CHARACTERS) : task.start])[-BEFORE:]
        after = split_sentences(response[task.end : task.end + WINDOW_CHARACTERS])[:AFTER]
        around = " ".join([*(one.text for one in before), task.sentence, *(one.text for one in after)])
        prompt = self.prompts["safe/published/verifiable_claims"].render(
            question=context.answer.prompt or None, context=around, sentence=task.sentence
        )
        answer = await self.gateway.ask_for(prompt, AtomicFacts, stage="verifiable_claims", meter=context.meter)
        return SplitSentence([fact.strip() for fact in answer.facts if fact.strip()])

    async def revise(self, fact: str, task: SentenceTask, context: CheckContext) -> str:  # noqa: ARG002 - is revised
        return fact

    async def relevance(self, claim: str, task: SentenceTask, context: CheckContext) -> bool:  # noqa: ARG002 - always
        return True

    async def next_query(self, case: Case, context: CheckContext) -> NextQueries:  # noqa: ARG002 - the claim itself
        return NextQueries((case.claim,))
