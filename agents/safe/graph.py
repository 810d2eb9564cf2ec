"""The SAFE agent as a LangGraph state machine. One graph serves all responses and has a branch for each claim.

    split ─┬▶ read ────────┬▶ distinguish ─┬▶ claim ──────┬▶ collect
           └▶ abstentions ─┘               └▶ look again ─┘    │
                                                 claim ◀───────┘

`read` has a branch for each sentence or window, `claim` for each distinct fact, and `look again` for each batch of
facts. `distinguish` waits for all sentences, so that the first of several identical facts is always the one judged.
`collect` starts a `claim` branch for each claim that `look again` leaves open.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, Overwrite, Send

from factloop.agents.nodes import Update
from factloop.agents.safe.claim import BunchNode, ClaimNode
from factloop.agents.safe.judgements import no_source, unscored
from factloop.agents.safe.passages import passages_for
from factloop.agents.safe.sentences import given_sentences, sentences_of
from factloop.agents.safe.stages import CheckContext, SafeGraph, Stages, tell
from factloop.agents.safe.state import (
    BunchState,
    Fact,
    FactState,
    ResponseState,
    SafeInput,
    SafeOutput,
    SentenceTask,
    Stage,
    WindowState,
    distinct,
    in_order,
    open_case,
    reopened,
    sentences_read,
    settle,
    unsplit,
    with_stage,
)
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.records import Abstention, Claim, NoClaim
from factloop.tools.calls.together import together
from factloop.tools.calls.tracing import Value, span

SPLIT, READ, ABSTENTIONS, DISTINGUISH = "split", "read", "abstentions", "distinguish"
CLAIM, LOOK_AGAIN, COLLECT = "claim", "look_again", "collect"
ABSTENTION_RESULTS = 5
"""Number of search results used to judge an abstention. Searches of local documents may add more."""


class SafePlan(ABC):
    """Decides how SAFE's loop runs. See `fused`, `grounded`, `paper` and `published` for the plans."""

    stages: Stages
    looks_again = False
    """Whether to examine open facts in batches before each gets its own branch."""
    merges_repeats = True
    """Whether only the first of several equivalent facts is judged."""
    reads_all = False
    """Whether to split every sentence, even one that clearly states no facts, such as a question."""

    def grouped(self, sentences: Sequence[SentenceTask]) -> Sequence[Sequence[SentenceTask]]:
        """Groups the sentences that are read together. By default, each is read alone."""
        return [[sentence] for sentence in sentences]

    @abstractmethod
    async def find_facts(self, group: Sequence[SentenceTask], context: CheckContext) -> list[Fact]:
        """Returns the facts of a group. Raises FactloopError if none of the sentences can be read."""

    def batches(self, facts: Sequence[Fact]) -> Sequence[Sequence[Fact]]:  # noqa: ARG002 - for plans that look again
        return ()

    async def look_again(
        self,
        facts: Sequence[Fact],  # noqa: ARG002 - for plans that look again
        tasks: Sequence[SentenceTask],  # noqa: ARG002
        context: CheckContext,  # noqa: ARG002
    ) -> list[Claim]:
        """Returns the claims of a batch that could be settled. `tasks` are the sentences of `facts`, in order."""
        return []

    def branches(self, cases: Sequence[FactState]) -> Sequence[FactState | BunchState]:
        """Returns the inputs of the branches that judge these claims."""
        return cases

    @abstractmethod
    def build_claim_branch(self, *, max_searches: int, look: ClaimNode | None = None) -> SafeGraph | BunchNode:
        """Builds the branch that judges claims: a subgraph for one claim, or a node that takes several."""


