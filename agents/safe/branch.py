"""The shared work of all plans' branches: searching, settling, and turning errors into unscored claims."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, replace
from typing import Any, Literal

from langgraph.runtime import Runtime

from factloop.agents.nodes import Node, Update
from factloop.agents.safe.claims import claim_id, open_case, settle
from factloop.agents.safe.context import CheckContext, tell
from factloop.agents.safe.judgements import unless_unanswered, unscored
from factloop.agents.safe.passages import is_all_found
from factloop.agents.safe.repeats import fresh_part
from factloop.agents.safe.stages import NextQueries, SentenceTask
from factloop.agents.safe.state import BunchState, FactState, PlacedClaim, PlacedFact, SentenceState
from factloop.core.errors import (
    BudgetExceeded,
    ConfigError,
    DeadlineExceeded,
    FactloopError,
    ModelOutputError,
    ToolError,
)
from factloop.core.records import Evidence, Judgement
from factloop.core.sameness import sameness
from factloop.tools.calls.together import together
from factloop.tools.calls.tracing import Span, current_span, span
from factloop.tools.search.gateway import SearchAnswer

LOOK, SEARCH = "look", "search"
REQUEST_REFUSED = frozenset({400, 413, 422})
"""Statuses by which servers refuse a request for what it holds, such as more than the model's context."""

ClaimNode = Node[FactState, CheckContext]
"""A step of a claim's branch."""
BunchNode = Node[BunchState, CheckContext]
"""The whole branch of several claims in one step."""


def settling(stage: str, node: ClaimNode) -> ClaimNode:
    """The node, with a failure inside it recorded as the claim's judgement: an exception would stop its siblings.

    It is traced under the name of its stage. A ConfigError still stops the run. It usually comes before any claim is
    judged. A failing disk can raise one later; going on would pay for answers that cannot be kept.
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


def stage_span(stage: str, state: FactState) -> Span:
    """Traces a stage of one claim."""
    return span(f"stage {stage}", {"factloop.stage": stage, "factloop.claim.id": claim_id(state["fact"]["place"])})


def closed(state: FactState, judgement: Judgement, runtime: Runtime[CheckContext]) -> Update:
    """Ends the branch with the judgement, or unscored where a failed search leaves that judgement unsafe."""
    failure = None if state["failure"] is None else Judgement.model_validate(state["failure"])
    judgement = unless_unanswered(judgement, failure)
    done = settle(state["fact"], judgement_with_stage(judgement, state["stage"]), state)
    current_span().set({"factloop.verdict": judgement.verdict, "factloop.unscored_reason": judgement.unscored_reason})
    current_span().say("factloop.claim.text", lambda: state["fact"]["self_contained"])
    tell(runtime, {"type": "claim_judged", "claim": done["claim"]})
    return {"settled": [done], "pending": None}


def judgement_with_stage(judgement: Judgement, stage: Literal["cheap", "model"] | None) -> Judgement:
    """A verdict with the stage that gave it, in a cascade."""
    is_open = judgement.verdict is not None and judgement.stage is None and stage is not None
    return judgement.model_copy(update={"stage": stage}) if is_open else judgement


def claim_with_stage(item: PlacedClaim, stage: Literal["cheap", "model"] | None) -> PlacedClaim:
    """The claim with the stage of its verdict, as for `judgement_with_stage`."""
    judgement = judgement_with_stage(Judgement.model_validate(item["claim"]["judgement"]), stage)
    return {**item, "claim": {**item["claim"], "judgement": judgement.model_dump(mode="json")}}


def task_of(sentence: SentenceState, context: CheckContext) -> SentenceTask:
    return SentenceTask(
        prompt=context.prompt,
        response=context.response,
        sentence=sentence["text"],
        start=sentence["start"],
        end=sentence["end"],
        above=sentence["above"],
    )


def not_yet_asked(state: FactState, wish: NextQueries, *, most: int) -> NextQueries | None:
    """The wish without the queries that were already asked, at most `most` of them; None if no query remains.

    Where it names a tool, those count that were put to that tool.
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
    """Whether a request on several things failed for their number: one on each is shorter, and so is its reply."""
    is_refused = isinstance(error, ToolError) and error.status in REQUEST_REFUSED
    return is_refused or isinstance(error, ModelOutputError)


