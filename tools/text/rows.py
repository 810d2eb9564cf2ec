"""Turns table rows into claims. Each claim combines a cell, its column name and the cell that names the row."""

from __future__ import annotations

from collections import Counter

from factloop.tools.text.markup import plain_text
from factloop.tools.text.words import content_words

_BAR = "|"
_FEWEST_CELLS = 2
_EMPTY = frozenset({"", "-", "–", "—", "n/a", "?"})


def row_claims(row: str, head: str) -> list[str]:
    """Returns a claim such as `Plan: Team; Price: €19.` for each cell after the first.

    Returns no claims if the row has no name or a different number of cells from the header.
    """
    names, cells = _cells(head), _cells(row)
    if len(cells) < _FEWEST_CELLS or len(cells) != len(names) or not cells[0]:
        return []
    subject = _named(names[0], cells[0])
    said = [(name, cell) for name, cell in zip(names[1:], cells[1:], strict=True) if cell.lower() not in _EMPTY]
    return list(dict.fromkeys(f"{subject}; {_claimed(name, cell)}" for name, cell in said))


def cell_of(claim: str, row: str, head: str) -> tuple[int, int] | None:
    """Returns the start and end in `row` of the cell that a claim is about, or None if that is uncertain.

    A claim from `row_claims` is about the cell from which it was made. Any other claim is about the cell whose words it
    contains. If there are several such cells, the column that the claim names decides. The first cell never counts.
    """
    cells = _cells(row)
    names = _cells(head) if len(_cells(head)) == len(cells) else [""] * len(cells)
    if not cells:
        return None
    places = range(1, len(cells))
    made = [
        place for place in places if claim == f"{_named(names[0], cells[0])}; {_claimed(names[place], cells[place])}"
    ]
    said = Counter(content_words(claim)) - Counter(content_words(cells[0]))
    found = [place for place in places if cells[place] and Counter(content_words(cells[place])) <= said]
    named = [place for place in found if names[place] and set(content_words(names[place])) <= said.keys()]
    choice = made or (named if len(found) > 1 else found)
    return _bounds(row, choice[0]) if len(choice) == 1 else None


def row_in_words(claim: str, row: str) -> str:
    """Rewrites a claim from `row_claims` as `In the row of Team, “Price” is €19.` Returns any other text unchanged."""
    cells = _cells(row)
    subject, mark, said = claim.rstrip(".").partition("; ")
    name, colon, cell = said.partition(": ")
    if not (mark and colon and cells and subject.endswith(cells[0]) and cell in (one.rstrip(".") for one in cells)):
        return claim
    return f"In the row of {cells[0]}, “{name}” is {cell}."


def cell_with(words: str, row: str) -> tuple[int, int] | None:
    """Returns the start and end of the cell that contains these words, or None unless there is exactly one."""
    cells = _cells(row)
    found = [place for place, cell in enumerate(cells) if words and f" {words} " in f" {cell} "]
    return _bounds(row, found[0]) if len(found) == 1 else None


def _bounds(row: str, place: int) -> tuple[int, int]:
    start = len(row) - len(row.lstrip().removeprefix(_BAR))
    pieces = row[start:].split(_BAR)
    start += sum(len(piece) + 1 for piece in pieces[:place])
    end = start + len(pieces[place].rstrip())
    return end - len(pieces[place].strip()), end


def _cells(line: str) -> list[str]:
    inner = line.strip()
    inner = inner.removeprefix(_BAR).removesuffix(_BAR)
    return [plain_text(cell) for cell in inner.split(_BAR)] if _BAR in inner else []


def _claimed(name: str, cell: str) -> str:
    return f"{_named(name, cell).rstrip('.')}."


def _named(name: str, cell: str) -> str:
    return f"{name}: {cell}" if name and name.lower() != cell.lower() else cell
