"""The paper plan: SAFE's five stages with one call each (Wei et al. 2024, section 3 and appendix C).

There are three departures. Repeated facts are judged once. A claim's rounds end once the search has found everything in
the documents. A failed stage leaves the claim unscored, whereas the released code drops the claim or continues with a
guess. The `safe` plan (`published.py`) makes only the last departure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from factloop.agents.nodes import Route, Update
from factloop.agents.safe import judgements
from factloop.agents.safe.claim import (
    LOOK,
    SEARCH,
    ClaimNode,
    ask_next,
    case_of,
    closed,
    or_unscored,
    search,
    settling,
    unanswered,
)
from factloop.agents.safe.graph import SafePlan
from factloop.agents.safe.stages import CheckContext, PaperStages, SafeGraph, SplitSentence
from factloop.agents.safe.state import Fact, FactOutput, FactState, SentenceTask, settled_fact
from factloop.tools.calls.together import together

RELEVANCE, NEXT_QUERY, RATE = "relevance", "next_query", "rate"


@dataclass(frozen=True)
class PaperPlan(SafePlan):
    stages: PaperStages
    ends_early = True

    def build_claim_branch(self, *, max_searches: int, look: ClaimNode | None = None) -> SafeGraph:
        """Builds the graph of a claim: `relevance`, then `max_searches` rounds of `next_query -> search`, then `rate`.

        The rounds end early if no search tool works, if everything in the documents has been found, or if the model has
        no further query. A `look` node comes after `relevance` and may settle the claim.
        """

        async def relevance(state: FactState, runtime: Runtime[CheckContext]) -> Update:
            if await self.stages.relevance(state["fact"].self_contained, state["task"], runtime.context):
                return {"relevant": True}
            if not runtime.context.gates:
                return {"relevant": False}
            judgement = judgements.irrelevant(self.stages.name)
            return {**closed({**state, "relevant": False}, judgement, runtime), "relevant": False}

        async def next_query(state: FactState, runtime: Runtime[CheckContext]) -> Update:
            case = case_of(state, searches_left=max_searches - len(state["queries"]))
            wish = await self.stages.next_query(case, runtime.context)
            return ask_next(state, wish) if wish.queries else {"pending": None}

        async def rate(state: FactState, runtime: Runtime[CheckContext]) -> Update:
            if (failure := unanswered(state)) is not None:
                return closed(state, failure, runtime)
            return closed(state, await self.stages.rate(case_of(state, searches_left=0), runtime.context), runtime)

        async def after_query(state: FactState) -> str:
            return END if state["settled"] else RATE if state["pending"] is None else SEARCH

        async def after_search(state: FactState) -> str:
            goes_on = ("answered", "failed") if self.ends_early else ("answered", "failed", "exhausted")
            more = len(state["queries"]) < max_searches and state["last_search"] in goes_on
            return NEXT_QUERY if more else RATE

        graph = StateGraph(FactState, context_schema=CheckContext, output_schema=FactOutput)
        graph.add_node(RELEVANCE, settling(RELEVANCE, relevance))
        graph.add_node(NEXT_QUERY, settling(NEXT_QUERY, next_query))
        graph.add_node(SEARCH, search)
        graph.add_node(RATE, settling(RATE, rate))
        graph.add_edge(START, RELEVANCE)
        first = NEXT_QUERY if look is None else LOOK
        graph.add_conditional_edges(RELEVANCE, _unless_settled(first), [first, END])
        if look is not None:
            graph.add_node(LOOK, look)
            graph.add_conditional_edges(LOOK, _unless_settled(NEXT_QUERY), [NEXT_QUERY, END])
        graph.add_conditional_edges(NEXT_QUERY, after_query, [SEARCH, RATE, END])
        graph.add_conditional_edges(SEARCH, after_search, [NEXT_QUERY, RATE])
        graph.add_edge(RATE, END)
        return graph.compile(name="claim")

    async def find_facts(self, group: Sequence[SentenceTask], context: CheckContext) -> list[Fact]:
        """Splits the sentence, unless it has supplied facts, and revises each fact. A failed revision is unscored."""
        (task,) = group
        split = await self.stages.split(task, context) if task.given is None else SplitSentence(task.given)
        found = await together(self._revised(task, number, fact, context) for number, fact in enumerate(split.facts))
        return [replace(fact, is_whole=split.is_whole) for fact in found]

    async def _revised(self, task: SentenceTask, number: int, fact: str, context: CheckContext) -> Fact:
        async def revised() -> Fact:
            return Fact(task.number, number, fact, await self.stages.revise(fact, task, context), "open")

        return await or_unscored(revised(), lambda judgement: settled_fact(task, number, fact, judgement))


def _unless_settled(onward: str) -> Route[FactState]:
    async def route(state: FactState) -> str:
        return END if state["settled"] else onward

    return route
