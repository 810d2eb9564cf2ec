"""What the branches of both plans share: searching, settling, and turning errors into unscored claims."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import asdict
from typing import Any, Literal, Protocol

from langgraph.types import StreamWriter

from factloop.agents.safe.claims import claim_id, sameness, settle
from factloop.agents.safe.judgements import unscored
from factloop.agents.safe.stages import NextQuery, SentenceTask
from factloop.agents.safe.state import FactState, SentenceState
from factloop.errors import ConfigError, FactloopError
from factloop.records import Evidence, Judgement, Verdict
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.tracing import current_span, span
from factloop.tools.search.gateway import Found, SearchGateway

Update = Mapping[str, Any]

LOOK, SEARCH = "look", "search"


class Node(Protocol):
    """A step of a claim's branch: a partial update of its state, events to the writer."""

    def __call__(self, state: FactState, *, writer: StreamWriter) -> Awaitable[Update]: ...


def settling(stage: str, node: Node) -> Node:
    """The node, with a failure inside it recorded as the claim's judgement: an exception would stop its siblings.

    It is traced under the name of its stage. A ConfigError still stops the run. Nearly always nothing has been judged
    yet; a disk that fails raises it at any time, and judging on would pay for answers that cannot be kept.
    """

    async def guarded(state: FactState, *, writer: StreamWriter) -> Update:
        with span(f"stage {stage}", {"factloop.stage": stage, "factloop.claim.id": claim_id(state["fact"]["place"])}):
            try:
                return await node(state, writer=writer)
            except ConfigError:
                raise
            except FactloopError as error:
                return closed(state, unscored(error), writer)

    return guarded


def closed(state: FactState, judgement: Judgement, writer: StreamWriter) -> Update:
    """Ends the branch with a judgement.

    "Nothing was found" is a verdict only where every search was answered; else the failed search stands as the reason.
    """
    nothing_found = judgement.verdict is Verdict.NOT_SUPPORTED and not judgement.contradicted
    if nothing_found and state["failure"] is not None:
        judgement = Judgement.model_validate(state["failure"])
    done = settle(state["fact"], of_stage(judgement, state["stage"]), state)
    current_span().set({"factloop.verdict": judgement.verdict, "factloop.unscored_reason": judgement.unscored_reason})
    current_span().say("factloop.claim.text", lambda: state["fact"]["self_contained"])
    writer({"type": "claim_judged", "claim": done["claim"]})
    return {"settled": [done], "pending": None}


def of_stage(judgement: Judgement, stage: Literal["cheap", "model"] | None) -> Judgement:
    """A verdict with the stage that gave it, in a cascade."""
    is_open = judgement.verdict is not None and judgement.stage is None and stage is not None
    return judgement.model_copy(update={"stage": stage}) if is_open else judgement


def task_of(sentence: SentenceState) -> SentenceTask:
    return SentenceTask(sentence["prompt"], sentence["response"], sentence["text"], sentence["start"], sentence["end"])


def already_asked(state: FactState, query: str) -> bool:
    return sameness(query) in {sameness(asked) for asked in state["queries"]}


def ask_next(state: FactState, wish: NextQuery) -> Update:
    return {"pending": asdict(wish), "missing": [*state["missing"], *([wish.missing] if wish.missing else [])]}


def build_search_node(gateway: SearchGateway, meter: UsageMeter) -> Node:
    """The node that puts the pending query to a search tool."""

    async def search(state: FactState, *, writer: StreamWriter) -> Update:
        assert state["pending"] is not None
        wish = NextQuery(**state["pending"])
        tool = gateway.pick(wish.tool, len(state["queries"]))
        asked = {"queries": [*state["queries"], wish.query], "pending": None}
        try:
            found = await gateway.search(tool, wish.query, stage=SEARCH, meter=meter)
        except ConfigError:
            raise
        except FactloopError as error:
            return {**asked, "failure": unscored(error).model_dump(mode="json")}
        fresh = fresh_evidence(state, found)
        writer({"type": "claim_searched", "claim_id": claim_id(state["fact"]["place"]), "query": wish.query,
                "evidence": fresh})  # fmt: skip
        return {**asked, "evidence": [*state["evidence"], *fresh]}

    return search


def fresh_evidence(state: FactState, found: Found) -> list[dict[str, Any]]:
    """The hits that the claim does not hold yet, as evidence."""
    known = {(item["source"], item["passage"]) for item in state["evidence"]}
    name, held = claim_id(state["fact"]["place"]), len(state["evidence"])
    fresh: list[dict[str, Any]] = []
    for rank, hit in enumerate(found.hits, 1):
        if (hit.source, hit.passage) not in known:
            known.add((hit.source, hit.passage))
            evidence = Evidence(
                id=f"{name}-e{held + len(fresh) + 1}",
                source=hit.source,
                title=hit.title,
                passage=hit.passage,
                query=found.query,
                rank=rank,
                published=hit.published,
                retrieved_at=found.retrieved_at,
            )
            fresh.append(evidence.model_dump(mode="json"))
    return fresh
