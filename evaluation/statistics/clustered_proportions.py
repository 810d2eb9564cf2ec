"""Tests whether two proportions of claims differ, allowing for correlation between claims in the same response.

Donner and Donald (1988, Journal of Clinical Epidemiology 41, 899-905) adjust the z-test of two proportions. Let r be
the fraction of errors on both sides combined, and rho the correlation between two claims in one response. If a side has
N claims in responses of n claims, the variance of its error rate is then

r (1 - r) (1 + rho (sum of n^2 / N - 1)) / N

If each response has one claim, this is the z-test of two independent proportions.

Departure: Donner and Donald estimate rho by analysis of variance. Here, each pair of claims in the same response
contributes the product of their deviations from r. The mean of these products is divided by r (1 - r), corrected by G /
(G - 1) for G responses because r is estimated from them, and clipped to [0, 1]. Both estimates assume that rho is the
same on both sides. Deviations from each side's own rate would not need this assumption, but far too many differences
would be significant if one side had few responses and few errors: 35% for equal systems with 200 and 20 responses of
one claim each, where one claim in twenty is wrong. The drawback is that 15% of equal systems differ significantly if
the side with few responses has a much larger rho (.4 with 20 responses, compared with .05 with 60).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ClusteredErrors:
    """One side's claims and errors, summed over clusters (responses or prompts)."""

    n_clusters: int
    n: float
    errors: float
    n_squared: float
    """Sum, over clusters, of the squared number of claims."""
    errors_squared: float
    crossed: float
    """Sum, over clusters, of the number of claims times the number of errors."""

    @classmethod
    def of(cls, errors: Floats, totals: Floats) -> ClusteredErrors:
        """Sums errors and totals, both of shape (n_clusters,). Clusters without claims are ignored."""
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
        """Whether any cluster has more than one claim."""
        return self.n_squared > self.n


def clustered_proportions(one: ClusteredErrors, other: ClusteredErrors, *, rho: float | None = None) -> float:
    """Returns the two-sided p-value. It is 1 if all claims on both sides are errors, or if none are.

    `rho` is the correlation between two claims in the same cluster, estimated if None. With a `rho` of 0, this is the
    z-test of two independent proportions. With fewer than ten clusters per side, the test is conservative and loses
    power. Raises ValueError if a side has no claims.
    """
    if min(one.n, other.n) < 1:
        raise ValueError("each side needs at least one claim")
    from scipy.special import ndtr  # type: ignore[import-untyped]  # its stubs are not a dependency

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
    """Returns the correlation in [0, 1] between errors in the same cluster, or 0 if no cluster has two claims."""
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
