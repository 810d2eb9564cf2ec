"""Cohen's kappa (1960) of two raters of the same things: (p - e) / (1 - e).

p is the share labelled alike, and e that of two who give each label as often without looking. Intervals draw whole
groups, as what belongs to one question or prompt resembles each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from factloop.core.figure import Figure, Undefined, ends
from factloop.evaluation.statistics.bootstrap import bootstrap, percentile_interval

Floats = NDArray[np.float64]


def cohens_kappa(cells: Floats, rng: np.random.Generator, resamples: int, level: float) -> Figure:
    """Kappa in [-1, 1], 0 by chance, of things by group, first label and second: `cells`, (n_groups, k, k).

    Undefined where nothing has both labels, and where both people give one label throughout; without an interval for
    a single group. `n` counts things with both labels.
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
    """(n_tables,): kappa of each (k, k) table of counts; NaN if it is empty or both give one label throughout."""
    n = tables.sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        alike = np.trace(tables, axis1=1, axis2=2) / n
        by_chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1) / n**2
        return np.asarray((alike - by_chance) / (1.0 - by_chance))
