"""The F1@K (Wei et al. 2024, section 5) to expect of responses whose claims are supported with known probability."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from factloop.evaluation.correction.samples import Floats

NODES = 15
"""Points of the quadrature: the error stays below 0.002 for 30 claims and K anywhere."""
_BATCH = 2**21
"""Numbers in one array, at most: 16 MB."""


@dataclass(frozen=True)
class ExpectedF1:
    """Expected F1@K of each response, given how likely a claim of either verdict is truly supported.

    With s of n claims supported, F1@K is `2s / (n + K)` up to s = K, and `2s / (n + s)` above. Up to n = K it is
    linear, and the expectation exact. Above, s is taken as normal, with the mean and variance of claims that are
    independent given their verdicts, and cut to [0, n].
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
        long = np.flatnonzero(self._n > self.k)
        if len(long):
            variance = (
                if_supported * (1.0 - if_supported) * self.supported + if_not * (1.0 - if_not) * self.not_supported
            )
            found[:, long] = self._expected(mean[:, long], variance[:, long], self._n[long])
        return np.asarray(found)

    def _expected(self, mean: Floats, variance: Floats, n: Floats) -> Floats:
        points, weights = np.polynomial.hermite_e.hermegauss(NODES)
        s = np.clip(mean[..., None] + np.sqrt(variance)[..., None] * points, 0.0, n[:, None])
        f1 = np.where(s <= self.k, 2.0 * s / (n[:, None] + self.k), 2.0 * s / (n[:, None] + s))
        return np.asarray(f1 @ (weights / weights.sum()))

    @cached_property
    def _n(self) -> Floats:
        return self.supported + self.not_supported


def _variance(share: Floats) -> Floats:
    return share * (1.0 - share)
