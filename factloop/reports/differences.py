"""Compares two wordings phrase by phrase."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

MOST_TOKENS = 1_000
"""Longer wordings are not compared, because this would take too long."""

_TOKEN = re.compile(
    r"(?:(?<!\w)[-+−]?\.?)?\d+(?:[.,:]\d+)*(?:[a-zA-Z]+|%)?"
    r"|[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_]+(?:['’][^\W_]+|(?<=\d)[.,:]\d+)*|\s+|.",
    re.DOTALL,
)
"""A number, a word, white space or a punctuation mark. In scripts without spaces, each character is a token."""
_FIRST_CODE = 0x100

Kind = Literal["same", "removed", "inserted"]
_KINDS: dict[int, Kind] = {-1: "removed", 0: "same", 1: "inserted"}


@dataclass(frozen=True)
class Piece:
    """A run of words found in both wordings, or in only one of them."""

    kind: Kind
    text: str


def pieces(old: str, new: str) -> tuple[Piece, ...]:
    """Compares two wordings, and returns their pieces in order. Without the inserted pieces, they form the old wording;
    without the removed ones, the new wording. Changes that are only a few words apart are merged."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    if not old or not new or max(len(before), len(after)) > MOST_TOKENS:
        kinds: tuple[tuple[Kind, str], ...] = (("removed", old), ("inserted", new))
        return tuple(Piece(kind, text) for kind, text in kinds if text)
    return tuple(_compared(before, after))


def place_of_words(text: str, words: str) -> tuple[int, int] | None:
    """Returns where these whole words and numbers occur in the text, ignoring case, or None if they do not."""
    if not words.strip():
        return None
    pattern = r"\s+".join(map(re.escape, words.split()))
    whole = r"(?<!\w)(?!(?<=\d[.,:])\d)(?!(?<!\d[-+−])(?<=[-+−])\d)"  # not in 12.5 or -5, but in 3-5
    found = re.search(rf"{whole}{pattern}(?!\w)(?!(?<=\d)[.,:]\d)", text, re.IGNORECASE)
    return found.span() if found else None


def _compared(before: list[str], after: list[str]) -> Iterator[Piece]:
    from diff_match_patch import diff_match_patch  # type: ignore[import-untyped]  # no types

    codes: dict[str, str] = {}
    coded = ["".join(codes.setdefault(one, chr(_FIRST_CODE + len(codes))) for one in side) for side in (before, after)]
    library = diff_match_patch()
    library.Diff_Timeout = 0  # no timeout, so that the result is deterministic
    found = library.diff_main(*coded, False)
    library.diff_cleanupSemantic(found)
    tokens = {code: token for token, code in codes.items()}
    for operation, text in found:
        yield Piece(_KINDS[operation], "".join(tokens[code] for code in text))
