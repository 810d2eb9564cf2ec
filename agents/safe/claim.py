"""Implements what all plans do for each claim: search for evidence, record the verdict, and handle errors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from langgraph.runtime import Runtime

from factloop.agents.nodes import Node, Update
from factloop.agents.safe.judgements import unless_unanswered, unscored
from factloop.agents.safe.passages import fresh_part, is_all_found, part_of
from factloop.agents.safe.stages import Case, CheckContext, tell
from factloop.agents.safe.state import BunchState, FactState, NextQueries, settle, updated, with_stage
from factloop.core.errors import (
    BudgetExceeded,
    ConfigError,
    DeadlineExceeded,
    FactloopError,
    ModelOutputError,
    ToolError,
)
from factloop.core.factuality import sameness
from factloop.core.records import Evidence, Judgement
from factloop.tools.calls.together import together
from factloop.tools.calls.tracing import Span, current_span, span
from factloop.tools.search.base import SearchHit
from factloop.tools.search.gateway import SearchAnswer

T = TypeVar("T")

LOOK, SEARCH = "look", "search"
REQUEST_REFUSED = frozenset({400, 413, 422})
"""HTTP statuses with which servers reject a request's content, for example because it is too long."""

ClaimNode = Node[FactState, CheckContext]
BunchNode = Node[BunchState, CheckContext]
"""A node that takes several claims through every step."""


def settling(stage: str, node: ClaimNode) -> ClaimNode:
    """Wraps a node so that an error leaves its claim unscored and does not stop the branches of other claims.

    A ConfigError still stops the run. If the disk fails, for example, further answers would be paid for but not saved.
    """

    async def guarded(state: FactState, runtime: Runtime[CheckContext]) -> Update:
        with stage_span(stage, state):
            try:
                runtime.context.meter.allowance.refuse_late()
                return await node(state, runtime)
            except ConfigError:
                raise
            except FactloopError as error:
                return closed(state, unscored(error), runtime)

    return guarded


async def or_unscored(work: Awaitable[T], otherwise: Callable[[Judgement], T]) -> T:
    """Returns the result of `work`, or of `otherwise(unscored judgement)` if it fails. Raises ConfigError."""
    try:
        return await work
    except ConfigError:
        raise
    except FactloopError as error:
        return otherwise(unscored(error))


def stage_span(stage: str, state: FactState) -> Span:
    return span(f"stage {stage}", {"factloop.stage": stage, "factloop.claim.id": state["fact"].id})


def closed(state: FactState, judgement: Judgement, runtime: Runtime[CheckContext]) -> Update:
    """Settles the claim with the judgement, or as unscored if a failed search makes the judgement unreliable."""
    judgement = with_stage(unless_unanswered(judgement, state["failure"]), state["stage"])
    claim = settle(state["fact"], state["task"], judgement, state)
    current_span().set({"factloop.verdict": judgement.verdict, "factloop.unscored_reason": judgement.unscored_reason})
    current_span().say("factloop.claim.text", lambda: claim.self_contained)
    tell(runtime, "claim_judged", claim=claim)
    return {"settled": [claim], "pending": None}


def case_of(state: FactState, *, searches_left: int) -> Case:
    return Case(
        claim=state["fact"].self_contained,
        task=state["task"],
        queries=tuple(state["queries"]),
        evidence=tuple(state["evidence"]),
        searches_left=max(0, searches_left),
        fruitless=tuple(state["fruitless"]),
    )


def not_yet_asked(state: FactState, wish: NextQueries, *, most: int) -> NextQueries | None:
    """Returns up to `most` of the requested queries that were not made before, or None if there are none.

    If the request names a tool, only queries to that tool count as made.
    """
    asked = zip(state["queries"], state["tools"], strict=True)
    known = {sameness(query) for query, tool in asked if wish.tool in (None, tool)}
    fresh: list[str] = []
    for query in wish.queries:
        if query.strip() and sameness(query) not in known:
            known.add(sameness(query))
            fresh.append(query)
    return replace(wish, queries=tuple(fresh[:most])) if fresh[:most] else None


