"""The SAFE agent as a LangGraph state machine: one graph for all responses, one branch a claim.

    split ─▶ read ─▶ distinguish ─┬▶ claim ──────┬▶ gather ─▶ collect
                                  └▶ look again ─┘

`read` has a branch a sentence or window, `claim` one a distinct fact, `look again` one a batch of facts. The offline
rules, for which a step of the graph takes longer than its work, take many sentences and facts a branch.
`distinguish` waits for all sentences, so that of equal facts always the first is judged, whatever arrives when; the
first searches of a plan that `searches_ahead` do not wait for that, nor it for them. After it no claim waits for
another, but for those that a plan looks at again together; what such a look leaves open goes to a branch of its own.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, Protocol

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Overwrite, Send

from factloop.agents.nodes import Node, Route, ThreadNode, Update
from factloop.agents.safe.branch import BunchNode, ClaimNode, claim_with_stage, judgement_with_stage, search_ahead
from factloop.agents.safe.claims import (
    claim_id,
    distinct,
    in_order,
    open_case,
    reopened,
    sentences_read,
    settle,
    unmerged,
    unsplit,
)
from factloop.agents.safe.context import CheckContext, SafeGraph, tell
from factloop.agents.safe.given import given_sentences, left_out
from factloop.agents.safe.judgements import no_source, unscored
from factloop.agents.safe.state import (
    BatchState,
    BunchState,
    FactState,
    PlacedClaim,
    PlacedFact,
    ResponseState,
    SafeInput,
    SafeOutput,
    SentenceState,
    WindowState,
    sentence_state,
)
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.records import Judgement, NoClaim
from factloop.tools.calls.together import together
from factloop.tools.calls.tracing import Value, span
from factloop.tools.linguistics.fences import is_code_alone
from factloop.tools.linguistics.outline import Part, read_outline
from factloop.tools.linguistics.silence import silence_of

SPLIT, READ, DISTINGUISH, CLAIM = "split", "read", "distinguish", "claim"
LOOK_AGAIN, GATHER, COLLECT = "look_again", "gather", "collect"


class SecondLook(Protocol):
    """Looks at several claims at once."""

    def batches(self, facts: Sequence[PlacedFact]) -> Sequence[Sequence[PlacedFact]]:
        """The batches of open facts that are to be looked at again together."""
        ...

    async def look_again(
        self, facts: Sequence[PlacedFact], sentences: Sequence[SentenceState], context: CheckContext
    ) -> list[PlacedClaim]:
        """The claims of a batch that it could settle; `sentences` are theirs, in the same order."""
        ...


class SafePlan(Protocol):
    """One way through SAFE's loop: `fused.FusedPlan`, `paper.PaperPlan` or `grounded.GroundedPlan`."""

    @property
    def reads_code(self) -> bool:
        """Whether its judge can tell what code states."""
        ...

    @property
    def merges_repeats(self) -> bool:
        """Whether of facts that say the same only the first is judged."""
        ...

    def grouped(self, sentences: Sequence[SentenceState]) -> Sequence[Sequence[SentenceState]]:
        """The sentences, in groups that are read together."""
        ...

    async def find_facts(self, group: Sequence[SentenceState], context: CheckContext) -> list[PlacedFact]:
        """The facts of a group. Raises FactloopError if no sentence of the group could be read."""
        ...

    @property
    def searches_ahead(self) -> bool:
        """Whether the reading of a sentence gives queries, which are asked while longer sentences are still read."""
        ...

    @property
    def second_look(self) -> SecondLook | None:
        """Looks at open facts together before any goes to a branch of its own; None where the plan has none."""
        ...

    def branches(self, cases: Sequence[FactState]) -> Sequence[FactState | BunchState]:
        """The claims to be judged, as inputs of a branch: one each, or some together."""
        ...

    def build_claim_branch(self, *, max_searches: int, look: ClaimNode | None = None) -> SafeGraph | BunchNode:
        """A branch: the subgraph of one claim, or a node for some together."""
        ...


