"""The fused plan: one call reads one or two short sentences, then each claim goes through rounds of search and
assessment.

    (look) ─▶ search ─▶ assess ─▶ claim: search ─▶ assess ─▶ ...

In the first round, one call judges a pair of claims against the passages found for both. This settles most claims and
sends the judging rules, which are half of a request, only once per pair. Open claims continue alone, with the queries
that the reply proposes. A single claim skips the shared round, and so do all claims if there are several search tools.

This plan is our own: SAFE (Wei et al. 2024, section 3) judges each fact alone.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TypeVar

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from factloop.agents.nodes import Update
from factloop.agents.safe import judgements
from factloop.agents.safe.claim import (
    LOOK,
    SEARCH,
    BunchNode,
    ClaimNode,
    ask_next,
    case_of,
    closed,
    may_be_answered_alone,
    not_yet_asked,
    or_unscored,
    search,
    searches_left,
    settling,
    stage_span,
    unanswered,
)
from factloop.agents.safe.graph import SafePlan
from factloop.agents.safe.jury import GroundedJury
from factloop.agents.safe.sentences import FUSED_WINDOW, shares_headings, windows_of
from factloop.agents.safe.stages import Case, CheckContext, FoundFact, FusedStages, SafeGraph
from factloop.agents.safe.state import (
    BunchState,
    Fact,
    FactOutput,
    FactState,
    NextQueries,
    SentenceTask,
    settled_fact,
    unsplit,
    updated,
)
from factloop.core.citations import renumbered
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.records import Claim, Evidence, Judgement
from factloop.tools.calls.together import together
from factloop.tools.calls.tracing import span

ASSESS, FIRST_ROUND, CLAIM = "assess", "first_round", "claim"
CLAIMS_TOGETHER = 2
"""Number of claims judged in one call. Each additional claim makes the reply longer and slower."""
QUERIES_AT_ONCE = 2
"""Maximum number of queries per round after the first. With two, the slowest claim takes three rounds, not five."""
GIVEN_AT_ONCE = 12
"""Maximum number of supplied facts per call. Replies are limited in length, and a failed call loses all its facts."""
BUNCH = 16
"""Number of sentences or claims per branch. Larger bunches block the event loop, and smaller ones take longer."""

T = TypeVar("T")


def in_groups(items: Sequence[T], size: int) -> list[Sequence[T]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


class GivenReader(SafePlan):
    """A plan that reads supplied facts in batches."""

    @abstractmethod
    async def read_given(
        self, task: SentenceTask, start: int, facts: Sequence[str], context: CheckContext
    ) -> list[Fact]:
        """Reads a batch of the sentence's supplied facts. `start` is the index of the first one."""

    async def read_all_given(self, task: SentenceTask, context: CheckContext) -> list[Fact]:
        """Reads all supplied facts of the sentence in batches. If a batch cannot be read, its facts are unscored."""
        given = task.given or ()

        async def batch(start: int) -> list[Fact]:
            facts = given[start : start + GIVEN_AT_ONCE]
            return await or_unscored(
                self.read_given(task, start, facts, context),
                lambda judgement: [
                    settled_fact(task, number, text, judgement) for number, text in enumerate(facts, start)
                ],
            )

        return [*chain.from_iterable(await together(batch(start) for start in range(0, len(given), GIVEN_AT_ONCE)))]


