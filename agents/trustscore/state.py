"""What the TrustScore graphs know of one answer: their states, which hold records, and the context beside them."""

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
    """The context of one answer: the account that its calls are charged to, and what is searched."""

    meter: UsageMeter
    searching: SearchGateway | None = None
    """Searched by TrustFC in the place of the graph's own search."""


Graph = CompiledStateGraph[Any, TrustContext, Any, Any]
CHECKPOINT_TYPES: tuple[type, ...] = (
    TrustBC, TrustFC, TrustOV, DistractorSet, Distractor, Option, ConsistencyCheck, Evidence, Relation, UnscoredReason,
)  # fmt: skip
"""What checkpoints of these graphs hold: `JsonPlusSerializer(allowed_msgpack_modules=CHECKPOINT_TYPES)` reads them."""


class ConsistencyInput(TypedDict):
    """Input of the TrustBC graph."""

    question: str
    response: str
    statements: NotRequired[bool]
    """True where the response is a claim to be told from other claims; then `question` is only its topic."""
    references: NotRequired[Sequence[str]]
    """Right answers, where they are known: a model that proposes distractors may give none of them."""


class ConsistencyOutput(TypedDict):
    trust_bc: TrustBC


class ConsistencyState(ConsistencyInput, ConsistencyOutput):
    """State of the TrustBC graph."""

    distractor_set: DistractorSet
    planned: Sequence[tuple[Option, ...]]
    """The options of each question, in the order in which the questions count."""
    asked: Sequence[ConsistencyCheck]
    """What came of the first of them, in the same order."""


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
    """Evidence found, best first; none where there is nothing to judge, and `trust_fc` says why."""


class TrustInput(TypedDict):
    """Input of the whole graph: an answer to a question, or a question alone, which the subject then answers."""

    question: str
    response: NotRequired[str | None]
    references: NotRequired[Sequence[str]]
    """As for TrustBC alone."""


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
    """True where the subject was asked for its response and gave none: then there is nothing to score."""
