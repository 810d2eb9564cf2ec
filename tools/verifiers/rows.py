"""A claim of a table's row, held against the rows of the sources: same subject and column, the same value or another.

Rows are lines of `name: value` between semicolons, as documents are read and as the offline engine words them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from factloop.tools.verifiers.base import SupportReading

SAID, OTHERWISE = 0.95, 0.05
"""Scores of what a row says as the claim has it, and otherwise. Too rare in labelled data to be calibrated."""

_BETWEEN = "; "
_CELL = re.compile(r"([^:;]{1,80}): (.{1,300})")
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[€$£¥%]")
_SAME = {
    "€": "eur",
    "euro": "eur",
    "euros": "eur",
    "$": "usd",
    "dollar": "usd",
    "dollars": "usd",
    "£": "gbp",
    "%": "percent",
}
_UNTOLD = frozenset({"a", "an", "the", "per", "of", "in", "each", "for"})

Cells = Mapping[str, str]


def verify_row(claim: str, passages: Sequence[str]) -> SupportReading | None:
    """What the sources' rows say of the claim's; None where it is none, or none of theirs has its subject and column.

    Several rows of one subject that disagree say nothing against it: then its first cell is no key.
    """
    cells = _cells(claim.removesuffix("."))
    if len(cells) < 2:
        return None
    subject, *said = cells.items()
    rows = [
        (number, line, held)
        for number, line, row in _rows(passages)
        for held in [_held(said, row)]
        if held is not None and _value(row, subject[0], or_any=True, wanted=subject[1])
    ]
    if not rows:
        return None
    for number, line, held in rows:
        if all(_is_same(cell, held[name]) for name, cell in said):
            return SupportReading("supported", SAID, (number,), f"Borne out by: “{line}”", line)
    if len({tuple(held.values()) for _, _, held in rows}) > 1:
        return None
    number, line, held = rows[0]
    wrong, instead = next((cell, held[name]) for name, cell in said if not _is_same(cell, held[name]))
    rationale = f'The source says "{instead}", the claim "{wrong}": “{line}”'
    return SupportReading("contradicted", OTHERWISE, (number,), rationale, line, wrong, instead)


def without_columns(claim: str) -> str | None:
    """The cells of a row alone, since running text calls a price what *costs*; None for a claim that is no row."""
    cells = _cells(claim.removesuffix("."))
    return f"{' | '.join(cells.values())}." if len(cells) > 1 else None


def _rows(passages: Sequence[str]) -> Iterator[tuple[int, str, Cells]]:
    for number, passage in enumerate(passages):
        for line in passage.splitlines():
            cells = _cells(line)
            if len(cells) > 1:
                yield number, line.strip(), cells


def _cells(line: str) -> Cells:
    """The cells of a row by the names of their columns; empty where a part of the line has no name."""
    found = [_CELL.fullmatch(part.strip()) for part in line.split(_BETWEEN)]
    return {one[1].strip(): one[2].strip() for one in found if one is not None} if all(found) else {}


def _held(said: Sequence[tuple[str, str]], row: Cells) -> Cells | None:
    """The cells of a row under the columns of the claim; None where it lacks one."""
    held = {name: _value(row, name) for name, _ in said}
    return {name: cell for name, cell in held.items() if cell} if all(held.values()) else None


def _value(row: Cells, name: str, *, or_any: bool = False, wanted: str = "") -> str:
    """The cell of the one column that is called alike; with `or_any` also the first cell where it is the one wanted."""
    words = _words(name)
    cells = [cell for other, cell in row.items() if words and (words <= _words(other) or _words(other) <= words)]
    if or_any:
        cells = [cell for cell in (*cells, next(iter(row.values()))) if _is_same(cell, wanted)]
        return cells[0] if cells else ""
    return cells[0] if len(cells) == 1 else ""


def _words(name: str) -> frozenset[str]:
    return frozenset(token.removesuffix("s") for token in _TOKEN.findall(name.lower())) - _UNTOLD


def _is_same(one: str, other: str) -> bool:
    return _tokens(one) == _tokens(other)


def _tokens(cell: str) -> list[str]:
    """The words and figures of a cell in an order of their own: `5 €` and `€5` are one."""
    tokens = (_SAME.get(token, token) for token in _TOKEN.findall(cell.lower()))
    return sorted(token.replace(",", "") for token in tokens if token not in _UNTOLD)
