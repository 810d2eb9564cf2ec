"""Cells of a row: of *Standard: £9.00; Express: £22.00, 2 days* each figure is of its own column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading, kept
from factloop.tools.verifiers.terms import CONTENT, FIGURES, SentenceTerms, TermKind


class Cell(NamedTuple):
    """Places of the name of a column, and of what stands under it."""

    column: tuple[int, ...]
    values: tuple[int, ...]


def figures_of_other_cells(alignment: Alignment) -> Iterator[Mismatch]:
    """A figure under a column that the claim does not name, while the one that it names has another: *Express costs
    £9.00* by *Standard: £9.00; Express: £22.00*."""
    claim, sentence = alignment.claim, alignment.sentence
    for row in _rows(sentence):
        for place in [one for one in claim.of_kind(TermKind.NUMBER) if alignment.partners.get(one)]:
            own = [cell for cell in row if set(alignment.partners[place]) & set(cell.values)]
            if not own or any(_names_some(alignment, cell) for cell in own):
                continue
            named = [cell for cell in row[1:] if _names_all(alignment, cell)]
            rivals = [one for cell in named for one in cell.values if sentence.terms[one].kind in FIGURES]
            if len(named) == 1 and rivals and named[0].values[0] == rivals[0]:
                yield Mismatch("value", (place,), (rivals[0],), excludes=True)
                return


def stands_in_named_cell(alignment: Alignment, place: int) -> bool:
    """Whether a figure of the claim stands under a column that the claim names, whatever stands in the row beside."""
    partners = set(alignment.partners.get(place, ()))
    cells = (cell for row in _rows(alignment.sentence) for cell in row[1:] if partners & set(cell.values))
    return bool(partners) and any(_names_some(alignment, cell) for cell in cells)


def _names_some(alignment: Alignment, cell: Cell) -> bool:
    return not alignment.paired.isdisjoint(cell.column)


def _names_all(alignment: Alignment, cell: Cell) -> bool:
    telling = [one for one in cell.column if alignment.sentence.terms[one].kind in CONTENT]
    return bool(telling) and alignment.paired.issuperset(telling)


@kept
def _rows(reading: Reading) -> Sequence[Sequence[Cell]]:
    """The rows among the sentences: each part between semicolons has a name before its colon."""
    rows: list[Sequence[Cell]] = []
    start = 0
    for sentence in reading.sentences:
        cells = list(_cells(sentence, start)) if "; " in sentence.text else []
        if len(cells) > 1 and all(cell.column for cell in cells):
            rows.append(cells)
        start += sum(term.kind is not TermKind.MARK for term in sentence.terms)
    return rows


def _cells(sentence: SentenceTerms, start: int) -> Iterator[Cell]:
    """The parts of a sentence between semicolons; without a colon in it a part has no column."""
    column: list[int] = []
    values: list[int] = []
    has_colon, place = False, start
    for term in sentence.terms:
        if term.kind is not TermKind.MARK:
            (values if has_colon else column).append(place)
            place += 1
        elif term.surface == ";":
            yield Cell(tuple(column) if has_colon else (), tuple(values))
            column, values, has_colon = [], [], False
        elif term.surface == ":":
            has_colon = True
    yield Cell(tuple(column) if has_colon else (), tuple(values))
