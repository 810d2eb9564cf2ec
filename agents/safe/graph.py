"""The SAFE agent as a LangGraph state machine: one graph a response, one subgraph a claim.

    split ─▶ decompose (one branch a sentence) ─▶ distinguish ─▶ claim (one branch a distinct fact) ─▶ collect

`distinguish` waits for all sentences, so that of equal facts always the first is judged, whatever arrives when. After
it no claim waits for another.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, Protocol

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Overwrite, Send, StreamWriter

from factloop.agents.safe.branch import Node, Update, build_search_node, of_stage
from factloop.agents.safe.cascade import CheapStage, build_look_node
from factloop.agents.safe.claims import claim_id, distinct, in_order, open_case, settle, unsplit
from factloop.agents.safe.given import given_sentences
from factloop.agents.safe.judgements import no_source, unscored
from factloop.agents.safe.state import Found, Input, Output, ResponseState, SentenceState
from factloop.errors import ConfigError, FactloopError
from factloop.records import Judgement
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.tracing import Value, span
from factloop.tools.linguistics.sentences import split_sentences
from factloop.tools.search.gateway import SearchGateway

SPLIT, DECOMPOSE, DISTINGUISH, CLAIM, COLLECT = "split", "decompose", "distinguish", "claim", "collect"


class SafePlan(Protocol):
    """One way through SAFE's loop: `fused.FusedPlan` or `paper.PaperPlan`."""

    async def find_facts(self, sentence: SentenceState) -> list[Found]: ...

    def build_claim_graph(
        self, search: Node, *, max_searches: int, look: Node | None = None
    ) -> CompiledStateGraph[Any]: ...


class SentenceNode(Protocol):
    def __call__(self, state: SentenceState, *, writer: StreamWriter) -> Awaitable[Update]: ...


class ResponseNode(Protocol):
    def __call__(self, state: ResponseState, *, writer: StreamWriter) -> Update: ...


def build_safe_graph(
    plan: SafePlan, searching: SearchGateway, meter: UsageMeter, *, max_searches: int, cheap: CheapStage | None = None
) -> CompiledStateGraph[Any]:
    """The compiled graph from `{prompt, response}` to `{claims}`; with `facts`, one claim for each of these.

    With `spans`, the claims of these sentences alone; the rest of the response is what they may refer to.

    Custom stream events (dictionaries, see `factloop.events`): response_split, claim_found, claim_searched,
    claim_judged. Without search tools every claim is found and none is judged.

    With a `cheap` stage it is a cascade: that settles what it can before the plan's own stages are asked. Raises
    ConfigError where there is nothing it could look at.
    """
    look = None if cheap is None or not searching.tools else build_look_node(cheap, searching, meter)
    stage: Literal["model"] | None = None if cheap is None else "model"
    claim = plan.build_claim_graph(build_search_node(searching, meter), max_searches=max_searches, look=look)
    graph = StateGraph(ResponseState, input_schema=Input, output_schema=Output)
    graph.add_node(SPLIT, _split)
    graph.add_node(DECOMPOSE, _build_decompose(plan), input_schema=SentenceState)
    graph.add_node(DISTINGUISH, _build_distinguish(stage, can_search=bool(searching.tools)))
    graph.add_node(CLAIM, claim)
    graph.add_node(COLLECT, _collect)
    graph.add_edge(START, SPLIT)
    graph.add_conditional_edges(SPLIT, _to_each_sentence, [DECOMPOSE, DISTINGUISH])
    graph.add_edge(DECOMPOSE, DISTINGUISH)
    graph.add_conditional_edges(DISTINGUISH, _build_to_each_claim(stage), [CLAIM, COLLECT])
    graph.add_edge(CLAIM, COLLECT)
    graph.add_edge(COLLECT, END)
    return graph.compile(name="safe")


def _split(state: ResponseState, *, writer: StreamWriter) -> Update:
    prompt, response = state.get("prompt"), state["response"]
    given, spans = state.get("facts"), state.get("spans")
    if given is not None:
        sentences = given_sentences(prompt, response, given)
    else:
        sentences = _sentences(prompt, response, _own_spans(response) if spans is None else spans)
    writer({"type": "response_split", "n_sentences": len(sentences)})
    # On a thread that ran before, the reduced keys still hold what it found.
    return {"sentences": sentences, "found": Overwrite([]), "settled": Overwrite([])}


def _own_spans(response: str) -> list[tuple[int, int]]:
    return [(sentence.start, sentence.end) for sentence in split_sentences(response)]


def _sentences(prompt: str | None, response: str, spans: Sequence[tuple[int, int]]) -> list[SentenceState]:
    return [
        SentenceState(
            prompt=prompt,
            response=response,
            number=number,
            text=response[start:end],
            start=start,
            end=end,
            given=None,
        )
        for number, (start, end) in enumerate(spans)
    ]


def _to_each_sentence(state: ResponseState) -> list[Send] | str:
    """To those that may state facts."""
    return [Send(DECOMPOSE, one) for one in state["sentences"] if one["given"] != []] or DISTINGUISH


def _build_decompose(plan: SafePlan) -> SentenceNode:
    async def decompose(state: SentenceState, *, writer: StreamWriter) -> Update:
        stage: dict[str, Value] = {"factloop.stage": DECOMPOSE, "factloop.sentence": state["number"] + 1}
        with span(f"stage {DECOMPOSE}", stage) as traced:
            traced.say("factloop.sentence.text", lambda: state["text"])
            try:
                found = await plan.find_facts(state)
            except ConfigError:
                raise
            except FactloopError as error:
                traced.failed(error)
                found = unsplit(state, unscored(error))
            traced.set({"factloop.n_claims": len(found)})
        for fact in found:
            writer(
                {
                    "type": "claim_found",
                    "claim_id": claim_id(fact["place"]),
                    "sentence": fact["sentence"],
                    "span": fact["span"],
                    "self_contained": fact["self_contained"],
                }
            )
        return {"found": found}

    return decompose


def _build_distinguish(stage: Literal["model"] | None, *, can_search: bool) -> ResponseNode:
    def distinguish(state: ResponseState, *, writer: StreamWriter) -> Update:
        """Settles what needs no search; leaves open one of each fact that does."""
        kept, repeats = distinct(state["found"], given=state.get("facts") is not None)
        settled = [
            settle(fact, of_stage(Judgement.model_validate(fact["judgement"]), stage))
            for fact in state["found"]
            if fact["judgement"] is not None and claim_id(fact["place"]) not in repeats
        ]
        if not can_search:
            settled += [settle(fact, no_source()) for fact in kept]
            kept = []
        for item in settled:
            writer({"type": "claim_judged", "claim": item["claim"]})
        return {"open": kept, "repeats": repeats, "settled": settled}

    return distinguish


def _build_to_each_claim(stage: Literal["model"] | None) -> Callable[[ResponseState], list[Send] | str]:
    def to_each_claim(state: ResponseState) -> list[Send] | str:
        tasks = {sentence["number"]: sentence for sentence in state["sentences"]}
        cases = (open_case(fact, tasks[fact["place"]["sentence"]], stage) for fact in state["open"])
        return [Send(CLAIM, case) for case in cases] or COLLECT

    return to_each_claim


def _collect(state: ResponseState, *, writer: StreamWriter) -> Update:
    claims = in_order(state["found"], state["settled"], state["repeats"])
    for claim in claims:
        if claim["duplicate_of"] is not None:
            writer({"type": "claim_judged", "claim": claim})
    return {"claims": claims, "facts": None, "spans": None}  # a thread that runs again without them is to split
