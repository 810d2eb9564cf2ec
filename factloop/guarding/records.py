"""The events that a guard emits while a stream passes through it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from factloop.core.findings import Finding
from factloop.core.records import Claim, FactualityReport, NoClaim, Record

Treatment = Literal["passed", "annotated", "dropped", "replaced", "stopped"]


class GuardedSentence(Record):
    """A sentence that has been checked and processed. Joined, the `text` of all events is the original answer."""

    type: Literal["sentence_guarded"] = "sentence_guarded"
    text: str
    """The sentence with any white space or list markers before it; in the last event, possibly only those."""
    span: tuple[int, int]
    """Start and end of the sentence in the answer, in characters; equal if there is no sentence."""
    claims: tuple[Claim, ...]
    """Claims of the sentence. Their spans refer to the whole answer, in which their ids are unique."""
    no_claim: NoClaim | None = None
    """Why the sentence has no claims; also None if there is no sentence."""
    findings: tuple[Finding, ...] = ()
    """Findings on the sentence, including those that the policy lets pass."""
    treatment: Treatment
    released: str
    """What the reader receives instead of `text`. If the sentence passes, this is `text` itself, without any line end
    or row end left over from a dropped sentence before it."""


class GuardFinished(Record):
    """The report on the whole answer. It is always the last event."""

    type: Literal["guard_finished"] = "guard_finished"
    report: FactualityReport
    """The report on the part of the answer that was read: all of it, unless `stopped`."""
    released: str
    """All the text that the reader received."""
    stopped: bool


GuardEvent = Annotated[GuardedSentence | GuardFinished, Field(discriminator="type")]
