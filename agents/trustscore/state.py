"""The states of the TrustScore graphs, and their context."""

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
    meter: UsageMeter
    searching: SearchGateway | None = None
    """Replaces the search of the TrustFC graph."""


Graph = CompiledStateGraph[Any, TrustContext, Any, Any]
CHECKPOINT_TYPES: tuple[type, ...] = (
    TrustBC, TrustFC, TrustOV, DistractorSet, Distractor, Option, ConsistencyCheck, Evidence, Relation, UnscoredReason,
)  # fmt: skip
"""Types stored in checkpoints, for `JsonPlusSerializer(allowed_msgpack_modules=CHECKPOINT_TYPES)`."""


class ConsistencyInput(TypedDict):
    question: str
    response: str
    statements: NotRequired[bool]
    """Whether the response is a claim to distinguish from other claims. `question` is then only the topic."""
    references: NotRequired[Sequence[str]]
    """Known right answers. A model that proposes distractors may not use them."""


class ConsistencyOutput(TypedDict):
    trust_bc: TrustBC


class ConsistencyState(ConsistencyInput, ConsistencyOutput):
    distractor_set: DistractorSet
    planned: Sequence[tuple[Option, ...]]
    asked: Sequence[ConsistencyCheck]


class FactualInput(TypedDict):
    question: str
    response: str


class FactualOutput(TypedDict):
    trust_fc: TrustFC


class FactualState(FactualInput, FactualOutput):
    query: str
    passages: Sequence[Evidence]
    """The evidence found, best first. If it is empty, `trust_fc` says why."""


class TrustInput(TypedDict):
    """Input of the combined graph: a question and an answer. Without an answer, the subject is asked for one."""

    question: str
    response: NotRequired[str | None]
    references: NotRequired[Sequence[str]]


class TrustOutput(TypedDict):
    response: str
    answered_by: str | None
    trust_bc: TrustBC
    trust_fc: TrustFC
    trust_ov: TrustOV


class TrustState(TrustOutput):
    question: str
    references: NotRequired[Sequence[str]]
    unanswered: bool
    """Whether the subject was asked for its response but gave none."""
