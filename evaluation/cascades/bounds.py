"""How large a share may be, with confidence, after so many errors among so many claims.

Clopper and Pearson's exact upper bound (Biometrika 26, 1934). Where claims come in groups, both counts are divided by a
design effect before it is taken, as Korn and Graubard do (Survey Methodology 24, 1998); the bound is then approximate.

A design effect is 1 + (m - 1) r: m the size of the group of a claim, averaged over claims, r how alike errors are
within groups (intraclass correlation, the one-way ANOVA estimator, negative taken as 0). It is the errors that count
and not the labels: a verifier that finds every claim of one long document supported errs in clusters though each
document may have as many claims of either label. Where few errors are seen, little is seen of r; so r is the largest
of this threshold and all that settle more. `few_groups_factor` allows for few groups, which show r badly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special  # type: ignore[import-untyped]  # its stubs are no dependency

Floats = NDArray[np.float64]

MOST_NEEDED = 10_000_000
"""Number of claims from which on "how many would do" is no answer."""


def p_values(n_wrong: ArrayLike, n: ArrayLike, max_error: float) -> Floats:
    """P(at most `n_wrong` errors among `n`) if their true share were `max_error`: small where it must be lower.

    Both counts may be fractions. 1 where `n` is 0: nothing was seen.
    """
    wrong, all_ = np.asarray(n_wrong, np.float64), np.asarray(n, np.float64)
    right = all_ - wrong
    found = special.betainc(np.maximum(right, 1e-12), wrong + 1, 1 - max_error)
    return np.where(right > 0, found, 1.0)


def upper_bound(n_wrong: float, n: float, alpha: float) -> float | None:
    """The largest share that so few errors leave possible at confidence 1 - `alpha`; None where `n` is 0."""
    if n <= 0:
        return None
    return 1.0 if n_wrong >= n else float(special.betaincinv(n_wrong + 1, n - n_wrong, 1 - alpha))


Counts = NDArray[np.int64]

_EXACT_TO = 10
"""Decimals that sums are rounded to: beyond them a sum depends on the order of its rows."""
ENOUGH = 10
"""Errors, or half of all, from which on the data show how alike they are."""


def effect_on_settled(wrong: NDArray[np.bool_], groups: Counts, n: Counts) -> Floats:
    """The design effect where the first n of these rows are settled; shaped as `n`, which does not fall."""
    n_before, wrong_before = (
        sums_before(np.ones(len(groups), np.int64), groups),
        sums_before(wrong.astype(np.int64), groups),
    )
    squares = _up_to(2 * n_before + 1, n)
    was = np.divide(wrong_before**2, n_before, out=np.zeros(len(groups)), where=n_before > 0)
    spread = _up_to((wrong_before + wrong) ** 2 / (n_before + 1) - was, n)
    return _effects(n, squares, _up_to(n_before == 0, n), _up_to(wrong, n), spread)


def effect_on_label(wrong: NDArray[np.bool_], groups: Counts, n: Counts, label_groups: Counts) -> Floats:
    """The same for the wrong among all claims of their label, whose groups are given."""
    known, size = np.unique(label_groups, return_counts=True)
    if not len(known):
        return np.ones(len(n))
    rows = groups[wrong]
    spread = np.zeros(len(wrong))
    spread[wrong] = (2 * sums_before(np.ones(len(rows), np.int64), rows) + 1) / size[np.searchsorted(known, rows)]
    n_label, squares, n_groups = (np.full(len(n), one) for one in (size.sum(), (size**2).sum(), len(size)))
    return _effects(n_label, squares, n_groups, _up_to(wrong, n), _up_to(spread, n))


def few_groups_factor(n_groups: int, n: int, alpha: float) -> float:
    """The factor that allows for an effect seen in so few groups: 1 where each claim is a group of its own."""
    if n_groups < 2 or n_groups == n:
        return 1.0
    seen, all_ = (float(special.stdtrit(degrees, 1 - min(alpha, 0.4))) for degrees in (n_groups - 1, n - 1))
    return (seen / all_) ** 2


def sums_before(values: Counts, groups: Counts) -> Counts:
    """The sum of the values before each row in its group; shape (n_rows,)."""
    order = np.argsort(groups, kind="stable")
    sums = np.cumsum(values[order]) - values[order]
    _, start, size = np.unique(groups[order], return_index=True, return_counts=True)
    found = np.empty(len(groups), np.int64)
    found[order] = sums - np.repeat(sums[start], size)
    return found


def _up_to(values: NDArray[np.generic], n: Counts) -> Floats:
    """The sums of the first n values."""
    return np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])[n]


def _effects(n: Counts, squares: Floats, n_groups: Floats, n_wrong: Floats, spread: Floats) -> Floats:
    """The design effects; `squares` are those of group sizes, `spread` sums groups' squared errors by their size."""
    with np.errstate(invalid="ignore", divide="ignore"):
        between = np.round((spread - n_wrong**2 / n) / (n_groups - 1), _EXACT_TO)
        within = np.round((n_wrong - spread) / (n - n_groups), _EXACT_TO)
        typical = (n - squares / n) / (n_groups - 1)
        alike = (between - within) / (between + (typical - 1) * within)
        mean_size = np.where(n > 0, squares / n, 1.0)
    alike = np.clip(np.where(np.isfinite(alike), alike, 0.0), 0.0, 1.0)
    seen = np.maximum(np.arange(len(n)), np.searchsorted(n_wrong, min(ENOUGH, np.ceil(n_wrong[-1] / 2))))
    return np.asarray(1.0 + (mean_size - 1.0) * alike[seen])
