"""Records of a built data set: its rows, which no person has judged yet, and how they were chosen."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from factloop.core.records import Count, Record, Usage
from factloop.evaluation.mixedqa.building.filters import NoAnswer, NotOpen


class BuiltResponse(Record):
    """A system's answer to a question, not yet labelled right or wrong."""

    system: str
    text: str


class BuiltQuestion(Record):
    """A question of the data set: a row of MixedQA without people's labels."""

    id: str
    """`SOURCE/ID`, by its id in the source's file."""
    question: str
    reference_answers: tuple[str, ...]
    source: str
    responses: tuple[BuiltResponse, ...] = ()
    """One of each system, in their order; none where no system was asked."""


class BuildSystem(Record):
    """A system, and the model behind it."""

    system: str
    model: str
    base_url: str | None = None
    sampling: Mapping[str, Any] = Field(default_factory=dict)


class SourceReport(Record):
    """What became of the questions of one source."""

    source: str
    data: str
    """Name of its file, and its hash."""
    n_read: Count
    n_repeated: Count
    """Questions in the words of an earlier one."""
    n_not_open: Mapping[NotOpen, Count]
    n_asked: Count
    """Open-ended ones, in their drawn order, that the systems were asked."""
    n_unanswered: Mapping[str, Mapping[NoAnswer, Count]] = Field(default_factory=dict)
    """System to how many of them it did not answer, by the reason."""
    n_failed: Count = 0
    """Asked ones that are undecided, since a call failed. The next build asks them again."""
    n_kept: Count


class BuildReport(Record):
    """The outcome of a build."""

    schema_version: Literal["1.0"] = "1.0"
    out: str
    n_wanted: Count
    """Questions wanted of each source."""
    seed: int
    systems: tuple[BuildSystem, ...]
    sources: tuple[SourceReport, ...]
    failures: tuple[str, ...] = ()
    """The first failed call of each system, in words."""
    prompts: Mapping[str, str] = Field(default_factory=dict)
    """SHA-256 of each prompt file used."""
    usage: Usage
    created_at: datetime

    @property
    def n_kept(self) -> int:
        return sum(one.n_kept for one in self.sources)

    @property
    def is_short(self) -> bool:
        """Whether a source gave fewer questions than wanted."""
        return any(one.n_kept < self.n_wanted for one in self.sources)