def build_safe_graph(plan: SafePlan, *, max_searches: int, look: ClaimNode | None = None) -> SafeGraph:
    """The compiled graph from the text of a `CheckContext` to `{claims, sentences_read}`.

    With `facts`, one claim for each of these; with `spans`, the claims of these sentences alone, the rest of the
    response being what they may refer to.

    Custom stream events (dictionaries, see `factloop.core.events`): response_split, claim_found, claim_searched,
    claim_judged. Without search tools in the context every claim is found and none is judged.

    With a `look` it is a cascade: that node settles what it can before the plan's own stages are asked.
    """
    second = plan.second_look
    stage: Literal["model"] | None = None if look is None else "model"
    graph = StateGraph(ResponseState, context_schema=CheckContext, input_schema=SafeInput, output_schema=SafeOutput)
    graph.add_node(SPLIT, _build_split(plan))
    graph.add_node(READ, _build_read(plan, look), input_schema=WindowState)
    graph.add_node(DISTINGUISH, _build_distinguish(plan, stage, look))
    graph.add_node(CLAIM, plan.build_claim_branch(max_searches=max_searches, look=look))
    graph.add_node(GATHER, _gather)
    graph.add_node(COLLECT, _collect)
    graph.add_edge(START, SPLIT)
    graph.add_conditional_edges(SPLIT, _build_send_groups(plan), [READ, DISTINGUISH])
    graph.add_edge(READ, DISTINGUISH)
    onward = [CLAIM, GATHER]
    if second is not None:
        graph.add_node(LOOK_AGAIN, _build_look_again(second, stage, look), input_schema=BatchState)
        graph.add_edge(LOOK_AGAIN, GATHER)
        onward.append(LOOK_AGAIN)
    graph.add_conditional_edges(DISTINGUISH, _build_to_each_claim(plan, stage), onward)
    graph.add_edge(CLAIM, GATHER)
    graph.add_conditional_edges(GATHER, _build_send_open_claims(plan, stage), [CLAIM, COLLECT])
    graph.add_edge(COLLECT, END)
    return graph.compile(name="safe")


def _build_split(plan: SafePlan) -> ThreadNode[ResponseState, CheckContext]:
    def split(state: ResponseState, runtime: Runtime[CheckContext]) -> Update:
        response = runtime.context.response
        given, spans = state.get("facts"), state.get("spans")
        if given is not None:
            sentences = left_out(given_sentences(response, given), response)
        else:
            parts = read_outline(response)
            chosen = parts if spans is None else _of_spans(parts, response, spans)
            apart = frozenset[int]() if spans is None else _apart(chosen, parts)
            sentences = [
                _sentence(number, part, is_apart=number in apart, reads_code=plan.reads_code)
                for number, part in enumerate(chosen)
            ]
        n_read = sum(sentence["silent"] is None for sentence in sentences)
        tell(runtime, {"type": "response_split", "n_sentences": n_read})
        # On a thread that ran before, the reduced keys still hold what it found.
        return {"sentences": sentences, "found": Overwrite([]), "settled": Overwrite([])}

    return split


def _of_spans(parts: Sequence[Part], response: str, spans: Sequence[tuple[int, int]]) -> list[Part]:
    """The stretches asked for, each read as the part that it begins in; of code, the pieces in which it is read."""
    starts = [part.start for part in parts]
    chosen: list[Part] = []
    for start, end in spans:
        place = max(bisect_right(starts, start) - 1, 0)
        around = parts[place] if parts else Part("", 0, 0, "prose")
        inside = [part for part in parts[place:] if start <= part.start and part.end <= end]
        one = Part(response[start:end], start, end, around.kind, around.above)
        chosen += inside if around.kind == "code" and inside else [one]
    return chosen


def _apart(chosen: Sequence[Part], parts: Sequence[Part]) -> frozenset[int]:
    """The numbers of the chosen sentences that have unread statements between them and the chosen sentence before."""
    stating = [part.start for part in parts if silence_of(part) is None]
    pairs = enumerate(pairwise(chosen), 1)
    return frozenset(
        number for number, (one, two) in pairs if bisect_left(stating, one.end) < bisect_left(stating, two.start)
    )


def _sentence(number: int, part: Part, *, is_apart: bool, reads_code: bool) -> SentenceState:
    silent: str | None = silence_of(part)
    if not reads_code and (part.kind == "code" or is_code_alone(part.text)):
        silent = NoClaim.CODE
    return sentence_state(number, part, is_apart=is_apart, silent=silent)


def _build_send_groups(plan: SafePlan) -> Route[ResponseState]:
    async def send_groups(state: ResponseState) -> list[Send] | str:
        """Sends the groups of sentences that may state facts."""
        read = [one for one in state["sentences"] if one["silent"] is None and one["given"] != []]
        return [Send(READ, WindowState(sentences=list(group))) for group in plan.grouped(read)] or DISTINGUISH

    return send_groups


def _build_read(plan: SafePlan, look: ClaimNode | None) -> Node[WindowState, CheckContext]:
    async def read(state: WindowState, runtime: Runtime[CheckContext]) -> Update:
        sentences = state["sentences"]
        stage: dict[str, Value] = {"factloop.stage": READ, "factloop.sentence": sentences[0]["number"] + 1}
        with span(f"stage {READ}", stage) as traced:
            traced.say("factloop.sentence.text", lambda: " ".join(sentence["text"] for sentence in sentences))
            try:
                runtime.context.meter.allowance.refuse_late()
                found = await plan.find_facts(sentences, runtime.context)
            except ConfigError:
                raise
            except FactloopError as error:
                traced.failed(error)
                found = [fact for sentence in sentences for fact in unsplit(sentence, unscored(error))]
            traced.set({"factloop.n_claims": len(found)})
        for fact in found:
            tell(
                runtime,
                {
                    "type": "claim_found",
                    "claim_id": claim_id(fact["place"]),
                    "sentence": fact["sentence"],
                    "span": fact["span"],
                    "self_contained": fact["self_contained"],
                },
            )
        if plan.searches_ahead and look is None:
            of_number = {sentence["number"]: sentence for sentence in sentences}
            for fact in found:
                search_ahead(fact, of_number[fact["place"]["sentence"]], runtime)
        return {"found": found}

    return read


