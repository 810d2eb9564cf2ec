"""Lays our figures beside the published ones, place by place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from factloop.evaluation.reproduction.published import Names, PublishedTable, decimals_of
from factloop.evaluation.reproduction.records import ComparedFigure, Origin, Value

ROUNDED = 0.05
"""How far a figure printed with one decimal may be off."""


@dataclass(frozen=True)
class OurFigure:
    """A figure of ours, in the unit of the paper's."""

    value: Value
    origin: Origin
    n: int | None = None
    slack: float = 0.0


Ours = Mapping[tuple[Names, str], OurFigure]
"""Row and column of a table to our figure."""


def compare_table(published: PublishedTable, ours: Ours) -> tuple[ComparedFigure, ...]:
    """Every place of the table, then what only we have (other systems, other evaluators)."""
    known = {(names, column) for names, column, _ in published.places()}
    theirs = [
        compared(names, column, printed, ours.get((names, column))) for names, column, printed in published.places()
    ]
    return (*theirs, *(compared(*place, None, found) for place, found in ours.items() if place not in known))


def compared(names: Names, column: str, printed: Decimal | str | None, ours: OurFigure | None) -> ComparedFigure:
    """One place; `printed` is None where the paper has no such figure, `ours` where we have none."""
    is_number = isinstance(printed, Decimal)
    return ComparedFigure(
        names=names,
        column=column,
        published=float(printed) if isinstance(printed, Decimal) else printed,
        decimals=decimals_of(printed) if isinstance(printed, Decimal) else (0 if is_number or printed else 1),
        ours=None if ours is None else ours.value,
        origin=None if ours is None else ours.origin,
        n=None if ours is None else ours.n,
        slack=0.0 if ours is None else ours.slack,
    )
