"""How large a share may be, with confidence, after so many errors among so many claims.

Clopper and Pearson's exact upper bound (Biometrika 26, 1934). Where claims come in groups, both counts are divided by a
design effect before it is taken, as Korn and Graubard do (Survey Methodology 24, 1998); the bound is then approximate.
"""

from __future__ import annotations

import math

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


def n_needed(error: float, max_error: float, alpha: float) -> int | None:
    """Claims after which the bound falls to `max_error` if the share of errors stays `error`.

    None where it never would, or only after more than ten million.
    """
    if error >= max_error:
        return None

    def enough(n: int) -> bool:
        return float(p_values(math.ceil(error * n), n, max_error)) <= alpha

    high = 1
    while not enough(high):
        high *= 2
        if high > MOST_NEEDED:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
