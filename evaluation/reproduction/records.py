"""Records of a reproduction: what there is to reproduce, and published figures beside ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from factloop.core.records import Count, Record
from factloop.evaluation.reproduction.inputs import Inputs


class Status(StrEnum):
    """How far an entry has been reproduced here."""

    REPRODUCED = "reproduced"
    """Its figures come out as printed, from labelled data or by rule, but for what the entry says."""
    CHECKED = "agrees with check values"
    """Its figures come out as another program counted them; the paper prints none of them."""
    IN_PART = "reproduced in part"
    """Some columns do; the others need a model, or data that could not be had."""
    PRINTED = "follows from printed figures"
    """It, or a part of it, comes out of other figures that the paper prints: its sums hold, and no data were looked at.
    What remains needs a model."""
    NEEDS_MODEL = "needs a model"
    CANNOT = "cannot"
    """What it rests on was not published."""


class Origin(StrEnum):
    """What our figure was computed from."""

    LABELS = "labels"
    RESULTS = "results"
    """The output of another command, such as the predictions of `factloop verify`."""
    PRINTED = "printed figures"
    """Other figures that the paper prints: this holds our formula against the paper's, without its data."""
    RULE = "our rule"
    """Nothing but our own code."""


Value = float | str | None
UNDEFINED = "undefined"
"""A figure that the paper prints as not a number, or that cannot be computed from ours: both at once are the same."""


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

    schema_version: Literal["1.0", "1.1"] = "1.1"
    """1.1 says what ours are held against."""
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
    title: str
    status: Status
    why: str
    data: tuple[str, ...]
    model: str
    """The models that it takes; empty where none is needed."""
    key: str
    command: str
    """The command whose output `--results` reads."""
    calls: str
    estimated_calls: Count | None = None
    """Calls of one model, where they were estimated from data that were found."""


class EntryList(Record):
    """Everything that there is to reproduce."""

    schema_version: Literal["1.0", "1.1", "1.2"] = "1.2"
    """1.1 tells what follows from printed figures alone from what is reproduced, 1.2 what agrees with check values."""
    entries: tuple[ListedEntry, ...]


@dataclass(frozen=True)
class Entry:
    """A table, a figure or a statement of a paper, and how it is reproduced."""

    id: str
    """`PAPER:PLACE`, such as `vwc:table-21`."""
    title: str
    status: Status
    why: str
    """What came out, or why nothing can: one or two sentences."""
    data: tuple[str, ...] = ()
    """Labelled data sets that it takes, as `NAME:PART`."""
    model: str = ""
    """The models that it takes for what labels do not give; empty where none is needed."""
    key: str = ""
    """The key that it takes beside that of the model, such as one for a search."""
    command: str = ""
    """The command whose output `--results` reads."""
    calls: str = ""
    """What the models would be asked, for an estimate of the cost."""
    calls_per_claim: float = 0.0
    """Calls of a model for each labelled claim of the data; 0 where none is needed or the number is not known."""
    run: Callable[[Inputs], Reproduction] | None = None
    """Computes it; None where it cannot be."""
    reads_other_results: bool = False
    """Whether `--results` may be of data of one's own, though no command gives what the paper's table has."""

    @property
    def reads_results(self) -> bool:
        """Whether it takes the output of another command."""
        return bool(self.command) or self.reads_other_results

    def listed(self, estimated_calls: int | None = None) -> ListedEntry:
        """The entry as the list has it."""
        fields = {name: getattr(self, name) for name in ListedEntry.model_fields if name != "estimated_calls"}
        return ListedEntry(**fields, estimated_calls=estimated_calls)

    @property
    def paper(self) -> str:
        return self.id.partition(":")[0]
