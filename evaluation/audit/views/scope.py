"""One group at one threshold of an audit, and what its sheets have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from factloop.evaluation.audit.estimate import AuditFigure, Group
from factloop.evaluation.audit.report import AuditAt
from factloop.evaluation.audit.views.words import LEVELS
from factloop.reports.figures import plural
from factloop.reports.sheet.table import Cell, Column, ColumnOf, figure_cell, name, value_cell

Found = TypeVar("Found")


@dataclass(frozen=True)
class Scope:
    """One group at one threshold."""

    at: AuditAt
    group: Group

    def weighted(self, title: str) -> str:
        """The title of a table that counts claims by their weights, where they have any; responses never have."""
        return f"{title}; claims weighted" if self._has_weights else title

    def unweighted(self, title: str) -> str:
        """The title of a table that takes the claims as they are; says so where they have weights."""
        return f"{title}; unweighted" if self._has_weights else title

    @property
    def _has_weights(self) -> bool:
        return self.at.rates.basis.n_effective is not None

    def of_group(self, found: Sequence[Found]) -> list[Found]:
        """Those of the group, whether they are pooled or averaged over it."""
        wanted = (self.group.kind, self.group.name)
        return [one for one in found if (one.group.kind, one.group.name) == wanted]  # type: ignore[attr-defined]

    def of_dataset(self, found: Sequence[Found]) -> list[Found]:
        is_one = self.group.kind == "dataset"
        return [one for one in found if is_one and one.dataset == self.group.name]  # type: ignore[attr-defined]


def percent(value: float) -> str:
    """`70.5`, for a column headed %; never `-0.0`."""
    return f"{round(100 * value, 1) + 0.0:.1f}"


def estimate_cell(one: AuditFigure, unit: str) -> Cell:
    """The value in per cent, with its interval and how many it rests on of what; or why it is undefined."""
    rests_on = f"n {plural(one.n, unit)}"
    if one.n_datasets_undefined:
        rests_on += f", undefined on {plural(one.n_datasets_undefined, 'data set')}"
    return figure_cell(one, percent, basis=rests_on)


def share_column(head: str, width: int = 13) -> Column:
    """With room for an interval."""
    return Column(head, width=width)


def count_column(head: str) -> Column:
    return Column(head, width=9)


def of_evaluator(one: Any) -> tuple[str, ...]:
    return (one.evaluator,)


EVALUATOR: ColumnOf[Any] = (name("Evaluator"), lambda one: one.evaluator)
_LEVEL: ColumnOf[Any] = (Column("Of", is_name=True, is_heading=True), lambda one: LEVELS[one.level])
BY_LEVEL = (EVALUATOR, _LEVEL)


def value_alone(one: AuditFigure) -> Cell:
    """The value without its interval and basis, which a figure beside it has."""
    return value_cell(one.value, percent, one.why)
