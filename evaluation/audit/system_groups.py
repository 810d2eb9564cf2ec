"""Headroom of groups of systems, such as small and large ones (Godbole & Jia, section 3.4).

    headroom of a group = lowest error rate of any of its systems, by labels or by predictions

An evaluator may misjudge small systems more than large ones, so that there seems to be more to gain than there is. No
interval is given: a minimum of a few noisy rates leans downwards, in resamples more than in the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from factloop.core.records import Count, Record, Share
from factloop.evaluation.audit.quantification import SystemBias
from factloop.evaluation.audit.units import Level


class GroupHeadroom(Record):
    """The headroom of one group of systems on one data set, by labels and by an evaluator."""

    group: str
    """The name that the user gave it."""
    systems: tuple[str, ...]
    """Those of the group that the data set has, with a scored claim or response."""
    evaluator: str
    level: Level
    dataset: str
    labelled: Share
    predicted: Share
    bias: float
    """Predicted minus labelled, in [-1, 1]; above 0 there seems to be more left to improve than there is."""
    n: Count
    """Claims, or responses, of these systems with a verdict."""


def group_headrooms(found: Sequence[SystemBias], groups: Mapping[str, Sequence[str]]) -> tuple[GroupHeadroom, ...]:
    """The headroom of each group for each evaluator, level and data set that has one of its systems."""
    of_place: dict[tuple[str, Level, str], list[SystemBias]] = {}
    for one in found:
        of_place.setdefault((one.evaluator, one.level, one.dataset), []).append(one)
    headrooms = [
        _headroom(name, [one for one in here if one.system in systems])
        for here in of_place.values()
        for name, systems in groups.items()
    ]
    return tuple(one for one in headrooms if one is not None)


def _headroom(name: str, members: Sequence[SystemBias]) -> GroupHeadroom | None:
    rates = [
        (one.labelled.value, one.predicted.value)
        for one in members
        if one.labelled.value is not None and one.predicted.value is not None
    ]
    if not rates:
        return None
    labelled, predicted = (min(column) for column in zip(*rates, strict=True))
    first = members[0]
    return GroupHeadroom(
        group=name,
        systems=tuple(one.system for one in members if one.labelled.value is not None),
        evaluator=first.evaluator,
        level=first.level,
        dataset=first.dataset,
        labelled=labelled,
        predicted=predicted,
        bias=predicted - labelled,
        n=sum(one.labelled.n for one in members),
    )
