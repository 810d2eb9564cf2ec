"""A test of two shares of claims, each from many responses, that allows for claims of one response being alike.

Donner and Donald (1988, Journal of Clinical Epidemiology 41, 899-905) adjust the z-test of two proportions: with the
share of errors r of both sides together and the correlation rho of two claims of one response, a side of N claims in
responses of n each has the variance

    r (1 - r) (1 + rho (sum of n^2 / N - 1)) / N

Where each response has one claim it is the z-test of two independent proportions.

Departure: theirs is the rho of an analysis of variance. Here it is the mean product of the deviations from r of two
claims of one response, over all such pairs of claims of both sides, divided by r (1 - r), with G / (G - 1) responses
for the one figure r that is taken from them, and between 0 and 1. Both take it that rho is the same on both sides:
residuals of each side alone would not, but call every other difference real where one side has few responses and few
errors (35 % of equal systems with 200 and 20 responses of one claim each, of which one in twenty is wrong). The price:
where the side with few responses has by far the larger rho (.4 of 20 against .05 of 60), 15 % of equal ones differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ClusteredErrors:
    """Errors among the claims of one side, summed up over its clusters: responses, or prompts."""

    n_clusters: int
    n: float
    """Claims."""
    errors: float
    n_squared: float
    """Sum over clusters of the square of their claims."""
    errors_squared: float
    crossed: float
    """Sum over clusters of claims times errors."""

    @classmethod
    def of(cls, errors: Floats, totals: Floats) -> ClusteredErrors:
        """`errors` and `totals` are (n_clusters,): those of each. Clusters without claims count for nothing."""
        return cls(
            int(np.count_nonzero(totals)),
            float(totals.sum()),
            float(errors.sum()),
            float((totals * totals).sum()),
            float((errors * errors).sum()),
            float((totals * errors).sum()),
        )

    @property
    def is_clustered(self) -> bool:
        """Whether any cluster has several claims."""
        return self.n_squared > self.n


def clustered_proportions(one: ClusteredErrors, other: ClusteredErrors, *, rho: float | None = None) -> float:
    """P-value, two-sided; 1 where neither or both have nothing but errors. Raises ValueError for a side without claims.

    `rho`: the correlation of two claims of one cluster, None to estimate it. With 0 it is the z-test of two independent
    proportions. With fewer than ten clusters a side it finds rather less than it might.
    """
    if min(one.n, other.n) < 1:
        raise ValueError("a proportion needs at least one case")
    from scipy.special import ndtr  # type: ignore[import-untyped]  # its stubs are no dependency

    pooled = (one.errors + other.errors) / (one.n + other.n)
    if pooled * (1.0 - pooled) == 0.0:
        return 1.0
    rho = within_clusters(one, other) if rho is None else rho
    variance = sum(
        pooled * (1.0 - pooled) * (1.0 + rho * (side.n_squared / side.n - 1.0)) / side.n for side in (one, other)
    )
    z = (one.errors / one.n - other.errors / other.n) / np.sqrt(variance)
    return float(min(1.0, 2.0 * ndtr(-abs(z))))


def within_clusters(one: ClusteredErrors, other: ClusteredErrors) -> float:
    """Correlation of errors of two claims of one cluster, in [0, 1]; 0 where no cluster has two."""
    n, errors = one.n + other.n, one.errors + other.errors
    n_clusters, n_squared = one.n_clusters + other.n_clusters, one.n_squared + other.n_squared
    pooled = errors / n
    pairs = pooled * (1.0 - pooled) * (n_squared - n)
    if pairs <= 0.0:
        return 0.0
    crossed, squared = one.crossed + other.crossed, one.errors_squared + other.errors_squared
    of_clusters = squared - 2.0 * pooled * crossed + pooled * pooled * n_squared
    of_claims = errors * (1.0 - pooled) ** 2 + (n - errors) * pooled * pooled
    products = of_clusters * n_clusters / max(n_clusters - 1, 1) - of_claims
    return float(min(1.0, max(0.0, products / pairs)))
