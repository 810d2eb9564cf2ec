"""The scores of one system in rising order, and the thresholds that suit its labels best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factloop.evaluation.audit.table import THRESHOLD
from factloop.evaluation.audit.units import Bools

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class SortedScores:
    """A claim is flagged, that is predicted to be an error, if its score is below the threshold."""

    scores: Floats
    """Shape (n,), rising."""
    errors_below: Counts
    """Shape (n + 1,): errors by label among as many of the lowest scores."""

    @classmethod
    def of(cls, scores: Floats, is_error: Bools) -> SortedScores:
        order = np.argsort(scores, kind="stable")
        return cls(scores[order], np.concatenate([[0], np.cumsum(is_error[order])]).astype(np.int64))

    @property
    def n(self) -> int:
        return len(self.scores)

    @property
    def n_errors(self) -> int:
        return int(self.errors_below[-1])

    @property
    def n_others(self) -> int:
        return self.n - self.n_errors

    @property
    def is_graded(self) -> bool:
        """Whether some score lies between 0 and 1."""
        return bool(((self.scores > 0.0) & (self.scores < 1.0)).any())

    def flagged(self, threshold: float) -> int:
        return int(np.searchsorted(self.scores, threshold, side="left"))

    def flagged_errors(self, threshold: float) -> int:
        return int(self.errors_below[self.flagged(threshold)])

    def flagged_others(self, threshold: float) -> int:
        return self.flagged(threshold) - self.flagged_errors(threshold)


def unbiased_threshold(system: SortedScores) -> float:
    """The threshold that flags as many claims as there are errors, or nearly; of equals the one nearest to 0.5."""
    thresholds, flagged = _candidates(system)
    return _best(thresholds, np.abs(flagged - system.n_errors))


def balanced_threshold(system: SortedScores) -> float:
    """The threshold of the highest balanced accuracy; of equals the one nearest to 0.5. Takes claims of both kinds."""
    thresholds, flagged = _candidates(system)
    errors = system.errors_below[flagged]
    # errors / n_errors - others / n_others, in whole numbers so that equals are equal
    return _best(thresholds, (flagged - errors) * system.n_errors - errors * system.n_others)


def _best(thresholds: Floats, cost: Counts) -> float:
    return float(thresholds[np.lexsort((thresholds, np.abs(thresholds - THRESHOLD), cost))[0]])


def _candidates(system: SortedScores) -> tuple[Floats, Counts]:
    """One threshold for each way to part the scores, halfway between two of them, and how many it flags."""
    values, firsts = np.unique(system.scores, return_index=True)
    between = values[:-1] + (values[1:] - values[:-1]) / 2.0
    between = np.where(between > values[:-1], between, values[1:])  # neighbouring floats have no halfway
    above = np.nextafter(1.0, 2.0) if values[-1] >= 1.0 else (values[-1] + 1.0) / 2.0
    last = above if above > values[-1] else 1.0
    return np.concatenate([[0.0], between, [last]]), np.append(firsts, system.n)
