"""An audit's figures: a value and an interval for each data set, and unweighted means over groups.

As in the paper (Godbole & Jia, section 2.2), a mean gives each data set the same weight, whatever its size. Data sets
without a value are left out of the mean, and their number is reported. If a resample lacks a value that the data set
itself has, the mean of that resample is undefined, because it would cover fewer data sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from factloop.core.figure import Figure, Undefined
from factloop.core.records import Count, Record
from factloop.evaluation.statistics.bootstrap import ROUNDING, percentiles

if TYPE_CHECKING:
    from factloop.evaluation.audit.resampling import CountTable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Group(Record):
    """The claims behind a figure: those of one data set, those of a task group, or all of them."""

    kind: Literal["dataset", "task", "all"]
    name: str = ""
    """Empty if the group contains all claims."""
    pooled: bool = False
    """Whether the figure for several data sets is computed over all their claims together, which gives larger data sets
    more weight. Otherwise it is the unweighted mean of their figures. Only surface bias and chunking are pooled."""

    def is_like(self, other: Group) -> bool:
        """Whether both groups cover the same data sets, pooled or not."""
        return (self.kind, self.name) == (other.kind, other.name)


class AuditFigure(Figure):
    n: Count
    n_clusters: Count
    """Prompts (or responses) to which these claims belong. The bootstrap draws whole prompts (or responses). If a
    figure needs claims of both labels, only those with claims of the rarer label are counted."""
    low: float | None = None
    high: float | None = None
    """None without resamples, with fewer than two clusters, or if no resample has a value. Also None if all resamples
    agree, because that does not make the figure certain. A rate of 0 or 1 on a single data set gets a Wilson interval
    instead."""
    n_resamples_undefined: Count = 0
    """Resamples without a value. The interval is based on the others."""
    n_datasets: Count | None = None
    """Data sets in the mean. None for the figure of a single data set."""
    n_datasets_undefined: Count = 0
    """Data sets left out of the mean because they have no value."""


@dataclass(frozen=True)
class Figures:
    values: Floats
    """Shape (1 + n_resamples, *shape): the data, then the resamples. Undefined values are NaN."""
    n: Ints
    n_clusters: Ints

    def estimates(self, why: Sequence[Undefined], level: float) -> list[AuditFigure]:
        """Returns one figure for each element of `n`, in C order. `why` holds the reason to report for each undefined
        figure."""
        values = self.values.reshape(len(self.values), -1)
        low, high, n_undefined = percentiles(values[1:], (1.0 - level) / 2.0)
        columns = (values[0], low, high, n_undefined, self.n.ravel(), self.n_clusters.ravel())
        rows = zip(*(column.tolist() for column in columns), why, strict=True)
        return [_estimate(*row) for row in rows]


def _estimate(
    value: float, low: float, high: float, n_undefined: int, n: int, n_clusters: int, reason: Undefined
) -> AuditFigure:
    if np.isnan(value):
        return AuditFigure(value=None, undefined=reason, n=n, n_clusters=n_clusters)
    has_interval = n_clusters >= 2 and high - low > ROUNDING  # false if either is NaN
    return AuditFigure(
        value=value,
        n=n,
        n_clusters=n_clusters,
        low=low if has_interval else None,
        high=high if has_interval else None,
        n_resamples_undefined=n_undefined,
    )


def groups_of(datasets: Sequence[str], tasks: Sequence[str] | None) -> list[tuple[Group, list[int]]]:
    """Returns each data set, each task group by name, and the group of all data sets, with the indices of each group's
    data sets."""
    singles = [(Group(kind="dataset", name=name), [place]) for place, name in enumerate(datasets)]
    return [*singles, *averaged_groups(len(datasets), tasks)]


def averaged_groups(n_datasets: int, tasks: Sequence[str] | None) -> list[tuple[Group, list[int]]]:
    """Returns the task groups, sorted by name, then the group of all data sets. `tasks` has one task per data set."""
    places, of_place = list(range(n_datasets)), tasks or ()
    groups = [
        (Group(kind="task", name=task), [place for place in places if of_place[place] == task])
        for task in sorted(set(of_place))
    ]
    return [*groups, (Group(kind="all"), places)]


def estimates_of_groups(
    counted: CountTable, figures: Figures, why: Sequence[Undefined]
) -> list[tuple[Group, list[int], AuditFigure]]:
    """`figures` and `why` have one entry per data set."""
    level, groups = counted.basis.level, groups_of(counted.datasets, counted.tasks)
    single = figures.estimates(why, level)
    means = _means(figures, [members for _, members in groups]).estimates([Undefined.NO_DATASET] * len(groups), level)
    found = []
    for (group, members), mean in zip(groups, means, strict=True):
        estimate = single[members[0]] if group.kind == "dataset" else mean
        if group.kind != "dataset":
            n_defined = sum(single[member].value is not None for member in members)
            counts = {"n_datasets": n_defined, "n_datasets_undefined": len(members) - n_defined}
            estimate = estimate.model_copy(update=counts)
        found.append((group, members, estimate))
    return found


def _means(figures: Figures, groups: Sequence[Sequence[int]]) -> Figures:
    is_defined = ~np.isnan(figures.values[0])
    averaged = [[member for member in members if is_defined[member]] for members in groups]
    return Figures(
        np.stack([_mean(figures.values[:, members]) for members in averaged], axis=1),
        np.array([figures.n[members].sum() for members in averaged]),
        np.array([figures.n_clusters[members].sum() for members in averaged]),
    )


def _mean(values: Floats) -> Floats:
    return values.mean(axis=1) if values.shape[1] else np.full(len(values), np.nan)


def ratio(part: Floats, whole: Floats) -> Floats:
    """Divides elementwise. The result is NaN where `whole` is zero."""
    with np.errstate(invalid="ignore"):
        return np.asarray(part / whole)
