"""The settings for a correction, and the record of its result."""

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
"""What to do with a claim for which no evidence was found."""
Contradicted = Literal["mark", "remove"]
"""What to do with a contradicted claim if the evidence offers no replacement."""
Unscored = Literal["auto", "mark", "remove", "keep"]
"""What to do with an unchecked passage (`findings.UNCHECKED`). `remove` removes its claims. `auto` marks it unless all
its unchecked claims need reading, as is common without a model. It never marks a passage without claims."""

MarkStyle = Literal["brackets", "footnotes"]


class CorrectionSettings(CheckSettings):
    """Settings for a correction, with the same names as the command-line flags."""

    contradicted: Annotated[Contradicted, Mark(CORRECTION)] = "mark"
    """Mark contradicted claims as [contradicted], or remove them, if the evidence offers no correction."""
    unsupported: Annotated[Unsupported, Mark(CORRECTION)] = "mark"
    """Mark claims without evidence as [unverified], remove them, or keep them."""
    unscored: Annotated[Unscored, Mark(CORRECTION)] = "auto"
    """Mark claims without a verdict as [unchecked], remove or keep them. auto marks them unless they need reading."""

    @property
    def check_settings(self) -> CheckSettings:
        """The settings for the checks before and after rewriting."""
        own = set(CorrectionSettings.model_fields) - set(CheckSettings.model_fields)
        return CheckSettings.of(None, **self.model_dump(exclude_unset=True, exclude=own))


class ChangeKind(StrEnum):
    REMOVED = "removed"
    MENDED = "mended"
    """The sentence was reworded to agree with the evidence, or its unsupported part was removed."""


class LeftReason(StrEnum):
    REWRITE_FAILED = "rewrite_failed"
    """The call failed, or its reply could not be used."""
    NOT_CONFIRMED = "not_confirmed"
    """The change failed the second check."""
    LAYOUT = "layout"
    """The next line belongs to the sentence, as with a table header or an underlined heading."""
    UNMENDABLE = "unmendable"
    """The evidence offers no replacement for the contradicted content, and removal was not requested."""
    NO_PLACE = "no_place"
    """The sentence is not in the response, because the caller supplied the facts."""


class Rejection(StrEnum):
    """Why no change was made. If there are several reasons, the first one is reported."""

    NOTHING_TO_CORRECT = "nothing_to_correct"
    """No claim is contradicted, and none has to be removed."""
    NOTHING_CHANGED = "nothing_changed"
    """No sentence could be changed. `left` has the reasons."""
    NOTHING_LEFT = "nothing_left"
    """The rewritten text would contain nothing that can be checked."""
    NOT_CHECKED = "not_checked"
    """More claims, in the text or in a single sentence, are unscored after the second check than after the first."""
    MORE_CONTRADICTED = "more_contradicted"
    NEW_UNSUPPORTED = "new_unsupported"
    """A rewritten sentence is contradicted or has more unsupported, unscored or irrelevant claims than before, or
    another sentence has more unsupported claims than before."""
    SUPPORTED_LOST = "supported_lost"
    """A remaining sentence has fewer supported claims than before."""
    MEANING_LOST = "meaning_lost"
    """A rewritten sentence no longer states anything."""
    UNPROVEN_LOST = "unproven_lost"
    """A rewritten sentence no longer states an unproven claim that should have been kept."""
    NOT_BETTER = "not_better"
    """Precision is not higher, and there are at least as many contradicted and unchecked claims as before."""


class Change(Record):
    """A part of the response that differs in the rewritten text."""

    kind: ChangeKind
    span: Span
    """Span in the response: `response[start:end] == old`. A removal includes the separator or list marker."""
    new_span: Span
    """Span in the rewritten text: `rewritten[start:end] == new`. Empty for a removal."""
    old: str
    new: str
    claims: tuple[str, ...]
    """Ids of the claims that caused the change, from the `before` report."""
    findings: tuple[Finding, ...] = ()
    """Findings on these claims, most serious first."""
    detail: str = ""
    """Any other reasons, such as an earlier wording that failed its check."""
    evidence: tuple[str, ...] = ()
    """Ids of the evidence for the new wording, from the `before` report."""
    by: str = ""
    """The model or rule set that wrote the new wording. Empty for a removal that needed neither."""


class LeftSentence(Record):
    """A faulty sentence that was left unchanged, with the ids of its faulty claims."""

    span: Span
    claims: tuple[str, ...]
    reason: LeftReason
    detail: str = ""


