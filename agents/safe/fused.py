"""The fused plan: one call for a sentence or two short ones, one for the first round of two claims (`first_round`),
then one for each round of a claim, and a stop as soon as it is settled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from factloop.agents.nodes import Update
from factloop.agents.safe import judgements
from factloop.agents.safe.branch import (
    LOOK,
    SEARCH,
    BunchNode,
    ClaimNode,
    ask_next,
    closed,
    is_unanswered,
    may_be_answered_alone,
    not_yet_asked,
    search,
    searches_left,
    settling,
    task_of,
)
from factloop.agents.safe.claims import case_of
from factloop.agents.safe.context import CheckContext, SafeGraph
from factloop.agents.safe.first_round import CLAIMS_TOGETHER, build_first_round
from factloop.agents.safe.given import read_in_batches, unread
from factloop.agents.safe.stages import Case, FoundFact, FusedStages, NextQueries
from factloop.agents.safe.state import BunchState, FactOutput, FactState, PlacedFact, SentenceState, place_fact
from factloop.agents.safe.windows import FUSED_WINDOW, shares_headings, windows_of
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.records import Judgement
from factloop.tools.calls.together import together

ASSESS = "assess"
QUERIES_AT_ONCE = 2
"""Queries for a claim that the first search left open. With two, the slowest claim takes three rounds, not five."""


@dataclass(frozen=True)
class FusedPlan:
    """The fused plan, with the stages that fill it."""

    stages: FusedStages
    gates: bool = True
    """Whether a check may leave irrelevant claims unchecked."""

    @property
    def reads_code(self) -> bool:
        return self.stages.reads_code

    @property
    def merges_repeats(self) -> bool:
        return True

    @property
    def searches_ahead(self) -> bool:
        return True

    @property
    def second_look(self) -> None:
        return None

    def branches(self, cases: Sequence[FactState]) -> Sequence[BunchState]:
        """Groups neighbours, which mostly come from one sentence and are decided by the same passages."""
        starts = range(0, len(cases), CLAIMS_TOGETHER)
        return [BunchState(cases=list(cases[start : start + CLAIMS_TOGETHER]), settled=[]) for start in starts]

    def build_claim_branch(self, *, max_searches: int, look: ClaimNode | None = None) -> SafeGraph | BunchNode:
        """The graph of several claims: they share their first round, and each that it leaves open goes on alone."""
        alone = self.build_claim_graph(max_searches=max_searches)
        return build_first_round(self, alone, max_searches=max_searches, look=look)

    def build_claim_graph(self, *, max_searches: int, look: ClaimNode | None = None) -> SafeGraph:
        """The graph of one claim: `search -> assess`, round after round, until the claim is settled or `max_searches`
        queries were asked.

        A round that brings nothing new is the last, without another call. A first `look` settles the claim before all
        that, or leaves it. A claim without a pending query was searched for already.
        """
        graph = StateGraph(FactState, context_schema=CheckContext, output_schema=FactOutput)
        graph.add_node(SEARCH, search)
        graph.add_node(ASSESS, self.build_assess(max_searches))
        if look is None:
            graph.add_conditional_edges(START, _as_it_stands, [SEARCH, ASSESS])
        else:
            graph.add_node(LOOK, look)
            graph.add_edge(START, LOOK)
            graph.add_conditional_edges(LOOK, _unless_settled, [SEARCH, END])
        graph.add_edge(SEARCH, ASSESS)
        graph.add_conditional_edges(ASSESS, _unless_settled, [SEARCH, END])
        return graph.compile(name="claim")

    def build_assess(self, max_searches: int) -> ClaimNode:
        """The step after each search: settles the claim, or says what to search for next."""

        async def assess(state: FactState, runtime: Runtime[CheckContext]) -> Update:
            if is_unanswered(state):
                return closed(state, Judgement.model_validate(state["failure"]), runtime)
            if state["rounds"] > 1 and state["is_barren"]:
                missing = " ".join(state["missing"][-1:]) or state["queries"][-1]
                case = case_of(state, task_of(state["task"], runtime.context), searches_left=0)
                return closed(state, await self.conclude(case, missing, runtime.context), runtime)
            case = case_of(
                state, task_of(state["task"], runtime.context), searches_left=searches_left(state, max_searches)
            )
            return await self.go_on(state, case, await self.stages.assess(case, runtime.context), runtime)

        return settling(ASSESS, assess)

    async def go_on(
        self, state: FactState, case: Case, step: Judgement | NextQueries, runtime: Runtime[CheckContext]
    ) -> Update:
        """What comes of an assessment: the claim is settled, or searched for by queries that were not yet asked."""
        if isinstance(step, Judgement):
            return closed(state, step, runtime)
        wish = not_yet_asked(state, step, most=min(QUERIES_AT_ONCE, case.searches_left))
        if wish is None:
            missing = step.missing or ", ".join(step.queries)
            closing = replace(case, searches_left=0)
            return closed(state, await self.conclude(closing, missing, runtime.context), runtime)
        return ask_next(state, wish)

    def grouped(self, sentences: Sequence[SentenceState]) -> Sequence[Sequence[SentenceState]]:
        return windows_of(sentences, FUSED_WINDOW, shares_headings)

    async def find_facts(self, group: Sequence[SentenceState], context: CheckContext) -> list[PlacedFact]:
        """The facts of a window, those that need no search already settled.

        A sentence that a reply on several passes over is read again alone.
        """
        if group[0]["given"] is not None:
            return await read_in_batches(self.read_given, group[0], context)
        try:
            found = await self.stages.sentence_facts([task_of(sentence, context) for sentence in group], context)
        except FactloopError as error:
            if len(group) == 1 or not may_be_answered_alone(error):
                raise
            return await self.each_alone(group, context)
        placed = [
            self._placed(number, fact, sentence, context)
            for sentence, facts in zip(group, found, strict=True)
            for number, fact in enumerate(facts or ())
        ]
        passed_over = [sentence for sentence, facts in zip(group, found, strict=True) if facts is None]
        if len(group) == 1 or not passed_over:
            return placed
        return [*placed, *await self.each_alone(passed_over, context)]

    async def each_alone(self, sentences: Iterable[SentenceState], context: CheckContext) -> list[PlacedFact]:
        """The facts of each sentence by itself; one that cannot be read is unscored."""
        found = await together(self._alone(sentence, context) for sentence in sentences)
        return [fact for of_sentence in found for fact in of_sentence]

    async def _alone(self, sentence: SentenceState, context: CheckContext) -> list[PlacedFact]:
        try:
            return await self.find_facts([sentence], context)
        except ConfigError:
            raise
        except FactloopError as error:
            return unread(sentence, judgements.unscored(error), [(0, sentence["text"])])

    async def read_given(
        self, sentence: SentenceState, start: int, asked: Sequence[str], context: CheckContext
    ) -> list[PlacedFact]:
        """Given facts, the first at place `start`."""
        facts = await self.stages.given_facts(task_of(sentence, context), asked, context)
        pairs = zip(asked, facts, strict=True)
        return [
            self._placed(number, replace(fact, text=text), sentence, context)
            for number, (text, fact) in enumerate(pairs, start)
        ]

    def _placed(self, number: int, fact: FoundFact, sentence: SentenceState, context: CheckContext) -> PlacedFact:
        if fact.status == "irrelevant" and not context.prompt:
            fact = replace(fact, status="check")  # without a question no fact is irrelevant
        settled = self._settled_at_once(fact, gates=self.gates and context.gates)
        return place_fact(
            sentence,
            number,
            fact.text,
            self_contained=fact.self_contained,
            query=fact.query,
            relevant={"check": True, "irrelevant": False}.get(fact.status),
            judgement=settled,
        )

    def _settled_at_once(self, fact: FoundFact, *, gates: bool) -> Judgement | None:
        if fact.status == "irrelevant" and gates:
            return judgements.irrelevant(judgements.NO_CONNECTION, self.stages.name)
        if fact.status == "ambiguous":
            return judgements.ambiguous("The response leaves open who or what is meant.", self.stages.name)
        if fact.status == "other_language":
            return judgements.other_language(self.stages.name)
        return None

    async def conclude(self, case: Case, missing: str, context: CheckContext) -> Judgement:  # noqa: ARG002 - for those who ask once more
        """The verdict when no query brings anything new: nothing supports the claim. A model is not asked once more."""
        is_sentence = missing.endswith((".", "!", "?"))
        why = f"{missing} No search found more." if is_sentence else f"No evidence was found on: {missing}"
        return judgements.not_supported(why, (), self.stages.name, contradicted=False)


async def _as_it_stands(state: FactState) -> str:
    return ASSESS if state["pending"] is None else SEARCH


async def _unless_settled(state: FactState) -> str:
    return END if state["settled"] else SEARCH