def _build_distinguish(
    plan: SafePlan, stage: Literal["model"] | None, look: ClaimNode | None
) -> Node[ResponseState, CheckContext]:
    async def distinguish(state: ResponseState, runtime: Runtime[CheckContext]) -> Update:
        """Settles what needs no search; leaves open one of each fact that does, or each where the plan merges none.

        In a cascade also what the model supported in passing: it goes by the verifier first, like any other.
        """
        found = state["found"] if look is None else [reopened(fact) for fact in state["found"]]
        if plan.merges_repeats:
            kept, repeats = distinct(found)
        else:
            kept, repeats = unmerged(found), {}
        settled = [
            settle(fact, judgement_with_stage(Judgement.model_validate(fact["judgement"]), stage))
            for fact in found
            if fact["status"] == "settled" and claim_id(fact["place"]) not in repeats
        ]
        if not runtime.context.searching.tools:
            settled += [settle(fact, no_source()) for fact in kept]
            kept = []
        for item in settled:
            tell(runtime, {"type": "claim_judged", "claim": item["claim"]})
        return {"open": kept, "repeats": repeats, "settled": settled}

    return distinguish


def _build_to_each_claim(plan: SafePlan, stage: Literal["model"] | None) -> Route[ResponseState]:
    async def to_each_claim(state: ResponseState) -> list[Send] | str:
        second = plan.second_look
        of_number = {sentence["number"]: sentence for sentence in state["sentences"]}
        batches = [] if second is None else second.batches(state["open"])
        again = {claim_id(fact["place"]) for batch in batches for fact in batch}
        sends = [
            Send(
                LOOK_AGAIN,
                BatchState(facts=list(batch), sentences=[of_number[fact["place"]["sentence"]] for fact in batch]),
            )
            for batch in batches
        ]
        alone = (fact for fact in state["open"] if claim_id(fact["place"]) not in again)
        cases = [open_case(fact, of_number[fact["place"]["sentence"]], stage) for fact in alone]
        return [*sends, *(Send(CLAIM, branch) for branch in plan.branches(cases))] or GATHER

    return to_each_claim


def _build_look_again(
    second: SecondLook, stage: Literal["model"] | None, look: ClaimNode | None
) -> Node[BatchState, CheckContext]:
    async def look_again(state: BatchState, runtime: Runtime[CheckContext]) -> Update:
        pairs = list(zip(state["facts"], state["sentences"], strict=True))
        with span(f"stage {LOOK_AGAIN}", {"factloop.stage": LOOK_AGAIN, "factloop.n_claims": len(pairs)}):
            cheap: list[PlacedClaim] = []
            if look is not None:
                fresh = [open_case({**fact, "evidence": []}, sentence, stage) for fact, sentence in pairs]
                looks = await together(look(case, runtime) for case in fresh)
                cheap = [item for update in looks for item in update.get("settled", ())]
                pairs = [pair for pair, update in zip(pairs, looks, strict=True) if "settled" not in update]
            facts, sentences = [fact for fact, _ in pairs], [sentence for _, sentence in pairs]
            settled = await second.look_again(facts, sentences, runtime.context) if pairs else []
        settled = [claim_with_stage(item, stage) for item in settled]
        for item in settled:
            tell(runtime, {"type": "claim_judged", "claim": item["claim"]})
        return {"settled": [*cheap, *settled]}

    return look_again


async def _gather(state: ResponseState, runtime: Runtime[CheckContext]) -> Update:  # noqa: ARG001 - what the graph calls a node with
    """A node without work, where the branches meet."""
    return {}


def _build_send_open_claims(plan: SafePlan, stage: Literal["model"] | None) -> Route[ResponseState]:
    async def send_open_claims(state: ResponseState) -> list[Send] | str:
        """Sends the claims that a look at several left open, each to a branch of its own."""
        done = {item["claim"]["id"] for item in state["settled"]}
        of_number = {sentence["number"]: sentence for sentence in state["sentences"]}
        left = (fact for fact in state["open"] if claim_id(fact["place"]) not in done)
        cases = [open_case(fact, of_number[fact["place"]["sentence"]], stage) for fact in left]
        return [Send(CLAIM, branch) for branch in plan.branches(cases)] or COLLECT

    return send_open_claims


async def _collect(state: ResponseState, runtime: Runtime[CheckContext]) -> Update:
    claims = in_order(state["found"], state["settled"], state["repeats"])
    for claim in claims:
        if claim["duplicate_of"] is not None:
            tell(runtime, {"type": "claim_judged", "claim": claim})
    read = sentences_read(state["sentences"], state["found"])
    # A thread that runs again without facts and spans is to split.
    return {"claims": claims, "sentences_read": read, "facts": None, "spans": None}