class Doubt(Record):
    """A sentence, clause or table cell in `text` with unsupported or unchecked content."""

    span: Span
    """Span in `text`, without the mark."""
    findings: Annotated[tuple[Finding, ...], Field(min_length=1)]
    """Findings, most serious first. The first one determines the mark."""
    claims: tuple[str, ...] = ()
    """Ids of the claims with these findings, from `report`. Empty if the sentence has no claims."""
    mark: Span | None = None
    """Span of the mark in `text`, including the spaces around it. None if the passage is not marked."""


class Correction(Record):
    """The result of a correction. `text` is the text to use: the rewritten text if it was accepted, or else the
    response, in both cases with marks after doubtful passages."""

    schema_version: Literal["1.0", "1.1", "1.2"] = "1.2"
    text: str
    contradicted: Contradicted = "mark"
    unsupported: Unsupported = "mark"
    unscored: Unscored = "mark"
    accepted: bool
    rejected: Rejection | None = None
    why: str
    before: FactualityReport
    rewritten: str | None = None
    """The text with its changes. None if no change was accepted."""
    changes: tuple[Change, ...] = ()
    """The changes that turn the response into `rewritten`, in order of appearance. Those undone are in `left`."""
    left: tuple[LeftSentence, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    """Unsupported or unchecked parts of `text`, in order of appearance, including unmarked parts."""
    after: FactualityReport | None = None
    """The report on `rewritten`, if any. Verdicts on unchanged sentences are copied from `before`."""
    rounds: Annotated[int, Field(ge=0)]
    """Number of times that the text was rewritten and checked."""
    rewriter: str
    prompts: Mapping[str, str] = Field(default_factory=dict)
    """SHA-256 hash of each prompt used for rewriting."""
    usage: Usage
    """The cost of rewriting and of all later checks. The cost of the first check is in `before`."""

    @property
    def report(self) -> FactualityReport:
        """The report on `text`, including the marks."""
        standing = self.after if self.accepted and self.after is not None else self.before
        marks = self.marks
        if not marks:
            return standing
        shifted = _Shift(marks)
        claims = tuple(one.model_copy(update={"span": shifted(one.span)}) for one in standing.claims)
        sentences = tuple(one.model_copy(update={"span": shifted(one.span)}) for one in standing.sentences)
        update: dict[str, object] = {"response": self.text, "claims": claims, "sentences": sentences}
        if (found := standing.citations) is not None:
            cited = tuple(one.model_copy(update={"span": shifted(one.span)}) for one in found.cited)
            update["citations"] = found.model_copy(update={"cited": cited})
        return standing.model_copy(update=update)

    @property
    def marks(self) -> list[Span]:
        """Spans of the marks, in order of appearance."""
        return sorted(doubt.mark for doubt in self.doubts if doubt.mark is not None)

    @model_validator(mode="after")
    def _is_what_it_says(self) -> Self:
        if self.accepted == (self.rejected is not None):
            raise ValueError("a correction must be either accepted or rejected for a reason")
        if self.accepted and (self.after is None or self.rewritten is None):
            raise ValueError("an accepted text must have been rewritten and checked again")
        if _without(self.text, self.marks) != (self.rewritten if self.accepted else self.before.response):
            raise ValueError("without its marks, the text must be the rewritten text if accepted, or else the response")
        if self.rewritten is not None and rewrite(self.before.response, self.changes) != self.rewritten:
            raise ValueError("the changes must turn the response into the rewritten text")
        return self


def rewrite(response: str, changes: tuple[Change, ...]) -> str:
    """Applies the changes to the response. Raises ValueError if a change's spans do not match the texts."""
    parts: list[str] = []
    reached = length = 0
    for change in changes:
        start, end = change.span
        if start < reached or response[start:end] != change.old:
            raise ValueError(f"the response does not contain the old text of a change at {change.span}")
        parts += (response[reached:start], change.new)
        length += start - reached + len(change.new)
        if change.new_span != (length - len(change.new), length):
            raise ValueError(f"the rewritten text does not contain the new text of a change at {change.new_span}")
        reached = end
    return "".join([*parts, response[reached:]])


class _Shift:
    """Converts spans in the unmarked text to spans in the text with these marks."""

    def __init__(self, marks: Sequence[Span]) -> None:
        lengths = [end - start for start, end in marks]
        self._inserted = [0, *accumulate(lengths)]
        self._places = [start - before for (start, _), before in zip(marks, self._inserted, strict=False)]

    def __call__(self, span: Span) -> Span:
        """A mark between two sentences belongs to neither."""
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
