"""The changes of a correction word by word, and the text with its changes and marks in place."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from factloop.correction.records import Change, Correction

MOST_TOKENS = 2_000
"""Tokens of a wording that is compared word by word; a longer one stands whole, since the search takes too long."""

_TOKEN = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_]+(?:['’][^\W_]+)*|\s+|.", re.DOTALL)
"""A word, a run of white space, a mark; in scripts without spaces between words, a character."""

Kind = Literal["same", "removed", "inserted"]


@dataclass(frozen=True)
class Piece:
    """A run of words that both wordings have, or one of them."""

    kind: Kind
    text: str


@dataclass(frozen=True)
class Mark:
    """A mark after what is in doubt."""

    text: str
    kind: Literal["mark"] = "mark"


@dataclass(frozen=True)
class ResponsePart:
    """A stretch of the response: unchanged, or one change with its number, from 1."""

    text: str
    pieces: tuple[Piece | Mark, ...]
    number: int | None = None
    change: Change | None = None


def pieces(old: str, new: str) -> tuple[Piece, ...]:
    """The pieces of both wordings: those not inserted make the old, those not removed the new."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    if not old or not new or max(len(before), len(after)) > MOST_TOKENS:
        kinds: tuple[tuple[Kind, str], ...] = (("removed", old), ("inserted", new))
        return tuple(Piece(kind, text) for kind, text in kinds if text)
    return tuple(_joined(_compared(before, after)))


def parts(correction: Correction) -> list[ResponsePart]:
    """The response cut at its changes, with the marks of the text to use; one after a change is a part of its own."""
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
    """The marks that are still to be put in, while a reader goes through the text that they were put into."""

    def __init__(self, correction: Correction) -> None:
        self._not_read: Kind = "removed" if correction.accepted else "inserted"
        self._reached = inserted = 0
        self._left: deque[tuple[int, str]] = deque()
        for start, end in correction.marks:
            self._left.append((start - inserted, correction.text[start:end]))
            inserted += end - start

    def within(self, found: Sequence[Piece]) -> tuple[Piece | Mark, ...]:
        """The pieces, cut at the marks that stand within them."""
        shown: list[Piece | Mark] = []
        for piece in found:
            shown += self.due()
            text = piece.text
            if piece.kind == self._not_read:
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
        """The marks that stand at the place reached."""
        found = []
        while self._left and self._left[0][0] <= self._reached:
            found.append(Mark(self._left.popleft()[1]))
        return found


def _compared(before: list[str], after: list[str]) -> Iterator[Piece]:
    for operation, i, j, k, n in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if operation == "equal":
            yield Piece("same", "".join(before[i:j]))
            continue
        if i < j:
            yield Piece("removed", "".join(before[i:j]))
        if k < n:
            yield Piece("inserted", "".join(after[k:n]))


def _joined(found: Iterator[Piece]) -> Iterator[Piece]:
    """Joins changes with only blanks and marks between them: `a b` to `c d` is one change."""
    removed = inserted = ""
    for piece in found:
        if piece.kind == "removed":
            removed += piece.text
        elif piece.kind == "inserted":
            inserted += piece.text
        elif (removed or inserted) and not any(character.isalnum() for character in piece.text):
            removed, inserted = removed + piece.text, inserted + piece.text
        else:
            yield from _apart(removed, inserted)
            removed = inserted = ""
            yield piece
    yield from _apart(removed, inserted)


def _apart(removed: str, inserted: str) -> Iterator[Piece]:
    """A removal and an insertion without the marks that end both."""
    end = 0
    while end < min(len(removed), len(inserted)) and removed[-end - 1] == inserted[-end - 1]:
        if removed[-end - 1].isalnum():
            break
        end += 1
    common = removed[len(removed) - end :]
    if removed[: len(removed) - end]:
        yield Piece("removed", removed[: len(removed) - end])
    if inserted[: len(inserted) - end]:
        yield Piece("inserted", inserted[: len(inserted) - end])
    if common:
        yield Piece("same", common)