@dataclass(frozen=True)
class FusedPlan(GivenReader):
    stages: FusedStages
    gates: bool = True

    def grouped(self, sentences: Sequence[SentenceTask]) -> Sequence[Sequence[SentenceTask]]:
        return windows_of(sentences, FUSED_WINDOW, shares_headings)

    def branches(self, cases: Sequence[FactState]) -> Sequence[FactState | BunchState]:
        """Pairs neighbouring claims, which usually come from one sentence and depend on the same passages."""
        return [BunchState(cases=list(pair), settled=[]) for pair in in_groups(cases, CLAIMS_TOGETHER)]

    def build_claim_branch(self, *, max_searches: int, look: ClaimNode | None = None) -> SafeGraph | BunchNode:
        """Builds the branch for claims that share their first round. Claims that are still open then continue alone."""
        nodes = _FirstRound(self, max_searches, look)
        graph = StateGraph(BunchState, context_schema=CheckContext, output_schema=FactOutput)
        graph.add_node(SEARCH, nodes.search)
        graph.add_node(ASSESS, nodes.assess)
        graph.add_node(CLAIM, self.build_claim_graph(max_searches=max_searches))
        first = START
        if look is not None:
            graph.add_node(LOOK, nodes.look_first)
            graph.add_edge(START, LOOK)
            first = LOOK
        graph.add_conditional_edges(first, nodes.together_or_alone, [SEARCH, CLAIM, END])
        graph.add_edge(SEARCH, ASSESS)
        graph.add_conditional_edges(ASSESS, nodes.each_alone, [CLAIM, END])
        return graph.compile(name=FIRST_ROUND)

    def build_claim_graph(self, *, max_searches: int, look: ClaimNode | None = None) -> SafeGraph:
        """Builds the graph of one claim: `search -> assess` until it is settled or `max_searches` queries have been
        made.

        After the first round, the loop ends without another call if a round finds nothing new. A `look` node comes
        first and may settle the claim. Without one, a claim without a pending query starts at `assess`.
        """
        graph = StateGraph(FactState, context_schema=CheckContext, output_schema=FactOutput)
        graph.add_node(SEARCH, search)
        graph.add_node(ASSESS, self.build_assess(max_searches))
        if look is None:
            graph.add_conditional_edges(START, _as_it_stands, [SEARCH, ASSESS])
        else:
            graph.add_node(LOOK, look)
            graph.add_edge(START, LOOK)
            graph.add_conditional_edges(LOOK, _unless_settled, [SEARCH, END])
        graph.add_edge(SEARCH, ASSESS)
        graph.add_conditional_edges(ASSESS, _unless_settled, [SEARCH, END])
        return graph.compile(name="claim")

    def build_assess(self, max_searches: int) -> ClaimNode:
        async def assess(state: FactState, runtime: Runtime[CheckContext]) -> Update:
            if (failure := unanswered(state)) is not None:
                return closed(state, failure, runtime)
            if state["rounds"] > 1 and state["is_barren"]:
                missing = " ".join(state["missing"][-1:]) or state["queries"][-1]
                case = case_of(state, searches_left=0)
                return closed(state, await self.conclude(case, missing, runtime.context), runtime)
            case = case_of(state, searches_left=searches_left(state, max_searches))
            return await self.go_on(state, case, await self.stages.assess(case, runtime.context), runtime)

        return settling(ASSESS, assess)

    async def go_on(
        self, state: FactState, case: Case, step: Judgement | NextQueries, runtime: Runtime[CheckContext]
    ) -> Update:
        if isinstance(step, Judgement):
            return closed(state, step, runtime)
        wish = not_yet_asked(state, step, most=min(QUERIES_AT_ONCE, case.searches_left))
        if wish is None:
            missing = step.missing or ", ".join(step.queries)
            closing = replace(case, searches_left=0)
            return closed(state, await self.conclude(closing, missing, runtime.context), runtime)
        return ask_next(state, wish)

    async def conclude(self, case: Case, missing: str, context: CheckContext) -> Judgement:
        """Judges the claim as not supported, without another call, because no query finds anything new.

        The other members of a jury are still called, because they have not seen the claim.
        """
        is_sentence = missing.endswith((".", "!", "?"))
        why = f"{missing} No search found more." if is_sentence else f"No evidence was found on: {missing}"
        nothing = judgements.not_supported(why, (), self.stages.name, contradicted=False)
        return await self.stages.joined(case, nothing, context) if isinstance(self.stages, GroundedJury) else nothing

    async def find_facts(self, group: Sequence[SentenceTask], context: CheckContext) -> list[Fact]:
        """Returns the facts in a window of sentences. Facts that need no search are already settled.

        If a reply for several sentences skips one of them, that sentence is read again on its own.
        """
        if group[0].given is not None:
            return await self.read_all_given(group[0], context)
        try:
            found = await self.stages.sentence_facts(group, context)
        except FactloopError as error:
            if len(group) == 1 or not may_be_answered_alone(error):
                raise
            return await self.each_alone(group, context)
        placed = [
            self._placed(number, fact, task, context)
            for task, facts in zip(group, found, strict=True)
            for number, fact in enumerate(facts or ())
        ]
        passed_over = [task for task, facts in zip(group, found, strict=True) if facts is None]
        if len(group) == 1 or not passed_over:
            return placed
        return [*placed, *await self.each_alone(passed_over, context)]

    async def each_alone(self, tasks: Iterable[SentenceTask], context: CheckContext) -> list[Fact]:
        return [*chain.from_iterable(await together(self._alone(task, context) for task in tasks))]

    async def _alone(self, task: SentenceTask, context: CheckContext) -> list[Fact]:
        return await or_unscored(self.find_facts([task], context), lambda judgement: unsplit(task, judgement))

    async def read_given(
        self, task: SentenceTask, start: int, facts: Sequence[str], context: CheckContext
    ) -> list[Fact]:
        found = await self.stages.given_facts(task, facts, context)
        pairs = enumerate(zip(facts, found, strict=True), start)
        return [self._placed(number, replace(fact, text=text), task, context) for number, (text, fact) in pairs]

    def _placed(self, number: int, fact: FoundFact, task: SentenceTask, context: CheckContext) -> Fact:
        if fact.status == "irrelevant" and not context.answer.prompt:
            fact = replace(fact, status="check")  # without a question, no fact is irrelevant
        judgement = self._settled_at_once(fact, gates=self.gates and context.gates)
        return Fact(
            task.number,
            number,
            fact.text,
            fact.self_contained,
            "open" if judgement is None else "settled",
            query=fact.query,
            relevant={"check": True, "irrelevant": False}.get(fact.status),
            judgement=judgement,
            is_whole=fact.is_whole,
        )

    def _settled_at_once(self, fact: FoundFact, *, gates: bool) -> Judgement | None:
        if fact.status == "irrelevant" and gates:
            return judgements.irrelevant(self.stages.name)
        if fact.status == "ambiguous":
            return judgements.ambiguous("The response leaves open who or what is meant.", self.stages.name)
        if fact.status == "other_language":
            return judgements.other_language(self.stages.name)
        return None


