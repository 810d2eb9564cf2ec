"""The changes of a correction word by word, and the text with its changes in place."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
class ResponsePart:
    """A stretch of the response: unchanged, or one change with its number, from 1."""

    text: str
    number: int | None = None
    change: Change | None = None
    pieces: tuple[Piece, ...] = ()


def pieces(old: str, new: str) -> tuple[Piece, ...]:
    """The pieces of both wordings: those not inserted make the old, those not removed the new."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    if not old or not new or max(len(before), len(after)) > MOST_TOKENS:
        kinds: tuple[tuple[Kind, str], ...] = (("removed", old), ("inserted", new))
        return tuple(Piece(kind, text) for kind, text in kinds if text)
    return tuple(_joined(_compared(before, after)))


def parts(correction: Correction) -> list[ResponsePart]:
    """The response cut at its changes."""
    found: list[ResponsePart] = []
    reached, response = 0, correction.before.response
    for number, change in enumerate(correction.changes, 1):
        start, end = change.span
        if start > reached:
            found.append(ResponsePart(response[reached:start]))
        found.append(ResponsePart(change.old, number, change, pieces(change.old, change.new)))
        reached = end
    if reached < len(response):
        found.append(ResponsePart(response[reached:]))
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
