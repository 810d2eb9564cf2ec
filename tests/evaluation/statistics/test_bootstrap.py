from __future__ import annotations

import math

import numpy as np

from factloop.evaluation.statistics.bootstrap import bootstrap, draw_counts, percentile_interval, sample_and_draws


def test_each_resample_draws_as_many_clusters_as_there_are() -> None:
    drawn = np.concatenate([*draw_counts(7, np.random.default_rng(0), 50)])
    assert drawn.shape == (50, 7)
    assert (drawn.sum(axis=1) == 7).all()
    assert len({tuple(row) for row in drawn.tolist()}) > 40


def test_the_sample_stands_first() -> None:
    drawn = sample_and_draws(4, np.random.default_rng(1), 10)
    assert drawn.shape == (11, 4)
    assert drawn[0].tolist() == [1, 1, 1, 1]
    assert sample_and_draws(4, None, 10).tolist() == [[1, 1, 1, 1]]
    assert sample_and_draws(0, np.random.default_rng(1), 10).shape == (1, 0)


def test_a_statistic_gets_the_sums_of_each_resample_in_the_shape_of_a_cluster() -> None:
    of_clusters = np.arange(24.0).reshape(4, 2, 3)
    drawn = np.concatenate([*draw_counts(4, np.random.default_rng(2), 30)])
    found = bootstrap(of_clusters, lambda sums: sums, np.random.default_rng(2), 30)
    assert np.array_equal(found, np.tensordot(drawn, of_clusters, axes=1))


def test_an_interval_has_a_width() -> None:
    assert percentile_interval(np.array([0.0, 1.0, math.nan]), 0.5) == (0.25, 0.75)
    for values in ([], [math.nan], [0.5, 0.5, math.nan]):
        assert percentile_interval(np.array(values), 0.95) is None
