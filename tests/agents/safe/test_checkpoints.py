"""Checkpoints of the graphs: a run that stopped goes on from one, and what they hold is read by an allow-list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from factloop.agents.safe.fused import FusedPlan
from factloop.agents.safe.graph import SafePlan, build_safe_graph
from factloop.agents.safe.grounded import GroundedPlan
from factloop.agents.safe.paper import PaperPlan
from factloop.agents.safe.stages import JudgedFact, WindowReading
from factloop.agents.safe.state import CHECKPOINT_TYPES, NextQueries
from factloop.core.records import Claim, GivenFacts
from tests.agents.safe.scripted import (
    FusedScript,
    GroundedScript,
    PaperScript,
    ScriptedSearch,
    context_of,
    contradicted,
    fact,
    nothing_found,
    supported,
)

FIRST, SECOND = "Ada was a poet.", "She lived in Ulm."
RESPONSE = f"## Life\n\n{FIRST} {SECOND}"
GIVEN = [GivenFacts(sentence=FIRST, facts=(FIRST,)), GivenFacts(sentence=SECOND, facts=(SECOND,))]
THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}


def fused() -> SafePlan:
    facts = {FIRST: [fact(FIRST)], SECOND: [fact(SECOND), fact(FIRST)]}
    answers: dict[str, Any] = {FIRST: [supported()], SECOND: [NextQueries(("Ulm",), "the town"), contradicted()]}
    return FusedPlan(FusedScript(facts, answers))


def paper() -> SafePlan:
    queries: Any = {one: [NextQueries(("q",)), NextQueries(("r",))] for one in (FIRST, SECOND)}
    ratings: Any = {FIRST: [supported()], SECOND: [nothing_found()]}
    return PaperPlan(PaperScript({FIRST: [FIRST], SECOND: [SECOND]}, queries=queries, ratings=ratings))


def grounded() -> SafePlan:
    reading = WindowReading(
        [JudgedFact(0, FIRST, supported("p1")), JudgedFact(1, SECOND, nothing_found())], frozenset()
    )
    looks: Any = {one: [[contradicted("p1")] * 2] for one in (FIRST, SECOND)} | {SECOND: [[contradicted("p1")]]}
    return GroundedPlan(GroundedScript({}, readings={FIRST: [reading]}, looks=looks), results=2)


def comparable(claims: list[Claim]) -> list[dict[str, Any]]:
    undated: Any = {"evidence": {"__all__": {"retrieved_at"}}}
    return [claim.model_dump(mode="json", exclude=undated) for claim in claims]


@pytest.mark.parametrize("stop", ["read", "distinguish", "judge", "collect"])
@pytest.mark.parametrize(("plan", "facts"), [(fused, None), (paper, None), (paper, GIVEN), (grounded, None)])
async def test_a_run_that_stopped_goes_on_from_its_checkpoint(
    plan: Callable[[], SafePlan], stop: str, facts: list[GivenFacts] | None
) -> None:
    """What the checkpoint holds is read by the allow-list alone: other types would come back as dictionaries."""
    stop = stop if stop != "judge" else "look_again" if plan is grounded else "claim"
    context = context_of(ScriptedSearch(), prompt="Who was Ada?", response=RESPONSE)
    given: Any = {"facts": facts}
    whole = await build_safe_graph(plan(), max_searches=2).ainvoke(given, context=context)
    saver = InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=CHECKPOINT_TYPES))
    graph = build_safe_graph(plan(), max_searches=2)
    graph.checkpointer = saver
    one = context_of(ScriptedSearch(), prompt="Who was Ada?", response=RESPONSE)
    await graph.ainvoke(given, THREAD, context=one, interrupt_before=[stop])
    resumed = await graph.ainvoke(None, THREAD, context=one)
    assert comparable(resumed["claims"]) == comparable(whole["claims"])
    assert resumed["sentences_read"] == whole["sentences_read"]
