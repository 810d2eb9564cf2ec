"""The paper plan: SAFE's five stages, one call each (Wei et al. 2024, section 3 and appendix C).

Departures: facts that repeat another are judged once; the rounds of a claim end where all that its documents hold was
found; a stage that fails leaves the claim unscored, where the released code would drop it or go on with a guess. A
strict plan does without the first two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from factloop.agents.nodes import Route, Update
from factloop.agents.safe import judgements
from factloop.agents.safe.branch import LOOK, SEARCH, ClaimNode, ask_next, closed, search, settling, task_of
from factloop.agents.safe.claims import case_of
from factloop.agents.safe.context import CheckContext, SafeGraph
from factloop.agents.safe.stages import PaperStages, SentenceTask
from factloop.agents.safe.state import FactOutput, FactState, PlacedFact, SentenceState, place_fact
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.records import Judgement
from factloop.tools.calls.together import together

RELEVANCE, NEXT_QUERY, RATE = "relevance", "next_query", "rate"


@dataclass(frozen=True)
class PaperPlan:
    """The paper's plan, with the stages that fill it."""

    stages: PaperStages
    strict: bool = False
    """Whether every fact is judged, repeats too, and every round is gone through while there is a search to ask."""

    @property
    def merges_repeats(self) -> bool:
        return not self.strict

    @property
    def reads_code(self) -> bool:
        return self.stages.reads_code

    @property
    def searches_ahead(self) -> bool:
        return False

    @property
    def second_look(self) -> None:
        return None

    def grouped(self, sentences: Sequence[SentenceState]) -> Sequence[Sequence[SentenceState]]:
        """Each sentence by itself."""
        return [[sentence] for sentence in sentences]

    def branches(self, cases: Sequence[FactState]) -> Sequence[FactState]:
        """Each claim by itself."""
        return cases

    def build_claim_branch(self, *, max_searches: int, look: ClaimNode | None = None) -> SafeGraph:
        """`relevance`, then `next_query -> search` for `max_searches` rounds, then `rate`.

        The rounds end early where there is nothing left to search and, unless the plan is strict, where all there is to
        find was found.

        A first `look`, after `relevance`, settles the claim or leaves it to the rounds.
        """

        async def relevance(state: FactState, runtime: Runtime[CheckContext]) -> Update:
            claim, task = state["fact"]["self_contained"], task_of(state["task"], runtime.context)
            if await self.stages.relevance(claim, task, runtime.context):
                return {"relevant": True}
            if not runtime.context.gates:
                return {"relevant": False}
            judgement = judgements.irrelevant(judgements.NO_CONNECTION, self.stages.name)
            return {**closed({**state, "relevant": False}, judgement, runtime), "relevant": False}

        async def next_query(state: FactState, runtime: Runtime[CheckContext]) -> Update:
            case = case_of(
                state, task_of(state["task"], runtime.context), searches_left=max_searches - len(state["queries"])
            )
            return ask_next(state, await self.stages.next_query(case, runtime.context))

        async def rate(state: FactState, runtime: Runtime[CheckContext]) -> Update:
            if state["failure"] is not None and not state["evidence"]:
                return closed(state, Judgement.model_validate(state["failure"]), runtime)
            case = case_of(state, task_of(state["task"], runtime.context), searches_left=0)
            return closed(state, await self.stages.rate(case, runtime.context), runtime)

        async def after_search(state: FactState) -> str:
            goes_on = ("answered", "failed", "exhausted") if self.strict else ("answered", "failed")
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
        graph.add_conditional_edges(NEXT_QUERY, _unless_settled(SEARCH), [SEARCH, END])
        graph.add_conditional_edges(SEARCH, after_search, [NEXT_QUERY, RATE])
        graph.add_edge(RATE, END)
        return graph.compile(name="claim")

    async def find_facts(self, group: Sequence[SentenceState], context: CheckContext) -> list[PlacedFact]:
        """Splits unless the facts are given, then revises each; a fact whose revision fails is kept, unscored."""
        (sentence,) = group
        task = task_of(sentence, context)
        facts = await self.stages.split(task, context) if sentence["given"] is None else sentence["given"]
        revised = await together(self._revised(fact, task, context) for fact in facts)
        return [
            _placed(number, fact, result, sentence)
            for number, (fact, result) in enumerate(zip(facts, revised, strict=True))
        ]

    async def _revised(self, fact: str, task: SentenceTask, context: CheckContext) -> str | Judgement:
        try:
            return await self.stages.revise(fact, task, context)
        except ConfigError:
            raise
        except FactloopError as error:
            return judgements.unscored(error)


def _placed(number: int, fact: str, revised: str | Judgement, sentence: SentenceState) -> PlacedFact:
    if isinstance(revised, Judgement):
        return place_fact(sentence, number, fact, judgement=revised)
    return place_fact(sentence, number, fact, self_contained=revised)


def _unless_settled(onward: str) -> Route[FactState]:
    async def route(state: FactState) -> str:
        return END if state["settled"] else onward

    return route
