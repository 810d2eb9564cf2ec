"""Columns that are spelt nearly as known ones: what they hold would be passed over without a word."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from itertools import takewhile

from factloop.core.files.rows import Row

_SEPARATOR = re.compile(r"[^a-z0-9]+")


def refuse_misspelt(row: Row, known: Collection[str]) -> None:
    """Raises DataError for a column that is spelt nearly as a known one which the row has not."""
    for name in row.fields:
        for near in sorted(known):
            if name not in known and near not in row.fields and _is_near(name, near):
                raise row.error(f"there is no such column; is it {near!r}? Rename it, or leave it out", name)


@lru_cache(maxsize=1024)
def _is_near(name: str, known: str) -> bool:
    """Whether the letters are the same but for one that is missing or too many, or two that are swapped.

    A wrong letter mostly makes another word: *store* is no *score*.
    """
    letters, wanted = (_SEPARATOR.sub("", one.lower()) for one in (name, known))
    for _ in range(2):  # cuts off the same start, and then, both turned, the same end
        n_same = len([*takewhile(lambda pair: pair[0] == pair[1], zip(letters, wanted, strict=False))])
        letters, wanted = letters[n_same:][::-1], wanted[n_same:][::-1]
    is_swapped = len(letters) == 2 and letters == wanted[::-1]
    return is_swapped or len(letters + wanted) == 0 or (len(letters + wanted) == 1 and not letters.isdigit())
