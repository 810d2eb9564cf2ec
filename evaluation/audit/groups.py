"""Figures of data sets, and their plain means over the data sets of a task group and over all of them.

A mean gives each data set the same weight, whatever its size, as the paper's does (Godbole & Jia, section 2.2). Data
sets without a value are left out of it and counted. In a resample in which one of the others has none, the mean has
none either: it would be that of other data sets.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from factloop.core.figure import Undefined
from factloop.evaluation.audit.estimate import AuditFigure, Figures, Floats, Group
from factloop.evaluation.audit.resampling import CountTable


def groups_of(counted: CountTable) -> list[tuple[Group, list[int]]]:
    """The groups, each with the places of its data sets: the single ones, then the task groups by name, then all."""
    singles = [(Group(kind="dataset", name=name), [place]) for place, name in enumerate(counted.datasets)]
    return [*singles, *averaged_groups(len(counted.datasets), counted.tasks)]


def averaged_groups(n_datasets: int, tasks: Sequence[str] | None) -> list[tuple[Group, list[int]]]:
    """The task groups by name, then all; `tasks` has that of each data set."""
    places, of_place = list(range(n_datasets)), tasks or ()
    groups = [
        (Group(kind="task", name=task), [place for place in places if of_place[place] == task])
        for task in sorted(set(of_place))
    ]
    return [*groups, (Group(kind="all"), places)]


def estimates_of_groups(
    counted: CountTable, figures: Figures, why: Sequence[Undefined]
) -> list[tuple[Group, list[int], AuditFigure]]:
    """An estimate for each group. `figures` and the reasons for undefined ones have one place for each data set."""
    level, groups = counted.basis.level, groups_of(counted)
    single = figures.estimates(why, level)
    means = _means(figures, [members for _, members in groups]).estimates([Undefined.NO_DATASET] * len(groups), level)
    found = []
    for place, (group, members) in enumerate(groups):
        estimate = single[members[0]] if group.kind == "dataset" else means[place]
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
