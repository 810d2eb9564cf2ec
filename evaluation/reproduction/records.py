"""The records of a reproduction: what can be reproduced, and published figures next to ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from factloop.core.records import Count, Record
from factloop.evaluation.reproduction.published import Names, PublishedTable, decimals_of


class Status(StrEnum):
    REPRODUCED = "reproduced"
    """Our figures, computed from labelled data or by a rule, match the printed ones. Any exceptions are noted."""
    CHECKED = "agrees with check values"
    """Our figures match those of another program. The paper does not print these figures."""
    IN_PART = "reproduced in part"
    """Some columns are reproduced. All others need a model, or data that are not available."""
    PRINTED = "follows from printed figures"
    """Some figures follow from others in the paper, which shows that its arithmetic is consistent, but no data were
    read. The remaining figures need a model."""
    NEEDS_MODEL = "needs a model"
    CANNOT = "cannot"
    """The underlying data were not published."""


class Origin(StrEnum):
    """What our figure is computed from."""

    LABELS = "labels"
    RESULTS = "results"
    """The output of another command, such as the predictions of `factloop research verify`."""
    PRINTED = "printed figures"
    """Other figures that the paper prints. They test our formula against the paper's without its data."""
    RULE = "our rule"
    """Our own code, without any data."""


Value = float | str | None
UNDEFINED = "undefined"
"""A figure that is undefined here, or printed as NAN in the paper. Two undefined figures count as equal."""
ROUNDED = 0.05
"""Maximum rounding error of a figure printed with one decimal."""


class ComparedFigure(Record):
    names: tuple[str, ...]
    column: str
    published: Value = None
    decimals: Count = 0
    ours: Value = None
    origin: Origin | None = None
    n: Count | None = None
    slack: float = 0.0
    """Maximum rounding error of our figure, if it was computed from rounded figures."""

    @property
    def difference(self) -> float | None:
        """Our figure minus the published one, rounded to 9 decimals. None unless both are numbers."""
        if isinstance(self.ours, float) and isinstance(self.published, float):
            return round(self.ours - self.published, 9) + 0.0
        return None

    @property
    def is_compared(self) -> bool:
        return self.ours is not None and self.published is not None

    @property
    def is_equal(self) -> bool:
        """Whether the two figures match at the paper's precision."""
        difference = self.difference
        if difference is None:
            return self.is_compared and self.ours == self.published
        return abs(difference) <= 0.5 * 10.0**-self.decimals + self.slack + 1e-9


class Reproduction(Record):
    """One table or figure, reproduced as far as the inputs allow."""

    schema_version: Literal["1.1"] = "1.1"
    entry: str
    title: str
    unit: str
    against: Literal["paper", "check values"] = "paper"
    """The source of the `published` figures: the paper, or another program that counted the same data."""
    figures: tuple[ComparedFigure, ...]
    notes: tuple[str, ...] = ()
    """What was read, what is missing, and how to interpret the figures."""

    @property
    def n_compared(self) -> int:
        return sum(one.is_compared for one in self.figures)


class ListedEntry(Record):
    id: str
    """`PAPER:PLACE`, such as `vwc:table-21`."""
    title: str
    status: Status
    why: str
    """The result, or why there is none, in one or two sentences."""
    data: tuple[str, ...]
    """The labelled data sets that the entry requires, as `NAME:PART`."""
    model: str
    key: str
    """The API keys and other sources that the entry requires, if any."""
    command: str
    """The command whose output is passed with `--results`."""
    calls: str
    """The number of model calls required, for estimating the cost."""


class EntryList(Record):
    schema_version: Literal["2.0"] = "2.0"
    entries: tuple[ListedEntry, ...]


@dataclass(frozen=True)
class OurFigure:
    """Our figure, in the unit of the paper's."""

    value: Value
    origin: Origin
    n: int | None = None
    slack: float = 0.0


Ours = dict[tuple[Names, str], OurFigure]


def percent(share: float | None, n: int, origin: Origin = Origin.RESULTS) -> OurFigure:
    return OurFigure(None if share is None else 100 * share, origin, n)


def compare_table(published: PublishedTable, ours: Mapping[tuple[Names, str], OurFigure]) -> list[ComparedFigure]:
    """Compares every cell of the table. Cells for systems or evaluators that are not in the paper come last."""
    theirs = {(names, column): printed for names, cells in published.rows.items() for column, printed in cells.items()}
    places = (*theirs, *(place for place in ours if place not in theirs))
    return [compared(*place, theirs.get(place), ours.get(place)) for place in places]


def compared(
    names: Names, column: str, printed: Decimal | str | None, ours: OurFigure | None, decimals: int = 1
) -> ComparedFigure:
    """A missing figure is None. `decimals` is the precision to use if the paper prints no figure."""
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
