"""Splits a corrected text into unchanged parts, changes and marks."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from factloop.correction.records import Change, Correction
from factloop.reports.differences import Piece, pieces


@dataclass(frozen=True)
class Mark:
    text: str
    kind: Literal["mark"] = "mark"


@dataclass(frozen=True)
class ResponsePart:
    """Unchanged text or a single change. Changes are numbered from 1."""

    text: str
    pieces: tuple[Piece | Mark, ...]
    number: int | None = None
    change: Change | None = None


def parts(correction: Correction) -> list[ResponsePart]:
    """Splits the response, including its marks, at the changes. A mark after a change is a separate part."""
    marks = _Marks(correction)
    found: list[ResponsePart] = []
    reached, response = 0, correction.before.response
    for number, change in enumerate(correction.changes, 1):
        start, end = change.span
        found += _unchanged(response[reached:start], marks)
        found.append(ResponsePart(change.old, marks.within(pieces(change.old, change.new)), number, change))
        found += [ResponsePart("", (mark,)) for mark in marks.due()]
        reached = end
    return [*found, *_unchanged(response[reached:], marks)]


def _unchanged(text: str, marks: _Marks) -> list[ResponsePart]:
    shown = (*marks.within((Piece("same", text),)), *marks.due()) if text else ()
    return [ResponsePart(text, shown)] if shown else []


class _Marks:
    """The marks that have not been inserted yet."""

    def __init__(self, correction: Correction) -> None:
        self._reached = inserted = 0
        self._left: deque[tuple[int, str]] = deque()
        for start, end in correction.marks:
            self._left.append((start - inserted, correction.text[start:end]))
            inserted += end - start

    def within(self, found: Sequence[Piece]) -> tuple[Piece | Mark, ...]:
        shown: list[Piece | Mark] = []
        for piece in found:
            shown += self.due()
            text = piece.text
            if piece.kind == "removed":
                shown.append(piece)
                continue
            while self._left and self._left[0][0] < self._reached + len(text):
                cut = self._left[0][0] - self._reached
                shown.append(Piece(piece.kind, text[:cut]))
                text, self._reached = text[cut:], self._reached + cut
                shown += self.due()
            shown.append(Piece(piece.kind, text))
            self._reached += len(text)
        return tuple(shown)

    def due(self) -> list[Mark]:
        found = []
        while self._left and self._left[0][0] <= self._reached:
            found.append(Mark(self._left.popleft()[1]))
        return found
