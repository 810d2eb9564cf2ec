"""The events that a guard emits while a stream passes through it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from factloop.core.findings import Finding
from factloop.core.records import Claim, FactualityReport, NoClaim, Record

Treatment = Literal["passed", "annotated", "dropped", "replaced", "stopped"]


class GuardedSentence(Record):
    """A sentence that has been checked and processed. Joining the `text` of all events gives the original answer."""

    type: Literal["sentence_guarded"] = "sentence_guarded"
    text: str
    """The sentence and any white space or list markers before it. The last event may contain no sentence."""
    span: tuple[int, int]
    """Start and end of the sentence in the answer, in characters. They are equal if there is no sentence."""
    claims: tuple[Claim, ...]
    """The claims in the sentence. Their spans refer to the whole answer, and their ids are unique within it."""
    no_claim: NoClaim | None = None
    """None if the sentence has claims, or if there is no sentence."""
    findings: tuple[Finding, ...] = ()
    """All findings on the sentence, including those that the policy lets pass."""
    treatment: Treatment
    released: str
    """The text for the user: `text` if the sentence passes, without the rest of a line or row dropped before it."""


class GuardFinished(Record):
    """The last event, with the report on the whole answer."""

    type: Literal["guard_finished"] = "guard_finished"
    report: FactualityReport
    """The report on the answer, or on the part that was read if the stream was stopped."""
    released: str
    """All the text that the user received."""
    stopped: bool


GuardEvent = Annotated[GuardedSentence | GuardFinished, Field(discriminator="type")]