def build_safe_graph(plan: SafePlan, *, max_searches: int, look: ClaimNode | None = None) -> SafeGraph:
    """Builds the graph that reads the answer in a `CheckContext` and returns `{claims, sentences_read}`.

    If the input contains `facts`, each becomes a claim. If it contains `spans`, only the sentences at these spans are
    checked, and the rest of the response serves as context.

    Without search tools in the context, the graph finds claims but does not judge them. It writes the events
    response_split, claim_found, claim_searched and claim_judged to the custom stream (see `factloop.core.events`).

    A `look` node makes the graph a cascade. The node settles what it can before the plan's own stages run.
    """
    nodes = _Nodes(plan, look)
    graph = StateGraph(ResponseState, context_schema=CheckContext, input_schema=SafeInput, output_schema=SafeOutput)
    graph.add_node(SPLIT, nodes.split)
    graph.add_node(READ, nodes.read, input_schema=WindowState)
    graph.add_node(ABSTENTIONS, nodes.abstention, input_schema=WindowState)
    graph.add_node(DISTINGUISH, nodes.distinguish)
    graph.add_node(CLAIM, plan.build_claim_branch(max_searches=max_searches, look=look))
    graph.add_node(COLLECT, nodes.collect, destinations=(CLAIM, END))
    graph.add_edge(START, SPLIT)
    graph.add_conditional_edges(SPLIT, nodes.to_each_group, [READ, ABSTENTIONS, DISTINGUISH])
    graph.add_edge(READ, DISTINGUISH)
    graph.add_edge(ABSTENTIONS, DISTINGUISH)
    onward = [CLAIM, COLLECT]
    if plan.looks_again:
        graph.add_node(LOOK_AGAIN, nodes.look_again, input_schema=BunchState)
        graph.add_edge(LOOK_AGAIN, COLLECT)
        onward.append(LOOK_AGAIN)
    graph.add_conditional_edges(DISTINGUISH, nodes.to_each_claim, onward)
    graph.add_edge(CLAIM, COLLECT)
    return graph.compile(name="safe")