def is_unanswered(state: FactState) -> bool:
    """Whether a search failed, and nothing is there to judge by."""
    return state["failure"] is not None and not state["evidence"]


def searches_left(state: FactState, most: int) -> int:
    """How many more queries may be asked: none once one had no tool to answer it, or brought all that there is."""
    return max(0, most - len(state["queries"])) if state["last_search"] == "answered" else 0


def ask_next(state: FactState, wish: NextQueries) -> Update:
    return {"pending": asdict(wish), "missing": [*state["missing"], *([wish.missing] if wish.missing else [])]}


def search_ahead(fact: PlacedFact, sentence: SentenceState, runtime: Runtime[CheckContext]) -> None:
    """Begins the first search of a fact, where it is to be searched for and a server answers."""
    tools = runtime.context.searching.tools
    if fact["status"] == "open" and fact["query"].strip() and tools and not tools[0].is_local:
        runtime.context.ahead.begin(claim_id(fact["place"]), _ask(open_case(fact, sentence), runtime))


async def search(state: FactState, runtime: Runtime[CheckContext]) -> Update:
    """Searches by the pending queries, where the first was not asked ahead: then what that brings."""
    ahead = None if state["rounds"] else await runtime.context.ahead.result(claim_id(state["fact"]["place"]))
    return await _ask(state, runtime) if ahead is None else ahead


async def _ask(state: FactState, runtime: Runtime[CheckContext]) -> Update:
    """Puts the pending queries to a search tool, all at once; where that fails, to the others one after the other.

    A failure is kept even where another tool answers: "nothing was found" is then no verdict.
    """
    assert state["pending"] is not None
    wish, gateway = NextQueries(**state["pending"]), runtime.context.searching
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
        """The hits of the first tool that answered, and the first failure."""
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
            asked |= {"failure": unscored(failure).model_dump(mode="json"), "is_barren": False}
        if found is None:
            asked["last_search"] = "given_up" if gateway.is_given_up else "failed"
            continue
        gathered: FactState = {**state, **asked}  # type: ignore[typeddict-item]  # keys of the state, all of them
        fresh = fresh_evidence(gathered, found)
        asked["evidence"] = [*gathered["evidence"], *fresh]
        if fresh or _was_found_before(state, found.query):
            asked["is_barren"] = False
        else:
            asked["fruitless"] = [*gathered["fruitless"], query]
        event = {"type": "claim_searched", "claim_id": claim_id(state["fact"]["place"]), "query": query}
        tell(runtime, {**event, "evidence": fresh})
    if asked["last_search"] == "answered" and is_all_found(gateway.tools, asked.get("evidence", ())):
        asked["last_search"] = "exhausted"
    return asked


def _was_found_before(state: FactState, query: str) -> bool:
    """Whether a cascade's look put this query to the documents, and holds what it found there."""
    return not state["queries"] and any(item["query"] == query for item in state["evidence"])


def fresh_evidence(state: FactState, found: SearchAnswer) -> list[dict[str, Any]]:
    """The hits that the claim does not have yet, as evidence."""
    known: defaultdict[str, list[str]] = defaultdict(list)
    for item in state["evidence"]:
        known[item["source"]].append(item["passage"])
    name, held = claim_id(state["fact"]["place"]), len(state["evidence"])
    fresh: list[dict[str, Any]] = []
    for rank, hit in enumerate(found.hits, 1):
        if passage := fresh_part(hit.passage, known[hit.source]):
            known[hit.source].append(passage)
            evidence = Evidence(
                id=f"{name}-e{held + len(fresh) + 1}",
                source=hit.source,
                title=hit.title,
                section=hit.section if hit.passage.startswith(passage) else None,
                passage=passage,
                query=found.query,
                rank=rank,
                published=hit.published,
                retrieved_at=found.retrieved_at,
            )
            fresh.append(evidence.model_dump(mode="json"))
    return fresh
