"""What a correction yields: the text to use, what was changed in it and why, and the checks before and after."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from factloop.records import Count, FactualityReport, Record, Usage

Span = tuple[Count, Count]


class ChangeKind(StrEnum):
    """What happened to a faulty sentence."""

    REMOVED = "removed"
    MENDED = "mended"
    """Worded anew: from the evidence, or without the part that nothing supports."""


class LeftReason(StrEnum):
    """Why a sentence with a claim that is not supported is as it was."""

    REWRITE_FAILED = "rewrite_failed"
    """No new wording was to be had: the call failed, or its reply could not be used."""
    NOT_CONFIRMED = "not_confirmed"
    """The change was made, and did not stand the second check."""
    LAYOUT = "layout"
    """What follows would lose its meaning: the head of a table, a heading that is underlined."""
    NO_PLACE = "no_place"
    """The response does not hold the sentence (its facts were given)."""


class Rejection(StrEnum):
    """Why the original stands: the first of these that holds, in this order."""

    NOTHING_TO_CORRECT = "nothing_to_correct"
    """No claim is not supported."""
    NOTHING_CHANGED = "nothing_changed"
    """No sentence could be changed; `left` says why of each."""
    NOTHING_LEFT = "nothing_left"
    """Nothing that can be checked would remain."""
    NOT_CHECKED = "not_checked"
    """The second check left more claims without a verdict than the first."""
    MORE_CONTRADICTED = "more_contradicted"
    NEW_UNSUPPORTED = "new_unsupported"
    """A rewritten sentence states what is not supported, what cannot be judged, or what is beside the question; or an
    untouched one now states what is not supported."""
    SUPPORTED_LOST = "supported_lost"
    """A sentence that remains has fewer supported claims than it had."""
    MEANING_LOST = "meaning_lost"
    """A rewritten sentence states nothing any more."""
    NOT_BETTER = "not_better"
    """Precision is not higher."""


class Change(Record):
    """One stretch of the response that the rewritten text has otherwise."""

    kind: ChangeKind
    span: Span
    """In the response, in characters: `response[start:end] == old`. A removal includes its separator or list marker."""
    new_span: Span
    """In the rewritten text: `rewritten[start:end] == new`; empty for a removal."""
    old: str
    new: str
    claims: tuple[str, ...]
    """Ids, in the report before, of the claims that are not supported and stand there."""
    evidence: tuple[str, ...] = ()
    """Ids, in the report before, of the evidence that the new wording was made from."""
    by: str = ""
    """The model or rule set that worded it; empty for a removal that needed none."""


class Left(Record):
    """A sentence with claims that are not supported, which is as it was."""

    span: Span
    claims: tuple[str, ...]
    reason: LeftReason
    detail: str = ""


class Correction(Record):
    """The result of one correction.

    `text` is always the one to use: the rewritten text where it was accepted, else the response as it was.
    """

    schema_version: Literal["1.0"] = "1.0"
    text: str
    accepted: bool
    rejected: Rejection | None = None
    why: str
    """The decision in words, with its numbers."""
    before: FactualityReport
    rewritten: str | None = None
    """None where no sentence could be changed. A text that was not accepted is here all the same."""
    changes: tuple[Change, ...] = ()
    """In the order of the response: what makes `rewritten` of it."""
    left: tuple[Left, ...] = ()
    after: FactualityReport | None = None
    """The check of `rewritten`; None where there was nothing to check."""
    rounds: Annotated[int, Field(ge=0)]
    """Times that a text was rewritten and checked."""
    rewriter: str
    prompts: Mapping[str, str] = Field(default_factory=dict)
    """SHA-256 of each prompt that the rewriting used."""
    usage: Usage
    """Of the rewriting and the checks after it; that of the first check is in `before`."""

    @property
    def report(self) -> FactualityReport:
        """The report on `text`."""
        return self.after if self.accepted and self.after is not None else self.before

    @model_validator(mode="after")
    def _is_what_it_says(self) -> Self:
        if self.accepted == (self.rejected is not None):
            raise ValueError("a correction is either accepted or rejected for a reason")
        if self.accepted and (self.after is None or self.rewritten is None):
            raise ValueError("an accepted text was rewritten and checked again")
        if self.text != (self.rewritten if self.accepted else self.before.response):
            raise ValueError("text is the rewritten one exactly where that was accepted")
        if self.rewritten is not None and rewrite(self.before.response, self.changes) != self.rewritten:
            raise ValueError("the changes do not make the rewritten text of the response")
        return self


def rewrite(response: str, changes: tuple[Change, ...]) -> str:
    """The response with its changes made. Raises ValueError where spans and wordings do not agree."""
    parts: list[str] = []
    reached = length = 0
    for change in changes:
        start, end = change.span
        if start < reached or response[start:end] != change.old:
            raise ValueError(f"the change at {change.span} is not what the response holds there")
        parts += (response[reached:start], change.new)
        length += start - reached + len(change.new)
        if change.new_span != (length - len(change.new), length):
            raise ValueError(f"the change at {change.span} does not stand at {change.new_span}")
        reached = end
    return "".join([*parts, response[reached:]])
