"""Finds the cells of a row that its failing claims are about, so that a mark stands beside what is wrong."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.core.findings import Finding, finding_of_claim
from factloop.core.records import Claim
from factloop.tools.text.outline import read_outline
from factloop.tools.text.rows import cell_of, cell_with

Place = tuple[int, Finding]
"""Where a cell ends in its row, and what is found of it."""


def cells_in_doubt(text: str, row: tuple[int, int], claims: Sequence[Claim]) -> tuple[Place, ...]:
    """The cells of the row that stands there in the text; empty where it is none, or one of its claims has no certain
    cell."""
    start, end = row
    faulty = [(claim, finding) for claim in claims if (finding := finding_of_claim(claim)) is not None]
    if not faulty or "|" not in text[start:end]:
        return ()
    above = next((part.above for part in read_outline(text) if (part.start, part.end) == row), "")
    said, head = text[start:end], above.rpartition("\n")[2]
    cells = [cell_of(claim.text, said, head) or cell_with(claim.judgement.wrong, said) for claim, _ in faulty]
    places = [(cell[1], finding) for cell, (_, finding) in zip(cells, faulty, strict=True) if cell is not None]
    return tuple(places) if len(places) == len(faulty) else ()
