"""Rows of a table as claims: each cell under the name of its column, with the cell that says whose row it is."""

from __future__ import annotations

from factloop.tools.linguistics.markup import plain_text

_BAR = "|"
_FEWEST_CELLS = 2
_EMPTY = frozenset({"", "-", "–", "—", "n/a", "?"})


def row_claims(row: str, head: str) -> list[str]:
    """`Plan: Team; Price: 19 €.` for each cell after the first; empty where they are no row and head of one table."""
    names, cells = _cells(head), _cells(row)
    if len(cells) < _FEWEST_CELLS or len(cells) != len(names) or not cells[0]:
        return []
    subject = _named(names[0], cells[0])
    said = [(name, cell) for name, cell in zip(names[1:], cells[1:], strict=True) if cell.lower() not in _EMPTY]
    return list(dict.fromkeys(f"{subject}; {_named(name, cell).rstrip('.')}." for name, cell in said))


def _cells(line: str) -> list[str]:
    inner = line.strip()
    inner = inner.removeprefix(_BAR).removesuffix(_BAR)
    return [plain_text(cell) for cell in inner.split(_BAR)] if _BAR in inner else []


def _named(name: str, cell: str) -> str:
    return f"{name}: {cell}" if name and name.lower() != cell.lower() else cell
