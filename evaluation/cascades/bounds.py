"""Calculates an upper confidence bound on an error rate from the numbers of errors and claims.

This is Clopper and Pearson's exact upper bound (Biometrika 26, 1934). If claims come in groups, both counts are first
divided by a design effect, as in Korn and Graubard (Survey Methodology 24, 1998), and the bound is approximate.

The design effect is 1 + (m - 1) r. Here, m is the size of a claim's group, averaged over claims, and r is the
intraclass correlation of errors within groups (one-way ANOVA estimator, negative values set to 0). The correlation
depends on errors rather than labels: a verifier that accepts every claim about one long document makes errors in
clusters, even if half the claims about each document are supported. With few errors, r cannot be estimated well, so the
largest r at this threshold or at any that settles more claims is used. `few_groups_factor` accounts for a small number
of groups, which also makes r uncertain.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special  # type: ignore[import-untyped]  # its stubs are not a dependency

Floats = NDArray[np.float64]


def p_values(n_wrong: ArrayLike, n: ArrayLike, max_error: float) -> Floats:
    """Returns the probability of at most `n_wrong` errors among `n` claims if the true error rate is `max_error`. Both
    counts may be fractional. If `n` is 0, the result is 1."""
    wrong, all_ = np.asarray(n_wrong, np.float64), np.asarray(n, np.float64)
    right = all_ - wrong
    found = special.betainc(np.maximum(right, 1e-12), wrong + 1, 1 - max_error)
    return np.where(right > 0, found, 1.0)


def upper_bound(n_wrong: float, n: float, alpha: float) -> float | None:
    """Returns the largest error rate consistent with these counts at confidence 1 - `alpha`, or None if `n` is 0."""
    if n <= 0:
        return None
    return 1.0 if n_wrong >= n else float(special.betaincinv(n_wrong + 1, n - n_wrong, 1 - alpha))


Counts = NDArray[np.int64]

_EXACT_TO = 10
"""Number of decimal places that sums are rounded to. Further digits would depend on the order of the rows."""
ENOUGH = 10
"""The number of errors (or half of all errors, if lower) needed to estimate how correlated they are."""


def effect_on_settled(wrong: NDArray[np.bool_], groups: Counts, n: Counts) -> Floats:
    """For each k in `n`, which must be sorted, returns the design effect if the first k of these rows are settled."""
    n_before, wrong_before = (
        sums_before(np.ones(len(groups), np.int64), groups),
        sums_before(wrong.astype(np.int64), groups),
    )
    squares = _up_to(2 * n_before + 1, n)
    was = np.divide(wrong_before**2, n_before, out=np.zeros(len(groups)), where=n_before > 0)
    spread = _up_to((wrong_before + wrong) ** 2 / (n_before + 1) - was, n)
    return _effects(n, squares, _up_to(n_before == 0, n), _up_to(wrong, n), spread)


def effect_on_label(wrong: NDArray[np.bool_], groups: Counts, n: Counts, label_groups: Counts) -> Floats:
    """Returns the design effect on the fraction of a label's claims (in `label_groups`) that are settled wrongly."""
    known, size = np.unique(label_groups, return_counts=True)
    if not len(known):
        return np.ones(len(n))
    rows = groups[wrong]
    spread = np.zeros(len(wrong))
    spread[wrong] = (2 * sums_before(np.ones(len(rows), np.int64), rows) + 1) / size[np.searchsorted(known, rows)]
    n_label, squares, n_groups = (np.full(len(n), one) for one in (size.sum(), (size**2).sum(), len(size)))
    return _effects(n_label, squares, n_groups, _up_to(wrong, n), _up_to(spread, n))


def few_groups_factor(n_groups: int, n: int, alpha: float) -> float:
    """Returns the factor that accounts for a small number of groups, or 1 if each claim is its own group."""
    if n_groups < 2 or n_groups == n:
        return 1.0
    seen, all_ = (float(special.stdtrit(degrees, 1 - min(alpha, 0.4))) for degrees in (n_groups - 1, n - 1))
    return (seen / all_) ** 2


def sums_before(values: Counts, groups: Counts) -> Counts:
    """For each row, returns the sum of the values in earlier rows of the same group."""
    order = np.argsort(groups, kind="stable")
    sums = np.cumsum(values[order]) - values[order]
    _, start, size = np.unique(groups[order], return_index=True, return_counts=True)
    found = np.empty(len(groups), np.int64)
    found[order] = sums - np.repeat(sums[start], size)
    return found


def _up_to(values: NDArray[np.generic], n: Counts) -> Floats:
    return np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])[n]


def _effects(n: Counts, squares: Floats, n_groups: Floats, n_wrong: Floats, spread: Floats) -> Floats:
    """`squares` is the sum of n^2 over the groups, and `spread` that of errors^2 / n."""
    with np.errstate(invalid="ignore", divide="ignore"):
        between = np.round((spread - n_wrong**2 / n) / (n_groups - 1), _EXACT_TO)
        within = np.round((n_wrong - spread) / (n - n_groups), _EXACT_TO)
        typical = (n - squares / n) / (n_groups - 1)
        alike = (between - within) / (between + (typical - 1) * within)
        mean_size = np.where(n > 0, squares / n, 1.0)
    alike = np.clip(np.where(np.isfinite(alike), alike, 0.0), 0.0, 1.0)
    seen = np.maximum(np.arange(len(n)), np.searchsorted(n_wrong, min(ENOUGH, np.ceil(n_wrong[-1] / 2))))
    return np.asarray(1.0 + (mean_size - 1.0) * alike[seen])
