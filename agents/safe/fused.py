"""The fused plan: one call for each sentence, one for each round of a claim, and a stop as soon as it is settled."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StreamWriter

from factloop.agents.safe import judgements
from factloop.agents.safe.branch import LOOK, SEARCH, Node, Update, already_asked, ask_next, closed, settling, task_of
from factloop.agents.safe.claims import case_of
from factloop.agents.safe.given import unread
from factloop.agents.safe.stages import FoundFact, FusedStages, NextQuery
from factloop.agents.safe.state import FactOutput, FactState, Found, Place, SentenceState
from factloop.errors import ConfigError, FactloopError
from factloop.records import Judgement

ASSESS = "assess"
GIVEN_AT_ONCE = 12
"""Given facts of a sentence that one call reads: the reply has a bound, and what it fails on is lost together."""


@dataclass(frozen=True)
class FusedPlan:
    """The fused plan, with the stages that fill it."""

    stages: FusedStages
    name: ClassVar[Literal["fused"]] = "fused"

    def build_claim_graph(
        self, search: Node, *, max_searches: int, look: Node | None = None
    ) -> CompiledStateGraph[Any]:
        """`search -> assess`, round after round, until the claim is settled or `max_searches` queries were asked.

        A first `look` settles it before all that, or leaves it.
        """

        async def assess(state: FactState, *, writer: StreamWriter) -> Update:
            if state["failure"] is not None and not state["evidence"]:
                return closed(state, Judgement.model_validate(state["failure"]), writer)
            case = case_of(state, may_search=state["failure"] is None and len(state["queries"]) < max_searches)
            step = await self.stages.assess(case)
            if isinstance(step, Judgement):
                return closed(state, step, writer)
            if case.may_search and not already_asked(state, step.query):
                return ask_next(state, step)
            return closed(state, self._nothing_more(step), writer)

        graph = StateGraph(FactState, output_schema=FactOutput)
        graph.add_node(SEARCH, search)
        graph.add_node(ASSESS, settling(ASSESS, assess))
        if look is None:
            graph.add_edge(START, SEARCH)
        else:
            graph.add_node(LOOK, look)
            graph.add_edge(START, LOOK)
            graph.add_conditional_edges(LOOK, _unless_settled, [SEARCH, END])
        graph.add_edge(SEARCH, ASSESS)
        graph.add_conditional_edges(ASSESS, _unless_settled, [SEARCH, END])
        return graph.compile(name="claim")

    async def find_facts(self, sentence: SentenceState) -> list[Found]:
        """The facts of one sentence, those that need no search already settled."""
        given = sentence["given"]
        if given is not None:
            starts = range(0, len(given), GIVEN_AT_ONCE)
            parts = await asyncio.gather(*(self._read(start, given, sentence) for start in starts))
            return [fact for part in parts for fact in part]
        facts = await self.stages.sentence_facts(task_of(sentence))
        return [self._placed(number, fact, sentence) for number, fact in enumerate(facts)]

    async def _read(self, start: int, given: Sequence[str], sentence: SentenceState) -> list[Found]:
        """The given facts from the place `start`; where they cannot be read each is there, unscored."""
        asked = given[start : start + GIVEN_AT_ONCE]
        try:
            facts = await self.stages.given_facts(task_of(sentence), asked)
        except ConfigError:
            raise
        except FactloopError as error:
            return unread(sentence, judgements.unscored(error), enumerate(asked, start))
        pairs = zip(asked, facts, strict=True)
        return [
            self._placed(number, replace(fact, text=text), sentence) for number, (text, fact) in enumerate(pairs, start)
        ]

    def _placed(self, number: int, fact: FoundFact, sentence: SentenceState) -> Found:
        settled = self._settled_at_once(fact)
        return Found(
            place=Place(sentence=sentence["number"], fact=number),
            sentence=sentence["text"],
            span=(sentence["start"], sentence["end"]),
            text=fact.text,
            self_contained=fact.self_contained,
            status="open" if settled is None else "settled",
            query=fact.query,
            relevant={"check": True, "irrelevant": False, "ambiguous": None}[fact.status],
            judgement=None if settled is None else settled.model_dump(mode="json"),
        )

    def _settled_at_once(self, fact: FoundFact) -> Judgement | None:
        if fact.status == "irrelevant":
            return judgements.irrelevant(judgements.NO_CONNECTION, self.stages.name)
        if fact.status == "ambiguous":
            return judgements.ambiguous("The response leaves open who or what is meant.", self.stages.name)
        return None

    def _nothing_more(self, wish: NextQuery) -> Judgement:
        """The judge asks for what was asked already: the evidence does not support the claim, and no more will come."""
        rationale = f"No evidence was found on: {wish.missing or wish.query}"
        return judgements.not_supported(rationale, (), self.stages.name, contradicted=False)


def _unless_settled(state: FactState) -> str:
    return END if state["settled"] else SEARCH
