"""A figure of the audit: a value with its interval and what it rests on, or the reason why it is undefined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from factloop.core.figure import Figure, Undefined
from factloop.core.records import Count, Record
from factloop.evaluation.statistics.bootstrap import ROUNDING, percentiles

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Group(Record):
    """The claims that a figure is taken over: those of one data set, of a task group, or all."""

    kind: Literal["dataset", "task", "all"]
    name: str = ""
    """The name of the data set or the task group."""
    pooled: bool = False
    """Whether the figure of several data sets is taken over all their claims together, so that larger ones count for
    more. Otherwise it is the plain mean of theirs. Surface similarity and chunking are pooled, all else is not."""


class AuditFigure(Figure):
    """A figure of one data set, or a mean of several."""

    n: Count
    """Claims, or responses, that the value rests on."""
    n_clusters: Count
    """Prompts, or responses, that they belong to: what the bootstrap draws. Of a figure that takes claims of both
    labels, those with claims of the rarer one."""
    low: float | None = None
    high: float | None = None
    """None without resamples, with fewer than two clusters, and where no resample has a value. None, too, where all
    have the same: nothing varies, which is no certainty. A rate of 0 or 1 of one data set has Wilson's interval, from
    version 2.2 on."""
    n_resamples_undefined: Count = 0
    """Resamples without a value; the interval rests on the others."""
    n_datasets: Count | None = None
    """Data sets that the value is the mean of; None for the figure of one data set."""
    n_datasets_undefined: Count = 0
    """Data sets of the group that were left out of the mean, as they have no value."""


@dataclass(frozen=True)
class Figures:
    """Figures of one kind, in an array of any shape: of the data (first on the leading axis), then of each resample."""

    values: Floats
    """Shape (1 + n_resamples, *shape); NaN where undefined."""
    n: Ints
    """Shape (*shape)."""
    n_clusters: Ints

    def estimates(self, why: Sequence[Undefined], level: float) -> list[AuditFigure]:
        """One for each place in C order; `why` holds the reason to give for each, should it be undefined."""
        values = self.values.reshape(len(self.values), -1)
        low, high, n_undefined = percentiles(values[1:], (1.0 - level) / 2.0)
        n, n_clusters = self.n.ravel(), self.n_clusters.ravel()
        return [
            _estimate(*numbers)
            for numbers in zip(
                values[0].tolist(),
                low.tolist(),
                high.tolist(),
                n_undefined.tolist(),
                n.tolist(),
                n_clusters.tolist(),
                why,
                strict=True,
            )
        ]


def _estimate(
    value: float, low: float, high: float, n_undefined: int, n: int, n_clusters: int, reason: Undefined
) -> AuditFigure:
    if np.isnan(value):
        return AuditFigure(value=None, undefined=reason, n=n, n_clusters=n_clusters)
    has_interval = n_clusters >= 2 and high - low > ROUNDING  # not where either is NaN
    return AuditFigure(
        value=value,
        n=n,
        n_clusters=n_clusters,
        low=low if has_interval else None,
        high=high if has_interval else None,
        n_resamples_undefined=n_undefined,
    )
