"""Resamples of both samples by whole groups, as counts of how often each group was drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from factloop.evaluation.debiasing.influence import quantile
from factloop.evaluation.debiasing.samples import Floats, Ints, Samples
from factloop.evaluation.statistics.bootstrap import sample_and_draws


@dataclass(frozen=True)
class Draws:
    """How often groups were drawn. The first row is the sample itself, each group once; the others are resamples."""

    cells: Floats
    """(1 + n_resamples, 4): labelled claims drawn, as called supported and truly so, called so and not, not called so
    and truly so, neither."""
    responses: Floats
    """(1 + n_resamples, n_responses): how often each response was drawn."""


def draw(samples: Samples, resamples: int, rng: np.random.Generator) -> Draws:
    """Draws as many groups as there are; if the samples share groups, those of both together."""
    both = np.arange(samples.n_groups)
    of_labels, of_run = np.unique(samples.label_group), np.unique(samples.run_group)
    times = (
        [_times(both, samples.n_groups, resamples, rng)] * 2
        if samples.share_groups
        else [_times(groups, samples.n_groups, resamples, rng) for groups in (of_labels, of_run)]
    )
    return Draws(cells=times[0] @ _cells(samples), responses=times[1][:, samples.run_group])


def _times(groups: Ints, n_groups: int, resamples: int, rng: np.random.Generator) -> Floats:
    """(1 + resamples, n_groups): how often each was drawn, 0 for groups that are not in the sample."""
    times = np.zeros((1 + resamples, n_groups))
    if len(groups):
        times[:, groups] = sample_and_draws(len(groups), rng, resamples)
    return times


def _cells(samples: Samples) -> Floats:
    """(n_groups, 4): the labelled claims of each group by verdict and label, each as much as it counts."""
    cell = 2 * (1 - samples.verdict) + (1 - samples.label)
    place = samples.label_group * 4 + cell.astype(np.int64)
    counts = np.bincount(place, samples.label_weight, minlength=4 * samples.n_groups).astype(np.float64)
    return counts.reshape(samples.n_groups, 4)


def expanded_tail(n_groups: int, level: float) -> float:
    """The share of resamples to cut off on each side, for the smaller of the samples (Hesterberg 2015, section 5.4).

    Percentiles as they are would give intervals that are narrower than Student's by `sqrt((g - 1) / g)` and by the
    normal in the place of the t distribution.
    """
    from scipy import stats  # type: ignore[import-untyped]  # its stubs are no dependency

    factor = np.sqrt(n_groups / (n_groups - 1))
    return float(stats.norm.cdf(-factor * quantile(n_groups, level)))
