"""The first round of the fused plan: two claims are searched for at once, and judged in one call by what both found.

    (look) ─▶ search ─▶ assess ─▶ claim

It settles most claims, and the rules of judging, which are half of a request, are read once for two. What it leaves
open goes on alone, with the queries that the reply asks for. A single claim has no such round, nor has one for which
there are several search tools: to choose among them, the model must be offered them.

factloop's own: SAFE (Wei et al. 2024, section 3) judges each fact alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from factloop.agents.nodes import Node, Update
from factloop.agents.safe.branch import (
    LOOK,
    SEARCH,
    ClaimNode,
    is_unanswered,
    may_be_answered_alone,
    search,
    searches_left,
    stage_span,
    task_of,
)
from factloop.agents.safe.claims import case_of, claim_id
from factloop.agents.safe.context import CheckContext, SafeGraph
from factloop.agents.safe.judgements import unscored
from factloop.agents.safe.stages import Case, FusedStages, NextQueries
from factloop.agents.safe.state import BunchState, FactOutput, FactState, updated
from factloop.core.citations import renumbered
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.records import Evidence, Judgement
from factloop.tools.calls.together import together
from factloop.tools.calls.tracing import span

FIRST_ROUND, ASSESS, CLAIM = "first_round", "assess", "claim"
CLAIMS_TOGETHER = 2
"""Claims that one call judges: each makes the reply longer, and so the wait for it."""


class RoundPlan(Protocol):
    """What the first round needs of its plan."""

    @property
    def stages(self) -> FusedStages: ...

    async def go_on(
        self, state: FactState, case: Case, step: Judgement | NextQueries, runtime: Runtime[CheckContext], /
    ) -> Update: ...


def build_first_round(
    plan: RoundPlan, alone: SafeGraph, *, max_searches: int, look: ClaimNode | None = None
) -> SafeGraph:
    """The graph of several claims; `alone` is the graph of each that their first round leaves open."""
    graph = StateGraph(BunchState, context_schema=CheckContext, output_schema=FactOutput)
    graph.add_node(SEARCH, _search)
    graph.add_node(ASSESS, _build_assess(plan, max_searches))
    graph.add_node(CLAIM, alone)
    if look is None:
        graph.add_conditional_edges(START, _together_or_alone, [SEARCH, CLAIM, END])
    else:
        graph.add_node(LOOK, _build_look(look))
        graph.add_edge(START, LOOK)
        graph.add_conditional_edges(LOOK, _together_or_alone, [SEARCH, CLAIM, END])
    graph.add_edge(SEARCH, ASSESS)
    graph.add_conditional_edges(ASSESS, _each_alone, [CLAIM, END])
    return graph.compile(name=FIRST_ROUND)


async def _search(state: BunchState, runtime: Runtime[CheckContext]) -> Update:
    updates = await together(search(case, runtime) for case in state["cases"])
    return {"cases": [updated(case, update) for case, update in zip(state["cases"], updates, strict=True)]}


def _build_look(look: ClaimNode) -> Node[BunchState, CheckContext]:
    async def look_first(state: BunchState, runtime: Runtime[CheckContext]) -> Update:
        """Passes on the claims that a cascade's verifier cannot settle."""
        updates = await together(look(case, runtime) for case in state["cases"])
        return _settled_and_open(list(zip(state["cases"], updates, strict=True)))

    return look_first


def _build_assess(plan: RoundPlan, max_searches: int) -> Node[BunchState, CheckContext]:
    async def assess(state: BunchState, runtime: Runtime[CheckContext]) -> Update:
        """Settles the claims that the evidence of all of them decides, and gives the others queries to ask.

        Where a search failed, the reply cannot be read, or the server refuses the request, each is left as it is, to be
        judged alone.
        """
        states = state["cases"]
        if any(is_unanswered(one) for one in states):
            return {"cases": states}
        cases = [
            case_of(one, task_of(one["task"], runtime.context), searches_left=searches_left(one, max_searches))
            for one in states
        ]
        pool = _pooled(cases)
        with span(f"stage {FIRST_ROUND}", {"factloop.stage": FIRST_ROUND, "factloop.n_claims": len(cases)}) as traced:
            try:
                runtime.context.meter.allowance.refuse_late()
                steps = await plan.stages.assess_together(cases, pool, runtime.context)
                told = [_in_own_terms(one, step, pool) for one, step in zip(states, steps, strict=True)]
            except ConfigError:
                raise
            except FactloopError as error:
                if may_be_answered_alone(error):
                    return {"cases": states}
                traced.failed(error)
                told = [(one, unscored(error)) for one in states]
        after: list[tuple[FactState, Update]] = []
        for (one, step), case in zip(told, cases, strict=True):
            with stage_span(ASSESS, one):
                after.append((one, await plan.go_on(one, case, step, runtime)))
        return _settled_and_open(after)

    return assess


async def _together_or_alone(state: BunchState, runtime: Runtime[CheckContext]) -> list[Send] | str:
    is_round = len(state["cases"]) > 1 and len(runtime.context.searching.tools) == 1
    return SEARCH if is_round else await _each_alone(state)


async def _each_alone(state: BunchState) -> list[Send] | str:
    return [Send(CLAIM, case) for case in state["cases"]] or END


def _settled_and_open(steps: Sequence[tuple[FactState, Update]]) -> Update:
    """The claims that are settled, and those that are still open."""
    return {
        "settled": [item for _, update in steps for item in update.get("settled", ())],
        "cases": [updated(case, update) for case, update in steps if "settled" not in update],
    }


def _pooled(cases: Sequence[Case]) -> list[Evidence]:
    """The passages of all claims, each once."""
    pool: dict[tuple[str, str], Evidence] = {}
    for case in cases:
        for item in case.evidence:
            pool.setdefault(_text(item), item)
    return list(pool.values())


def _in_own_terms(
    state: FactState, step: Judgement | NextQueries, pool: Sequence[Evidence]
) -> tuple[FactState, Judgement | NextQueries]:
    """The claim with what its judgement cites of the other's passages, and what is said of it in terms of its own."""
    own = [Evidence.model_validate(item) for item in state["evidence"]]
    kept = {_text(item): number for number, item in enumerate(own, 1)}
    ids = {item.id: item.id for item in own}
    cited = () if isinstance(step, NextQueries) else step.cited
    numbers: dict[int, int] = {}
    for number, item in enumerate(pool, 1):
        if item.id in cited and _text(item) not in kept:
            kept[_text(item)] = len(own) + 1
            own.append(item.model_copy(update={"id": f"{claim_id(state['fact']['place'])}-e{len(own) + 1}"}))
        if (place := kept.get(_text(item))) is not None:
            numbers[number], ids[item.id] = place, own[place - 1].id
    if isinstance(step, NextQueries):
        return state, replace(step, missing=renumbered(step.missing, numbers, n_shown=len(pool)))
    in_own_terms = {
        "cited": tuple(ids[name] for name in step.cited),
        "rationale": renumbered(step.rationale, numbers, n_shown=len(pool)),
    }
    return {**state, "evidence": [item.model_dump(mode="json") for item in own]}, step.model_copy(update=in_own_terms)


def _text(item: Evidence) -> tuple[str, str]:
    """Tells passages apart, whichever claim they were found for."""
    return item.source, item.passage
