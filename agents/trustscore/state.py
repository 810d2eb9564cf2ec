"""Defines the states of the TrustScore graphs for one answer, and their context. The states consist of records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from langgraph.graph.state import CompiledStateGraph

from factloop.agents.trustscore.records import (
    ConsistencyCheck,
    Distractor,
    DistractorSet,
    Option,
    Relation,
    TrustBC,
    TrustFC,
    TrustOV,
)
from factloop.core.records import Evidence, UnscoredReason
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.search.gateway import SearchGateway


@dataclass(frozen=True)
class TrustContext:
    """The context of one answer: the meter for its usage, and the search to use."""

    meter: UsageMeter
    searching: SearchGateway | None = None
    """Used by TrustFC instead of the graph's own search."""


Graph = CompiledStateGraph[Any, TrustContext, Any, Any]
CHECKPOINT_TYPES: tuple[type, ...] = (
    TrustBC, TrustFC, TrustOV, DistractorSet, Distractor, Option, ConsistencyCheck, Evidence, Relation, UnscoredReason,
)  # fmt: skip
"""Types stored in checkpoints. `JsonPlusSerializer(allowed_msgpack_modules=CHECKPOINT_TYPES)` can read them."""


class ConsistencyInput(TypedDict):
    """Input of the TrustBC graph."""

    question: str
    response: str
    statements: NotRequired[bool]
    """Whether the response is a claim to be distinguished from other claims. `question` is then only the topic."""
    references: NotRequired[Sequence[str]]
    """Known right answers, if any. A model that proposes distractors may not use them."""


class ConsistencyOutput(TypedDict):
    trust_bc: TrustBC


class ConsistencyState(ConsistencyInput, ConsistencyOutput):
    """State of the TrustBC graph."""

    distractor_set: DistractorSet
    planned: Sequence[tuple[Option, ...]]
    """The options of each question. The questions count in this order."""
    asked: Sequence[ConsistencyCheck]
    """The results of the questions asked so far, in the same order."""


class FactualInput(TypedDict):
    """Input of the TrustFC graph."""

    question: str
    response: str


class FactualOutput(TypedDict):
    trust_fc: TrustFC


class FactualState(FactualInput, FactualOutput):
    """State of the TrustFC graph."""

    query: str
    passages: Sequence[Evidence]
    """The evidence found, best first. Empty if there is nothing to judge. In that case, `trust_fc` says why."""


class TrustInput(TypedDict):
    """Input of the whole graph: a question and an answer, or only a question, which the subject then answers."""

    question: str
    response: NotRequired[str | None]
    references: NotRequired[Sequence[str]]
    """As in `ConsistencyInput`."""


class TrustOutput(TypedDict):
    """Output of the whole graph."""

    response: str
    answered_by: str | None
    trust_bc: TrustBC
    trust_fc: TrustFC
    trust_ov: TrustOV


class TrustState(TrustOutput):
    """State of the whole graph."""

    question: str
    references: NotRequired[Sequence[str]]
    unanswered: bool
    """Whether the subject was asked for its response but gave none, so that there is nothing to score."""