async def _as_it_stands(state: FactState) -> str:
    return ASSESS if state["pending"] is None else SEARCH


async def _unless_settled(state: FactState) -> str:
    return END if state["settled"] else SEARCH


@dataclass(frozen=True)
class _FirstRound:
    plan: FusedPlan
    max_searches: int
    look: ClaimNode | None

    async def search(self, state: BunchState, runtime: Runtime[CheckContext]) -> Update:
        updates = await together(search(case, runtime) for case in state["cases"])
        return {"cases": [updated(case, update) for case, update in zip(state["cases"], updates, strict=True)]}

    async def look_first(self, state: BunchState, runtime: Runtime[CheckContext]) -> Update:
        assert self.look is not None
        updates = await together(self.look(case, runtime) for case in state["cases"])
        return _settled_and_open(list(zip(state["cases"], updates, strict=True)))

    async def assess(self, state: BunchState, runtime: Runtime[CheckContext]) -> Update:
        """If a search or the request failed, all claims stay open and are judged one by one."""
        states = state["cases"]
        if any(unanswered(one) is not None for one in states):
            return {"cases": states}
        cases = [case_of(one, searches_left=searches_left(one, self.max_searches)) for one in states]
        pool = _pooled(cases)
        with span(f"stage {FIRST_ROUND}", {"factloop.stage": FIRST_ROUND, "factloop.n_claims": len(cases)}) as traced:
            try:
                runtime.context.meter.allowance.refuse_late()
                steps = await self.plan.stages.assess_together(cases, pool, runtime.context)
                told = [_in_own_terms(one, step, pool) for one, step in zip(states, steps, strict=True)]
            except ConfigError:
                raise
            except FactloopError as error:
                if may_be_answered_alone(error):
                    return {"cases": states}
                traced.failed(error)
                told = [(one, judgements.unscored(error)) for one in states]
        after: list[tuple[FactState, Update]] = []
        for (one, step), case in zip(told, cases, strict=True):
            with stage_span(ASSESS, one):
                after.append((one, await self.plan.go_on(one, case, step, runtime)))
        return _settled_and_open(after)

    async def together_or_alone(self, state: BunchState, runtime: Runtime[CheckContext]) -> list[Send] | str:
        is_round = len(state["cases"]) > 1 and len(runtime.context.searching.tools) == 1
        return SEARCH if is_round else await self.each_alone(state)

    async def each_alone(self, state: BunchState) -> list[Send] | str:
        return [Send(CLAIM, case) for case in state["cases"]] or END


