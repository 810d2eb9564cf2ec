"""The F1@K (Wei et al. 2024, section 5) to expect of responses whose claims are supported with known probability."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from factloop.evaluation.debiasing.samples import Floats, Ints

NODES = 15
"""Points of the quadrature."""
FEW = 30
"""Claims up to which the expectation is exact. Beyond, the error of a response is below 0.005: most of it is that of
the normal distribution in the place of two binomial ones."""
_BATCH = 2**21
"""Numbers in one array, at most: 16 MB."""


@dataclass(frozen=True)
class ExpectedF1:
    """Expected F1@K of each response, given how likely a claim of either verdict is truly supported.

    With s of n claims supported, F1@K is `2s / (n + K)` up to s = K, and `2s / (n + s)` above. Up to n = K it is
    linear. Above, s is the sum of two binomial counts, as claims are independent given their verdicts; with more than
    `FEW` it is taken as normal, with their mean and variance, and cut to [0, n].
    """

    supported: Floats
    not_supported: Floats
    """Claims of each response by the evaluator's verdict; each (n_responses,)."""
    k: int

    def at(self, if_supported: Floats, if_not: Floats) -> Floats:
        """(n_draws, n_responses), for shares truly supported among claims of either verdict, each (n_draws,).

        0 for a response without claims.
        """
        batch = max(1, _BATCH // max(1, NODES * len(self.supported)))
        starts = range(0, len(if_supported), batch)
        parts = [self._of(if_supported[s : s + batch, None], if_not[s : s + batch, None]) for s in starts]
        return np.concatenate(parts) if parts else np.empty((0, len(self.supported)))

    def _of(self, if_supported: Floats, if_not: Floats) -> Floats:
        mean = self.supported * if_supported + self.not_supported * if_not
        found = 2.0 * mean / (self._n + self.k)
        is_above = self._n > self.k
        few, long = np.flatnonzero(is_above & (self._n <= FEW)), np.flatnonzero(is_above & (self._n > FEW))
        kinds, kind = np.unique(self._verdicts[few], axis=0, return_inverse=True)
        for number, (supported, not_supported) in enumerate(kinds.tolist()):
            values = self._exact(supported, not_supported, if_supported, if_not)
            found[:, few[kind.reshape(-1) == number]] = values
        if len(long):
            variance = (
                if_supported * (1.0 - if_supported) * self.supported + if_not * (1.0 - if_not) * self.not_supported
            )
            found[:, long] = self._expected(mean[:, long], variance[:, long], self._n[long])
        return np.asarray(found)

    def _exact(self, supported: int, not_supported: int, if_supported: Floats, if_not: Floats) -> Floats:
        """(n_draws, 1): over all numbers of truly supported claims of either verdict."""
        s = np.arange(supported + 1)[:, None] + np.arange(not_supported + 1.0)
        f1 = 2.0 * s / (supported + not_supported + np.maximum(s, self.k))
        of_supported, of_others = _binomial(supported, if_supported), _binomial(not_supported, if_not)
        return np.asarray(((of_supported @ f1) * of_others).sum(axis=1, keepdims=True))

    def _expected(self, mean: Floats, variance: Floats, n: Floats) -> Floats:
        points, weights = np.polynomial.hermite_e.hermegauss(NODES)
        s = np.clip(mean[..., None] + np.sqrt(variance)[..., None] * points, 0.0, n[:, None])
        f1 = np.where(s <= self.k, 2.0 * s / (n[:, None] + self.k), 2.0 * s / (n[:, None] + s))
        return np.asarray(f1 @ (weights / weights.sum()))

    @cached_property
    def _n(self) -> Floats:
        return self.supported + self.not_supported

    @property
    def _verdicts(self) -> Ints:
        """(n_responses, 2): the counts of either verdict in each response."""
        return np.column_stack([self.supported, self.not_supported]).astype(np.int64)


def _binomial(n: int, share: Floats) -> Floats:
    """(n_draws, n + 1): how likely each number of n claims is truly supported; `share` is (n_draws, 1)."""
    times = np.arange(n + 1)
    ways = np.array([comb(n, k) for k in times.tolist()], dtype=np.float64)
    return np.asarray(ways * share**times * (1.0 - share) ** (n - times))