def may_be_answered_alone(error: FactloopError) -> bool:
    """Whether a failed request about several items may succeed if it is split into shorter requests."""
    is_refused = isinstance(error, ToolError) and error.status in REQUEST_REFUSED
    return is_refused or isinstance(error, ModelOutputError)


def unanswered(state: FactState) -> Judgement | None:
    """Returns the search failure if it left no evidence to judge from, otherwise None."""
    return None if state["evidence"] else state["failure"]


def searches_left(state: FactState, most: int) -> int:
    """Returns how many queries may still be made. It is 0 if the search failed or has already returned everything."""
    return max(0, most - len(state["queries"])) if state["last_search"] == "answered" else 0


def ask_next(state: FactState, wish: NextQueries) -> Update:
    return {"pending": wish, "missing": [*state["missing"], *([wish.missing] if wish.missing else [])]}


async def search(state: FactState, runtime: Runtime[CheckContext]) -> Update:
    """Sends the pending queries concurrently to a search tool. If that tool fails, the other tools are tried in turn.

    A failure is recorded even if another tool answers, because missing evidence then says nothing about the claim.
    """
    assert state["pending"] is not None
    wish, gateway = state["pending"], runtime.context.searching
    tools = gateway.in_turn(wish.tool, state["rounds"])
    asked: dict[str, Any] = {
        "queries": [*state["queries"], *wish.queries],
        "tools": [*state["tools"], *[tools[0].name] * len(wish.queries)],
        "pending": None,
        "rounds": state["rounds"] + 1,
        "is_barren": True,
        "last_search": "answered",
    }

    async def ask(query: str) -> tuple[SearchAnswer | None, FactloopError | None]:
        failure: FactloopError | None = None
        for tool in tools:
            try:
                return await gateway.search(tool, query, stage=SEARCH, meter=runtime.context.meter), failure
            except ConfigError:
                raise
            except FactloopError as error:
                failure = failure or error
                if isinstance(error, BudgetExceeded | DeadlineExceeded):
                    break
        return None, failure

    first, *others = wish.queries
    answers = [await ask(first)] if not others else await together(ask(query) for query in wish.queries)
    for query, (found, failure) in zip(wish.queries, answers, strict=True):
        if failure is not None:
            asked |= {"failure": unscored(failure), "is_barren": False}
        if found is None:
            asked["last_search"] = "given_up" if gateway.is_given_up else "failed"
            continue
        gathered = updated(state, asked)
        fresh = fresh_evidence(gathered, found)
        asked["evidence"] = [*gathered["evidence"], *fresh]
        if fresh or _was_found_before(state, found.query):
            asked["is_barren"] = False
        else:
            asked["fruitless"] = [*gathered["fruitless"], query]
        tell(runtime, "claim_searched", claim_id=state["fact"].id, query=query, evidence=fresh)
    if asked["last_search"] == "answered" and is_all_found(gateway.tools, asked.get("evidence", ())):
        asked["last_search"] = "exhausted"
    return asked


def _was_found_before(state: FactState, query: str) -> bool:
    return not state["queries"] and any(item.query == query for item in state["evidence"])


def fresh_evidence(state: FactState, found: SearchAnswer) -> list[Evidence]:
    """Converts hits to evidence, without any text that the claim's evidence already contains."""
    known: defaultdict[tuple[str, int | None], list[str]] = defaultdict(list)
    for item in state["evidence"]:
        known[_of_document(item)].append(item.passage)
    held = len(state["evidence"])
    fresh: list[Evidence] = []
    for rank, hit in enumerate(found.hits, 1):
        of_document = known[_of_document(hit)]
        if passage := fresh_part(hit.passage, of_document):
            of_document.append(passage)
            name, when = f"{state['fact'].id}-e{held + len(fresh) + 1}", found.retrieved_at
            whole = Evidence(**dict(hit), id=name, query=found.query, rank=rank, retrieved_at=when)
            fresh.append(whole.model_copy(update=part_of(whole, passage)))
    return fresh


def _of_document(item: Evidence | SearchHit) -> tuple[str, int | None]:
    return item.source, None if item.document is None else item.document.index
