"""The events of a guard while a stream passes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from factloop.core.findings import Finding
from factloop.core.records import Claim, FactualityReport, NoClaim, Record

Treatment = Literal["passed", "annotated", "dropped", "replaced", "stopped"]


class GuardedSentence(Record):
    """One sentence was checked and dealt with. The `text` of all events together is the answer as it was written."""

    type: Literal["sentence_guarded"] = "sentence_guarded"
    text: str
    """The sentence with what stands before it: white space, list markers. The last may be that alone."""
    span: tuple[int, int]
    """Start and end of the sentence in the answer, in characters; equal without a sentence."""
    claims: tuple[Claim, ...]
    """Claims with spans in the whole answer, and ids that are unique in it."""
    no_claim: NoClaim | None = None
    """Why the sentence has no claims; None also for a stretch without a sentence."""
    findings: tuple[Finding, ...] = ()
    """Its findings, including those that the policy lets pass."""
    treatment: Treatment
    released: str
    """What the reader gets in place of `text`; where it passed the same, less the line end or row end that a dropped
    sentence before it leaves over."""


class GuardFinished(Record):
    """The whole report; always the last event."""

    type: Literal["guard_finished"] = "guard_finished"
    report: FactualityReport
    """Report on the answer as far as it was read: all of it, unless `stopped`."""
    released: str
    """All that the reader got."""
    stopped: bool


GuardEvent = Annotated[GuardedSentence | GuardFinished, Field(discriminator="type")]
