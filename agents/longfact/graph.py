"""A LangGraph state machine that collects prompts on one topic, as in LongFact (Wei et al. 2024, section 2).

    ask ─▶ keep ─▶ enough? ─▶ end
     ▲               │ no
     └───────────────┘

The paper requests one prompt at a time, with up to ten prompts as examples (the authors' own and earlier ones), until
it has 60 distinct prompts on the topic. It keeps 30 of them. We request ten prompts at a time, as structured output.
The examples are our own, and earlier prompts are shown only to avoid repetition. Prompts that ask the same thing in
other words are dropped (see `distinct`). The number of rounds is limited.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, NotRequired, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from factloop.agents.longfact.distinct import PromptSelection, keep_distinct
from factloop.agents.longfact.writer import FEWEST, PER_ROUND, Writer
from factloop.agents.nodes import PureNode, Update
from factloop.core.errors import BudgetExceeded, ConfigError, FactloopError

ASK, KEEP = "ask", "keep"
MOST_IDLE = 3
"""Number of consecutive rounds without a new prompt after which the graph stops."""


class TopicInput(TypedDict):
    """A topic and the number of prompts wanted. To continue an earlier run, add its output."""

    topic: str
    wanted: int
    kept: NotRequired[dict[str, Any]]
    n_rounds: NotRequired[int]
    failures: NotRequired[list[str]]


class TopicOutput(TypedDict):
    kept: dict[str, Any]
    """The fields of a `distinct.PromptSelection`."""
    n_rounds: int
    failures: list[str]


class TopicState(TopicOutput):
    topic: str
    wanted: int
    proposed: list[str]
    n_idle: int
    """Number of rounds since the last new prompt."""
    spent: bool
    """Whether the limit on calls or cost was reached."""


def most_rounds(wanted: int) -> int:
    """Returns the maximum number of model calls: three times the number needed without drops, plus `MOST_IDLE`."""
    return 3 * math.ceil(wanted / PER_ROUND) + MOST_IDLE


def build_prompts_graph(writer: Writer, *, seed: int) -> CompiledStateGraph[Any]:
    """Builds the graph that takes `{topic, wanted}` and returns `{kept, n_rounds, failures}`.

    All topics in a run can share the graph. The same replies and seed give the same prompts. Invoke it with
    `step_limit(wanted)` as the `recursion_limit`.
    """
    graph = StateGraph(TopicState, input_schema=TopicInput, output_schema=TopicOutput)
    graph.add_node(ASK, _build_ask(writer, seed))
    graph.add_node(KEEP, _keep)
    graph.add_edge(START, ASK)
    graph.add_edge(ASK, KEEP)
    graph.add_conditional_edges(KEEP, _to_next, [ASK, END])
    return graph.compile(name="longfact_prompts")


def step_limit(wanted: int) -> int:
    return 2 * most_rounds(wanted) + 5


def _build_ask(writer: Writer, seed: int) -> PureNode[TopicState]:
    async def ask(state: TopicState) -> Update:
        n_rounds, known = state.get("n_rounds", 0), _kept(state).prompts
        # The seed includes the round number, so that a request that produced nothing new is not sent again unchanged.
        rng = random.Random(f"{seed} {n_rounds} {state['topic']}")
        asked = {"n_rounds": n_rounds + 1, "proposed": []}
        try:
            n = min(PER_ROUND, max(FEWEST, state["wanted"] - len(known)))
            return {**asked, "proposed": list(await writer.propose(state["topic"], n, known, rng))}
        except ConfigError:
            raise
        except FactloopError as error:
            failures = [*state.get("failures", []), str(error)]
            return {**asked, "failures": failures, "spent": isinstance(error, BudgetExceeded)}

    return ask


async def _keep(state: TopicState) -> Update:
    before = _kept(state)
    kept = keep_distinct(before, state["proposed"], state["topic"], wanted=state["wanted"])
    is_idle = len(kept.prompts) == len(before.prompts)
    return {
        "kept": {**asdict(kept), "prompts": list(kept.prompts)},
        "n_idle": state.get("n_idle", 0) + 1 if is_idle else 0,
        "failures": state.get("failures", []),
    }


async def _to_next(state: TopicState) -> str:
    is_over = (
        len(state["kept"]["prompts"]) >= state["wanted"]
        or state["n_idle"] >= MOST_IDLE
        or state["n_rounds"] >= most_rounds(state["wanted"])
        or state.get("spent", False)
    )
    return END if is_over else ASK


def _kept(state: TopicState) -> PromptSelection:
    return as_kept(state["kept"]) if "kept" in state else PromptSelection()


def as_kept(fields: Mapping[str, Any]) -> PromptSelection:
    return PromptSelection(**{**fields, "prompts": tuple(fields["prompts"])})
