"""A LangGraph state machine that collects prompts on one topic, as LongFact was made (Wei et al. 2024, section 2).

    ask ─▶ keep ─▶ enough? ─▶ end
     ▲               │ no
     └───────────────┘

The paper's pipeline asks for one prompt at a time, shows the model up to ten of its own and of earlier ones as
examples, and goes on until there are enough that differ (60 a topic, 30 of which were kept). Departures: ten prompts
are asked for at a time, as structured output; earlier ones are shown as what not to repeat, and only our own as
examples; prompts that ask about the same in other words are dropped too (`distinct`); the rounds are bounded.
"""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Mapping
from dataclasses import asdict
from typing import Any, NotRequired, Protocol, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from factloop.agents.longfact.distinct import PromptSelection, keep_distinct
from factloop.agents.longfact.writer import FEWEST, PER_ROUND, Writer
from factloop.core.errors import BudgetExceeded, ConfigError, FactloopError

ASK, KEEP = "ask", "keep"
MOST_IDLE = 3
"""Rounds in a row without a new prompt, after which the topic is taken to be exhausted."""


class TopicInput(TypedDict):
    """A topic; with what an earlier invocation returned, that one goes on, to more prompts."""

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
    """Errors of the rounds whose call failed."""


class TopicState(TopicOutput):
    topic: str
    wanted: int
    proposed: list[str]
    """Prompts proposed by the last round."""
    n_idle: int
    """Rounds in a row, up to now, that brought nothing new."""
    spent: bool
    """True where the user's limit on calls or money was reached."""


class _AsyncNode(Protocol):
    def __call__(self, state: TopicState) -> Awaitable[Mapping[str, Any]]: ...


def most_rounds(wanted: int) -> int:
    """How often the model is asked at most: three times as often as it needs where nothing is dropped."""
    return 3 * math.ceil(wanted / PER_ROUND) + MOST_IDLE


def build_prompts_graph(writer: Writer, *, seed: int) -> CompiledStateGraph[Any]:
    """The compiled graph from `{topic, wanted}` to `{kept, n_rounds, failures}`. One for all topics of a run.

    The same answers and the same seed give the same prompts. Invoke it with a `recursion_limit` by `step_limit`.
    """
    graph = StateGraph(TopicState, input_schema=TopicInput, output_schema=TopicOutput)
    graph.add_node(ASK, _build_ask(writer, seed))
    graph.add_node(KEEP, _keep)
    graph.add_edge(START, ASK)
    graph.add_edge(ASK, KEEP)
    graph.add_conditional_edges(KEEP, _to_next, [ASK, END])
    return graph.compile(name="longfact_prompts")


def step_limit(wanted: int) -> int:
    """Steps that the graph takes at most."""
    return 2 * most_rounds(wanted) + 5


def _build_ask(writer: Writer, seed: int) -> _AsyncNode:
    async def ask(state: TopicState) -> Mapping[str, Any]:
        n_rounds, known = state.get("n_rounds", 0), _kept(state).prompts
        # Seeded by the round's number, so that no request repeats one that brought nothing new.
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


async def _keep(state: TopicState) -> Mapping[str, Any]:
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
    """The record that the graph's state holds as a plain dictionary."""
    return PromptSelection(**{**fields, "prompts": tuple(fields["prompts"])})
