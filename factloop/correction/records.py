"""Settings and records of a correction: the text to use, its changes and their reasons, the checks before and after."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import accumulate
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from factloop.core.findings import Finding
from factloop.core.records import Count, FactualityReport, Record, Usage
from factloop.setup.marks import CORRECTION, Mark
from factloop.setup.settings import CheckSettings

Span = tuple[Count, Count]

Unsupported = Literal["mark", "remove", "keep"]
"""What becomes of a claim for which no evidence was found: marked in the text, taken out of it, or left as it is."""
Contradicted = Literal["mark", "remove"]
"""What becomes of a contradicted claim where the evidence has no words to put in its place: marked, or taken out."""
Unscored = Literal["mark", "keep"]
"""What becomes of an unchecked passage (`findings.UNCHECKED`): marked in the text, or left as it is."""


class CorrectionSettings(CheckSettings):
    """Settings of a correction. Names are those of the command line's flags."""

    contradicted: Annotated[Contradicted, Mark(CORRECTION)] = "mark"
    """Contradicted claims without a correction in the evidence: mark them [contradicted], or remove them."""
    unsupported: Annotated[Unsupported, Mark(CORRECTION)] = "mark"
    """Claims without evidence: mark them [unverified], remove them, or keep them."""
    unscored: Annotated[Unscored, Mark(CORRECTION)] = "mark"
    """Claims without a verdict: mark them [unchecked], or keep them."""

    @property
    def check_settings(self) -> CheckSettings:
        """The settings of its checks."""
        own = set(CorrectionSettings.model_fields) - set(CheckSettings.model_fields)
        return CheckSettings.of(None, **self.model_dump(exclude_unset=True, exclude=own))


class ChangeKind(StrEnum):
    """The change of a faulty sentence."""

    REMOVED = "removed"
    MENDED = "mended"
    """Reworded: from the evidence, or without the part that nothing supports."""


class LeftReason(StrEnum):
    """Why a sentence that was to be changed is as it was."""

    REWRITE_FAILED = "rewrite_failed"
    """There was no new wording: the call failed, or its reply could not be used."""
    NOT_CONFIRMED = "not_confirmed"
    """The change failed the second check."""
    LAYOUT = "layout"
    """What follows would lose its meaning: the head of a table, a heading that is underlined."""
    UNMENDABLE = "unmendable"
    """The evidence has no words to replace what it contradicts, which was not to be removed."""
    NO_PLACE = "no_place"
    """The response does not hold the sentence (its facts were given)."""


class Rejection(StrEnum):
    """Why the original stands: the first of these that holds, in this order."""

    NOTHING_TO_CORRECT = "nothing_to_correct"
    """No claim is contradicted; with `unsupported="remove"`, none is unproven either."""
    NOTHING_CHANGED = "nothing_changed"
    """No sentence could be changed; `left` has a reason for each."""
    NOTHING_LEFT = "nothing_left"
    """A removal would leave nothing that can be checked."""
    NOT_CHECKED = "not_checked"
    """The second check left more claims unscored than the first."""
    MORE_CONTRADICTED = "more_contradicted"
    NEW_UNSUPPORTED = "new_unsupported"
    """A rewritten sentence is contradicted, or has more unsupported, unscored or irrelevant claims than before; or a
    sentence after a removed one has more unsupported claims."""
    SUPPORTED_LOST = "supported_lost"
    """A sentence that remains has fewer supported claims than it had."""
    MEANING_LOST = "meaning_lost"
    """A rewritten sentence states nothing any more."""
    UNPROVEN_LOST = "unproven_lost"
    """A rewritten sentence no longer states an unproven claim that it was to keep."""
    NOT_BETTER = "not_better"
    """Precision is not higher, and no fewer claims are contradicted."""


class Change(Record):
    """One stretch of the response that differs in the rewritten text."""

    kind: ChangeKind
    span: Span
    """Span in the response, in characters: `response[start:end] == old`. A removal takes separator or list marker."""
    new_span: Span
    """Span in the rewritten text: `rewritten[start:end] == new`; empty for a removal."""
    old: str
    new: str
    claims: tuple[str, ...]
    """Ids, in the report before, of the claims that stand there and are the reason."""
    findings: tuple[Finding, ...] = ()
    """Why: what is found of these claims, the gravest first. Empty in corrections of version 1.0."""
    detail: str = ""
    """What else led to it: a new wording that failed its check, say."""
    evidence: tuple[str, ...] = ()
    """Ids, in the report before, of the evidence that the new wording was made from."""
    by: str = ""
    """The model or rule set that worded it; empty for a removal that needed none."""


