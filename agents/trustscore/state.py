"""State of the TrustScore graphs: plain dictionaries, as checkpoints keep them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from factloop.agents.trustscore.records import Letter

RecordDict = dict[str, Any]
"""A record of `factloop.agents.trustscore.records` as `model_dump(mode="json")` gives it."""


class ConsistencyInput(TypedDict):
    """Input of the TrustBC graph."""

    question: str
    response: str
    statements: NotRequired[bool]
    """True where the response is a claim to be told from other claims; then `question` is only its topic."""
    references: NotRequired[list[str]]
    """Right answers, where they are known: a model that proposes distractors may give none of them."""


class ConsistencyOutput(TypedDict):
    trust_bc: RecordDict


class QuestionPlan(TypedDict):
    """One question to ask."""

    options: list[RecordDict]
    reuses: bool


class QuestionOutcome(TypedDict):
    """The outcome of one question; the fields of a `Check` beside those of its plan."""

    chosen: str | None
    consistent: bool | None
    """None if the subject made no choice."""
    unscored_reason: str | None
    reply: str
    letter_probabilities: Mapping[Letter, float] | None


class ConsistencyState(ConsistencyInput, ConsistencyOutput):
    """State of the TrustBC graph."""

    distractor_set: RecordDict
    planned: list[QuestionPlan]
    """Questions in the order in which they count."""
    asked: list[QuestionOutcome]
    """What came of the first of them, in the same order."""


class FactualInput(TypedDict):
    """Input of the TrustFC graph."""

    question: str
    response: str


class FactualOutput(TypedDict):
    trust_fc: RecordDict


class FactualState(FactualInput, FactualOutput):
    """State of the TrustFC graph."""

    query: str
    passages: list[RecordDict]
    """Evidence found, best first; none where there is nothing to judge, and `trust_fc` says why."""


class TrustInput(TypedDict):
    """Input of the whole graph: an answer to a question, or a question alone, which the subject then answers."""

    question: str
    response: NotRequired[str | None]
    references: NotRequired[list[str]]
    """As for TrustBC alone."""


class TrustOutput(TypedDict):
    """Output of the whole graph."""

    response: str
    answered_by: str | None
    trust_bc: RecordDict
    trust_fc: RecordDict
    trust_ov: RecordDict


class TrustState(TrustOutput):
    """State of the whole graph."""

    question: str
    references: NotRequired[list[str]]
    unanswered: bool
    """True where the subject was asked for its response and gave none: then there is nothing to score."""