@dataclass(frozen=True)
class _Nodes:
    plan: SafePlan
    look: ClaimNode | None

    @property
    def stage(self) -> Stage | None:
        return None if self.look is None else "model"

    def split(self, state: ResponseState, runtime: Runtime[CheckContext]) -> Update:
        """Splits the response. It is synchronous, so that LangGraph runs it in a thread: long answers take time."""
        answer, given, spans = runtime.context.answer, state.get("facts"), state.get("spans")
        if given is not None:
            sentences = given_sentences(answer, given)
        else:
            sentences = sentences_of(answer, spans=spans, reads_code=self.plan.stages.reads_code)
            if self.plan.reads_all:
                sentences = [replace(one, silent=None) for one in sentences]
        tell(runtime, "response_split", n_sentences=sum(sentence.silent is None for sentence in sentences))
        # If this LangGraph thread has run before, keys with reducers still contain the earlier results.
        return {"sentences": sentences, "found": Overwrite([]), "settled": Overwrite([]), "abstentions": Overwrite([])}

    async def to_each_group(self, state: ResponseState, runtime: Runtime[CheckContext]) -> list[Send] | str:
        to_read = [one for one in state["sentences"] if one.silent is None and (one.given is None or one.given)]
        abstentions = [one for one in state["sentences"] if one.silent == NoClaim.ABSTENTION]
        groups = [to_read] * bool(to_read) if runtime.context.meter.allowance.is_late else self.plan.grouped(to_read)
        return [
            *(Send(READ, WindowState(sentences=list(group))) for group in groups),
            *(Send(ABSTENTIONS, WindowState(sentences=[one])) for one in abstentions),
        ] or DISTINGUISH

    async def abstention(self, state: WindowState, runtime: Runtime[CheckContext]) -> Update:
        (task,) = state["sentences"]
        if not runtime.context.searching.tools:
            return {}
        with span(f"stage {ABSTENTIONS}", {"factloop.stage": ABSTENTIONS, "factloop.sentence": task.number + 1}):
            try:
                runtime.context.meter.allowance.refuse_late()
                shown = await passages_for([task], runtime.context, results=ABSTENTION_RESULTS)
                found = await self.plan.stages.abstention(task, shown.items, runtime.context)
                if found is not None and found.is_right and shown.failure is not None:
                    found = Abstention(missing=found.missing, why=shown.failure.rationale)
            except ConfigError:
                raise
            except FactloopError as error:
                found = Abstention(why=str(error))
        return {} if found is None else {"abstentions": [(task.number, found)]}

    async def read(self, state: WindowState, runtime: Runtime[CheckContext]) -> Update:
        of_number = {sentence.number: sentence for sentence in state["sentences"]}
        stage: dict[str, Value] = {"factloop.stage": READ, "factloop.sentence": state["sentences"][0].number + 1}
        with span(f"stage {READ}", stage) as traced:
            traced.say("factloop.sentence.text", lambda: " ".join(one.sentence for one in of_number.values()))
            try:
                runtime.context.meter.allowance.refuse_late()
                found = await self.plan.find_facts(state["sentences"], runtime.context)
            except ConfigError:
                raise
            except FactloopError as error:
                traced.failed(error)
                found = [fact for sentence in of_number.values() for fact in unsplit(sentence, unscored(error))]
            traced.set({"factloop.n_claims": len(found)})
        for fact in found:
            task = of_number[fact.sentence]
            said = {"sentence": task.sentence, "span": (task.start, task.end), "self_contained": fact.self_contained}
            tell(runtime, "claim_found", claim_id=fact.id, **said)
        return {"found": found}

    async def distinguish(self, state: ResponseState, runtime: Runtime[CheckContext]) -> Update:
        """A cascade reopens facts that the model judged while reading, so that the verifier checks them first."""
        found = state["found"] if self.look is None else [reopened(fact) for fact in state["found"]]
        kept, repeats = distinct(found)
        if not self.plan.merges_repeats:
            kept, repeats = sorted((fact for fact in found if fact.status == "open"), key=lambda one: one.place), {}
        judged = [
            (fact, with_stage(fact.judgement, self.stage))
            for fact in found
            if fact.judgement is not None and fact.status == "settled" and fact.id not in repeats
        ]
        if not runtime.context.searching.tools:
            judged += [(fact, no_source()) for fact in kept]
            kept = []
        settled = [settle(fact, state["sentences"][fact.sentence], judgement) for fact, judgement in judged]
        for claim in settled:
            tell(runtime, "claim_judged", claim=claim)
        return {"open": [fact.id for fact in kept], "repeats": repeats, "settled": settled}

    async def to_each_claim(self, state: ResponseState) -> list[Send] | str:
        facts = self._open(state)
        batches = self.plan.batches(facts)
        again = {fact.id for batch in batches for fact in batch}
        alone = self._cases([fact for fact in facts if fact.id not in again], state)
        return [
            *(Send(LOOK_AGAIN, BunchState(cases=self._cases(batch, state), settled=[])) for batch in batches),
            *(Send(CLAIM, branch) for branch in self.plan.branches(alone)),
        ] or COLLECT

    async def look_again(self, state: BunchState, runtime: Runtime[CheckContext]) -> Update:
        cases = state["cases"]
        with span(f"stage {LOOK_AGAIN}", {"factloop.stage": LOOK_AGAIN, "factloop.n_claims": len(cases)}):
            settled: list[Claim] = []
            if self.look is not None:
                looks = await together(self.look({**case, "evidence": ()}, runtime) for case in cases)
                settled = [claim for update in looks for claim in update.get("settled", ())]
                cases = [case for case, update in zip(cases, looks, strict=True) if "settled" not in update]
            judged: list[Claim] = []
            if cases:
                facts = [replace(case["fact"], evidence=case["evidence"]) for case in cases]
                judged = await self.plan.look_again(facts, [case["task"] for case in cases], runtime.context)
        for claim in judged:
            claim = claim.model_copy(update={"judgement": with_stage(claim.judgement, self.stage)})
            tell(runtime, "claim_judged", claim=claim)
            settled.append(claim)
        return {"settled": settled}

    async def collect(self, state: ResponseState, runtime: Runtime[CheckContext]) -> Command[Any]:
        """Sorts the claims once all are settled. Until then, sends the open ones to separate branches."""
        done = {claim.id for claim in state["settled"]}
        if left := [fact for fact in self._open(state) if fact.id not in done]:
            return Command(goto=[Send(CLAIM, branch) for branch in self.plan.branches(self._cases(left, state))])
        claims = in_order(state["found"], state["sentences"], state["settled"], state["repeats"])
        for claim in claims:
            if claim.duplicate_of is not None:
                tell(runtime, "claim_judged", claim=claim)
        # If this LangGraph thread runs again without facts and spans, the response must be split again.
        read = sentences_read(state["sentences"], state["found"], dict(state["abstentions"]))
        return Command(update={"claims": claims, "sentences_read": read, "facts": None, "spans": None}, goto=END)

    def _open(self, state: ResponseState) -> list[Fact]:
        names = set(state["open"])
        return sorted((fact for fact in state["found"] if fact.id in names), key=lambda fact: fact.place)

    def _cases(self, facts: Sequence[Fact], state: ResponseState) -> list[FactState]:
        return [open_case(fact, state["sentences"][fact.sentence], self.stage) for fact in facts]
