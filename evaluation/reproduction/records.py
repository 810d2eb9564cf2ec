"""Records of a reproduction: what can be reproduced, and published figures beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from factloop.core.records import Count, Record
from factloop.evaluation.reproduction.published import Names, PublishedTable, decimals_of


class Status(StrEnum):
    """How far an entry has been reproduced here."""

    REPRODUCED = "reproduced"
    """Its figures come out as printed, from labelled data or by rule, but for what the entry says."""
    CHECKED = "agrees with check values"
    """Its figures come out as another program counted them; the paper prints none of them."""
    IN_PART = "reproduced in part"
    """Some columns do; the others need a model, or data that are not available."""
    PRINTED = "follows from printed figures"
    """Some of it follows from other figures of the paper: its sums hold, but no data were read. The rest needs a
    model."""
    NEEDS_MODEL = "needs a model"
    CANNOT = "cannot"
    """What it rests on was not published."""


class Origin(StrEnum):
    """What our figure was computed from."""

    LABELS = "labels"
    RESULTS = "results"
    """The output of another command, such as the predictions of `factloop research verify`."""
    PRINTED = "printed figures"
    """Other figures that the paper prints: this compares our formula with the paper's, without its data."""
    RULE = "our rule"
    """Nothing but our own code."""


Value = float | str | None
UNDEFINED = "undefined"
"""A figure that the paper prints as not a number, or that ours does not define: if both are so, they are equal."""
ROUNDED = 0.05
"""How far a figure printed with one decimal may be off."""


class ComparedFigure(Record):
    """One place of a published table: their figure, ours, and what ours rests on."""

    names: tuple[str, ...]
    """The names that the row has in the paper."""
    column: str
    published: Value = None
    """None where the paper has no such figure."""
    decimals: Count = 0
    """Digits after the point that the paper prints."""
    ours: Value = None
    """None where it could not be computed."""
    origin: Origin | None = None
    n: Count | None = None
    """Items that ours rests on."""
    slack: float = 0.0
    """How far ours may be off for rounding alone, as it was computed from rounded figures."""

    @property
    def difference(self) -> float | None:
        """Ours minus theirs, without what floats add (1e-9); None unless both are numbers."""
        if isinstance(self.ours, float) and isinstance(self.published, float):
            return round(self.ours - self.published, 9) + 0.0
        return None

    @property
    def is_compared(self) -> bool:
        return self.ours is not None and self.published is not None

    @property
    def is_equal(self) -> bool:
        """Whether the two are the same as far as the paper prints them."""
        difference = self.difference
        if difference is None:
            return self.is_compared and self.ours == self.published
        return abs(difference) <= 0.5 * 10.0**-self.decimals + self.slack + 1e-9


class Reproduction(Record):
    """One table or figure, reproduced as far as the inputs go."""

    schema_version: Literal["1.1"] = "1.1"
    entry: str
    title: str
    unit: str
    against: Literal["paper", "check values"] = "paper"
    """What ours are held against, in `published`: what the paper prints, or what another program counted."""
    figures: tuple[ComparedFigure, ...]
    notes: tuple[str, ...] = ()
    """What was read, what is missing, and what a reader must know of the figures."""

    @property
    def n_compared(self) -> int:
        return sum(one.is_compared for one in self.figures)

    @property
    def n_equal(self) -> int:
        return sum(one.is_equal for one in self.figures)

    @property
    def n_against_itself(self) -> int:
        """Compared figures that follow from others that the paper prints: they show its sums, not its data."""
        return sum(one.is_compared and one.origin is Origin.PRINTED for one in self.figures)


class ListedEntry(Record):
    """An entry as the list has it."""

    id: str
    """`PAPER:PLACE`, such as `vwc:table-21`."""
    title: str
    status: Status
    why: str
    """What came out, or why nothing can: one or two sentences."""
    data: tuple[str, ...]
    """Labelled data sets that it takes, as `NAME:PART`."""
    model: str
    """The models that it takes for what labels do not give; empty where none is needed."""
    key: str
    """The key that it takes beside that of the model, such as one for a search."""
    command: str
    """The command whose output `--results` reads."""
    calls: str
    """What the models would be asked, for an estimate of the cost."""


class EntryList(Record):
    """Everything that there is to reproduce."""

    schema_version: Literal["2.0"] = "2.0"
    entries: tuple[ListedEntry, ...]


@dataclass(frozen=True)
class OurFigure:
    """A figure of ours, in the unit of the paper's."""

    value: Value
    origin: Origin
    n: int | None = None
    slack: float = 0.0


Ours = dict[tuple[Names, str], OurFigure]
"""Row and column of a table to our figure."""


def percent(share: float | None, n: int, origin: Origin = Origin.RESULTS) -> OurFigure:
    """A share as a figure in per cent."""
    return OurFigure(None if share is None else 100 * share, origin, n)


def compare_table(published: PublishedTable, ours: Mapping[tuple[Names, str], OurFigure]) -> list[ComparedFigure]:
    """Every place of the table, then what only we have (other systems, other evaluators)."""
    theirs = {(names, column): printed for names, cells in published.rows.items() for column, printed in cells.items()}
    places = (*theirs, *(place for place in ours if place not in theirs))
    return [compared(*place, theirs.get(place), ours.get(place)) for place in places]


def compared(
    names: Names, column: str, printed: Decimal | str | None, ours: OurFigure | None, decimals: int = 1
) -> ComparedFigure:
    """One place; `printed` is None where the paper has no such figure (`decimals` is then ours), `ours` where we
    have none."""
    found = ours or OurFigure(None, Origin.RULE)
    if printed is not None:
        decimals = decimals_of(printed) if isinstance(printed, Decimal) else 0
    return ComparedFigure(
        names=names,
        column=column,
        published=float(printed) if isinstance(printed, Decimal) else printed,
        decimals=decimals,
        ours=found.value,
        origin=None if ours is None else found.origin,
        n=found.n,
        slack=found.slack,
    )