def _settled_and_open(steps: Sequence[tuple[FactState, Update]]) -> Update:
    return {
        "settled": [claim for _, update in steps for claim in update.get("settled", ())],
        "cases": [updated(case, update) for case, update in steps if "settled" not in update],
    }


def _pooled(cases: Sequence[Case]) -> list[Evidence]:
    pool: dict[tuple[str, str], Evidence] = {}
    for item in (item for case in cases for item in case.evidence):
        pool.setdefault(_text(item), item)
    return list(pool.values())


def _in_own_terms(
    state: FactState, step: Judgement | NextQueries, pool: Sequence[Evidence]
) -> tuple[FactState, Judgement | NextQueries]:
    """Copies cited passages of other claims into this claim's evidence, and renumbers its citations."""
    own = list(state["evidence"])
    kept = {_text(item): number for number, item in enumerate(own, 1)}
    ids = {item.id: item.id for item in own}
    cited = () if isinstance(step, NextQueries) else step.cited
    numbers: dict[int, int] = {}
    for number, item in enumerate(pool, 1):
        if item.id in cited and _text(item) not in kept:
            kept[_text(item)] = len(own) + 1
            own.append(item.model_copy(update={"id": f"{state['fact'].id}-e{len(own) + 1}"}))
        if (place := kept.get(_text(item))) is not None:
            numbers[number], ids[item.id] = place, own[place - 1].id
    if isinstance(step, NextQueries):
        return state, replace(step, missing=renumbered(step.missing, numbers, n_shown=len(pool)))
    return updated(state, {"evidence": own}), judgements.in_own_terms(step, ids, numbers, n_shown=len(pool))


def _text(item: Evidence) -> tuple[str, str]:
    return item.source, item.passage


@dataclass(frozen=True)
class BunchedPlan(FusedPlan):
    """The fused plan for judges that answer immediately, such as the offline rules.

    Each branch handles many claims, because starting a branch takes longer than judging a claim. Every claim is still
    settled separately.
    """

    def grouped(self, sentences: Sequence[SentenceTask]) -> Sequence[Sequence[SentenceTask]]:
        return in_groups(sentences, BUNCH)

    async def find_facts(self, group: Sequence[SentenceTask], context: CheckContext) -> list[Fact]:
        async with context.bunches:
            return [*chain.from_iterable([await self._facts_of(task, context) for task in group])]

    async def _facts_of(self, task: SentenceTask, context: CheckContext) -> list[Fact]:
        async with context.computing:
            await asyncio.sleep(0)  # lets the progress display and other checks run
            reading = context.meter.allowance.in_time(partial(super().find_facts, [task], context))
            return await or_unscored(reading, lambda judgement: unsplit(task, judgement))

    async def conclude(self, case: Case, missing: str, context: CheckContext) -> Judgement:  # noqa: ARG002 - the judge says it
        """Lets the judge decide, so that the judgement has a score and cites the closest sentence."""
        judgement = await self.stages.assess(case, context)
        assert isinstance(judgement, Judgement), "no searches are left, so the judge must settle the claim"
        return judgement

    def branches(self, cases: Sequence[FactState]) -> Sequence[FactState | BunchState]:
        return [BunchState(cases=list(bunch), settled=[]) for bunch in in_groups(cases, BUNCH)]

    def build_claim_branch(self, *, max_searches: int, look: ClaimNode | None = None) -> BunchNode:
        """Builds a node that repeats `search` and `assess` for each of its claims until that claim is settled.

        It is not a graph, because starting one takes as long as judging two or three claims.
        """
        assess = self.build_assess(max_searches)

        async def judged(case: FactState, runtime: Runtime[CheckContext]) -> list[Claim]:
            state = case if look is None else updated(case, await look(case, runtime))
            while not state["settled"]:
                state = updated(state, await search(state, runtime))
                state = updated(state, await assess(state, runtime))
            return state["settled"]

        async def judge(state: BunchState, runtime: Runtime[CheckContext]) -> Update:
            async with runtime.context.bunches:
                settled = await together(judged(case, runtime) for case in state["cases"])
            return {"settled": [*chain.from_iterable(settled)]}

        return judge
