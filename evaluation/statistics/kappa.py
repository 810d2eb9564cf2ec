"""Calculates Cohen's kappa (1960) for two raters of the same items: (p - e) / (1 - e).

Here, p is the fraction of items with the same label, and e is the fraction expected by chance, given how often each
rater uses each label. Intervals resample whole groups, because items from one question or prompt resemble each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from factloop.core.figure import Figure, Undefined, ends
from factloop.evaluation.statistics.bootstrap import bootstrap, percentile_interval

Floats = NDArray[np.float64]


def cohens_kappa(cells: Floats, rng: np.random.Generator, resamples: int, level: float) -> Figure:
    """Returns kappa in [-1, 1], where 0 means no better than chance.

    `cells`, of shape (n_groups, k, k), contains the number of items by group, first label and second label. Kappa is
    undefined if no item has both labels, or if all labels are the same. There is no interval for a single group. `n` is
    the number of items with both labels.
    """
    n = int(cells.sum())
    value = float(kappas(cells.sum(axis=0)[None])[0]) if n else float("nan")
    if np.isnan(value):
        return Figure(value=None, undefined=Undefined.ONE_CLASS if n else Undefined.NOT_BOTH_SCORED, n=n)
    interval = None
    if len(cells) > 1 and resamples:
        interval = percentile_interval(bootstrap(cells, kappas, rng, resamples), level)
    return Figure(value=value, **ends(interval), n=n)


def kappas(tables: Floats) -> Floats:
    """Returns kappa for each (k, k) table of counts, or NaN if a table is empty or contains only one label."""
    n = tables.sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        alike = np.trace(tables, axis1=1, axis2=2) / n
        by_chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1) / n**2
        return np.asarray((alike - by_chance) / (1.0 - by_chance))