class LeftSentence(Record):
    """A faulty sentence that was left as it is; `claims` are its faults."""

    span: Span
    claims: tuple[str, ...]
    reason: LeftReason
    detail: str = ""


class Doubt(Record):
    """A sentence of `text`, or a cell of a row, with unsupported or unchecked content."""

    span: Span
    """Span in `text`, without its mark."""
    findings: Annotated[tuple[Finding, ...], Field(min_length=1)]
    """The gravest first: the mark speaks of it."""
    claims: tuple[str, ...] = ()
    """Ids, in `report`, of the claims that these are found of; empty where the sentence has no claim."""
    mark: Span | None = None
    """Span of the mark in `text`, with the blanks around it. None without a mark: by the policy, or in code."""


class Correction(Record):
    """The result of one correction.

    `text` is always the one to use: the rewritten text where it was accepted, else the response, with marks after the
    sentences in doubt.
    """

    schema_version: Literal["1.0", "1.1", "1.2", "1.3"] = "1.3"
    """Corrections of version 1.0 have no doubts: what nothing proved was removed; 1.2 has reports of version 1.2; until
    then what could not be mended was removed."""
    text: str
    contradicted: Contradicted = "remove"
    unsupported: Unsupported = "remove"
    unscored: Unscored = "keep"
    accepted: bool
    """Whether the rewritten text was taken."""
    rejected: Rejection | None = None
    why: str
    """The decision in words, with its numbers."""
    before: FactualityReport
    rewritten: str | None = None
    """None where no sentence could be changed. A text that was not accepted is here all the same."""
    changes: tuple[Change, ...] = ()
    """Changes in the order of the response, which make `rewritten` of it."""
    left: tuple[LeftSentence, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    """What stands in `text` and is not supported, or was not checked, in the order of the text: marked or not."""
    after: FactualityReport | None = None
    """The check of `rewritten`; None where there was nothing to check. Verdicts on untouched sentences are those of
    `before`."""
    rounds: Annotated[int, Field(ge=0)]
    """Times that a text was rewritten and checked."""
    rewriter: str
    prompts: Mapping[str, str] = Field(default_factory=dict)
    """SHA-256 of each prompt that the rewriting used."""
    usage: Usage
    """Usage of the rewriting and the checks after it; that of the first check is in `before`."""

    @property
    def report(self) -> FactualityReport:
        """The report on `text`, marks included."""
        standing = self.after if self.accepted and self.after is not None else self.before
        marks = self.marks
        if not marks:
            return standing
        shifted = _Shift(marks)
        claims = tuple(one.model_copy(update={"span": shifted(one.span)}) for one in standing.claims)
        sentences = tuple(one.model_copy(update={"span": shifted(one.span)}) for one in standing.sentences)
        return standing.model_copy(update={"response": self.text, "claims": claims, "sentences": sentences})

    @property
    def marks(self) -> list[Span]:
        """The spans of the marks in the order of the text."""
        return sorted(doubt.mark for doubt in self.doubts if doubt.mark is not None)

    @model_validator(mode="after")
    def _is_what_it_says(self) -> Self:
        if self.accepted == (self.rejected is not None):
            raise ValueError("a correction is either accepted or rejected for a reason")
        if self.accepted and (self.after is None or self.rewritten is None):
            raise ValueError("an accepted text was rewritten and checked again")
        if _without(self.text, self.marks) != (self.rewritten if self.accepted else self.before.response):
            raise ValueError("text without its marks is the rewritten one exactly where that was accepted")
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


class _Shift:
    """Shifts spans of the text without marks to those of the text with them. `marks` are in the latter, in order."""

    def __init__(self, marks: Sequence[Span]) -> None:
        lengths = [end - start for start, end in marks]
        self._inserted = [0, *accumulate(lengths)]
        self._places = [start - before for (start, _), before in zip(marks, self._inserted, strict=False)]

    def __call__(self, span: Span) -> Span:
        """A mark stands after the sentence that ends there, and before the one that begins there."""
        start, end = span
        before_end = self._inserted[bisect_left(self._places, end)]
        before_start = self._inserted[bisect_right(self._places, start)] if start < end else before_end
        return start + before_start, end + before_end


def _without(text: str, marks: Sequence[Span]) -> str:
    parts: list[str] = []
    reached = 0
    for start, end in marks:
        parts.append(text[reached:start])
        reached = end
    return "".join([*parts, text[reached:]])
