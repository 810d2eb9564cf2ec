"""Paired differences of a run's figures between two sides that answered, or judged, the same prompts.

The comparison is `paired`, with prompts as clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from factloop.core.figure import ends
from factloop.evaluation.comparing.paired import (
    Items,
    PairedMeans,
    level_of_each,
    paired_means,
    simultaneous_interval,
)
from factloop.evaluation.comparing.records import Pair, PairedDifference
from factloop.evaluation.runs.longform_records import AbstentionPolicy
from factloop.evaluation.runs.measures import MEASURES, Measure
from factloop.evaluation.statistics.discrete_tests import DiscreteTest, holm_tarone, n_varying
from factloop.evaluation.statistics.stratified_means import StratifiedMean


@dataclass(frozen=True)
class _PairedMeasure:
    """One quantity of all pairs."""

    measure: Measure
    k: int | None
    means: PairedMeans
    n_left_out: int


def paired_differences(
    pairs: Sequence[Pair],
    ks: Sequence[int],
    *,
    abstention: AbstentionPolicy,
    rng: np.random.Generator,
    level: float,
    has_intervals: bool = True,
) -> tuple[PairedDifference, ...]:
    """The paired differences of the measures that are compared: precision, then F1 at each K.

    The order of the pairs changes nothing; exchanging the sides turns the signs.

    A pair in which a side has no value is left out and counted. Holm's adjustment is over all the differences that
    have a p-value and could have had one so small. The intervals hold the true differences at `level` all together.
    """
    compared = _all_compared(pairs, ks, abstention)
    tests = [one.means.test() for one in compared]
    known = [test for test in tests if test is not None]
    adjusted = iter(holm_tarone(known))
    held = [None if test is None else next(adjusted) for test in tests]
    intervals = _Intervals(level, n_varying(known), rng if has_intervals else None)
    return tuple(
        _difference(one, test, of_test, intervals) for one, test, of_test in zip(compared, tests, held, strict=True)
    )


@dataclass(frozen=True)
class _Intervals:
    """How the intervals of one comparison are taken."""

    level: float
    n: int
    """How many differences vary, so that they have an interval."""
    rng: np.random.Generator | None
    """None for no intervals."""

    def of(self, apart: StratifiedMean, p_adjusted: float | None) -> tuple[float, float] | None:
        if self.rng is None:
            return None
        return simultaneous_interval(apart, p_adjusted, self.level, self.n, self.rng)


def system_gains(pairs: Sequence[Pair], ks: Sequence[int], abstention: AbstentionPolicy) -> dict[str, StratifiedMean]:
    """The differences of the measures that are compared, by name: `precision`, `f1@64`."""
    return {
        one.measure.quantity.value + (f"@{one.k}" if one.k is not None else ""): one.means.apart
        for one in _all_compared(pairs, ks, abstention)
    }


def _all_compared(pairs: Sequence[Pair], ks: Sequence[int], abstention: AbstentionPolicy) -> list[_PairedMeasure]:
    ordered = sorted(pairs, key=lambda pair: (pair.first.prompt_id, pair.first.system, pair.second.system))
    places = {prompt: place for place, prompt in enumerate(sorted({pair.first.prompt_id for pair in pairs}))}
    at = np.array([places[pair.first.prompt_id] for pair in ordered], dtype=np.int64)
    items = Items.of_clusters(at, len(places))
    measures: list[tuple[Measure, int | None]] = [(one, None) for one in MEASURES if one.is_compared and not one.at_k]
    measures += [(one, k) for k in ks for one in MEASURES if one.is_compared and one.at_k]
    return [_compared(ordered, measure, k, abstention, items) for measure, k in measures]


def _compared(
    pairs: Sequence[Pair], measure: Measure, k: int | None, abstention: AbstentionPolicy, items: Items
) -> _PairedMeasure:
    first, second = (
        np.array([measure.value(line, k, abstention) for line in lines], dtype=np.float64)  # NaN for None
        for lines in ([pair.first for pair in pairs], [pair.second for pair in pairs])
    )
    means = paired_means(first, second, items)
    return _PairedMeasure(measure, k, means, len(pairs) - means.apart.n)


def _difference(
    one: _PairedMeasure, test: DiscreteTest | None, p_adjusted: float | None, intervals: _Intervals
) -> PairedDifference:
    means = one.means
    interval = intervals.of(means.apart, p_adjusted)
    return PairedDifference(
        quantity=one.measure.quantity,
        k=one.k,
        first=_within(means.first),
        second=_within(means.second),
        difference=_within(means.apart),
        **ends(None if interval is None else (max(-1.0, interval[0]), min(interval[1], 1.0))),
        level=level_of_each(intervals.level, intervals.n),
        n_pairs=means.apart.n,
        n_prompts=means.apart.n_clusters,
        n_left_out=one.n_left_out,
        first_higher=means.first_higher,
        equal=means.equal,
        second_higher=means.second_higher,
        p=None if test is None else test.p,
        p_corrected=p_adjusted,
    )


def _within(mean: StratifiedMean) -> float | None:
    """The mean cut to [-1, 1], which rounding may leave."""
    return None if mean.value is None else max(-1.0, min(mean.value, 1.0))
