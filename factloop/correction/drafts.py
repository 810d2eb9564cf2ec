"""Keeps track of the new wording of each faulty sentence, and revises it if a draft fails its check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from factloop.core.findings import by_gravity, findings_of_claims
from factloop.correction.acceptance import Fate
from factloop.correction.edits import Edit, apply, edits_of
from factloop.correction.records import Change, ChangeKind, LeftReason, LeftSentence
from factloop.correction.sentences import ResponseSentence, ids

Span = tuple[int, int]

NOT_CONFIRMED = "the first new wording failed the second check"


@dataclass(frozen=True)
class Wording:
    """A new wording for a sentence. Empty text removes the sentence."""

    text: str
    evidence: tuple[str, ...] = ()
    """Ids of the evidence for the wording."""
    by: str = ""
    detail: str = ""
    """Reasons for the wording other than the findings on the claims."""
    otherwise: Wording | None = None
    """Another wording to try if this one fails the check."""
    is_cut: bool = False
    """Whether contradicted content was left out because the evidence offers no replacement."""

    @property
    def takes_out(self) -> bool:
        """Whether content of the original sentence is dropped rather than replaced."""
        return self.is_cut or not self.text


@dataclass(frozen=True)
class Draft:
    """A version of the rewritten text. Sentences are identified by their number in the response."""

    response: str
    sentences: Sequence[ResponseSentence]
    wordings: Mapping[int, Wording]
    left: Mapping[int, LeftSentence] = field(default_factory=dict)

    @cached_property
    def edits(self) -> list[Edit]:
        spans = [(sentence.start, sentence.end) for sentence in self.sentences]
        return edits_of(self.response, spans, {number: one.text for number, one in self.wordings.items()})

    @property
    def text(self) -> str:
        return apply(self.response, self.edits)

    def text_before(self, start: int) -> str:
        return apply(self.response[:start], [edit for edit in self.edits if edit.start < start])

    def moved(self, span: Span) -> Span:
        """Returns the new position of a span, or an empty span after the edit that overlaps it."""
        start, end = span
        shift = 0
        for edit in self.edits:
            if edit.start >= end:
                break
            if edit.end > start:
                after = edit.start + shift + len(edit.new)
                return after, after
            shift += len(edit.new) - (edit.end - edit.start)
        return start + shift, end + shift

    @property
    def fates(self) -> list[Fate]:
        edit_of = {number: edit for edit in self.edits for number in edit.sentences}
        fates, shift, shifted = [], 0, None
        for number, sentence in enumerate(self.sentences):
            edit = edit_of.get(number)
            if edit is None:
                fates.append(Fate(sentence.start + shift, sentence.end + shift, False, sentence.claims))
                continue
            start = edit.start + shift if shifted is not edit else fates[-1].end
            fates.append(Fate(start, start + len(edit.new), bool(edit.new), sentence.claims, len(sentence.unproven)))
            if shifted is not edit:
                shift, shifted = shift + len(edit.new) - (edit.end - edit.start), edit
        return fates

    @property
    def changes(self) -> tuple[Change, ...]:
        changes, shift = [], 0
        for edit in self.edits:
            wordings = [self.wordings[number] for number in edit.sentences]
            wrong = [claim for number in sorted(edit.sentences) for claim in self.sentences[number].wrong]
            start = edit.start + shift
            changes.append(
                Change(
                    kind=ChangeKind.MENDED if edit.new else ChangeKind.REMOVED,
                    span=(edit.start, edit.end),
                    new_span=(start, start + len(edit.new)),
                    old=self.response[edit.start : edit.end],
                    new=edit.new,
                    claims=ids(wrong),
                    findings=by_gravity(findings_of_claims(wrong)),
                    detail="; ".join(dict.fromkeys(one.detail for one in wordings if one.detail)),
                    evidence=tuple(dict.fromkeys(item for one in wordings for item in one.evidence)),
                    by=wordings[0].by,
                )
            )
            shift += len(edit.new) - (edit.end - edit.start)
        return tuple(changes)

    def without(self, failed: Mapping[int, str], *, removing: bool = True) -> Draft:
        """Returns a draft without the changes that failed. `failed` maps sentence numbers to reasons.

        A reworded sentence gets its alternative wording or, if it has no claims to keep, is removed. With
        `removing=False`, its original wording is restored. If an unchanged sentence failed, the last change before it
        is undone, because the sentence probably depends on it.
        """
        wordings, left = dict(self.wordings), dict(self.left)
        for number in sorted(failed):
            reworded = self.wordings.get(number)
            if removing and reworded is not None and reworded.otherwise is not None:
                wordings[number] = reworded.otherwise
                continue
            if removing and reworded is not None and reworded.text and not self.sentences[number].kept:
                wordings[number] = Wording("", detail=NOT_CONFIRMED)
                continue
            before = max((one for one in self.wordings if one < number), default=None)
            undone = number if reworded is not None else before
            if undone is not None and wordings.pop(undone, None) is not None:
                left[undone] = left_alone(self.sentences[undone], LeftReason.NOT_CONFIRMED, failed[number])
        return replace(self, wordings=wordings, left=left)


def left_alone(sentence: ResponseSentence, reason: LeftReason, detail: str = "") -> LeftSentence:
    return LeftSentence(span=(sentence.start, sentence.end), claims=ids(sentence.wrong), reason=reason, detail=detail)
