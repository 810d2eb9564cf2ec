from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.core.figure import Undefined
from factloop.evaluation.audit.figures import AuditFigure, Figures
from factloop.evaluation.audit.resampling import CountTable, count
from tests.evaluation.audit.prediction_rows import Row, table_of
from tests.evaluation.audit.random_tables import row_lists


def resampled(rows: Sequence[Row], n: int = 40, seed: int = 1) -> CountTable:
    return count(table_of(rows), rng=np.random.default_rng(seed), resamples=n)


def arrays(counted: CountTable) -> list[np.ndarray]:
    tallies = (counted.claims, counted.responses)
    of_tallies = [
        array
        for t in tallies
        for array in (t.labels, t.confusion, t.cell_clusters, t.dataset_clusters, t.known_clusters, t.label_clusters)
    ]
    return [*of_tallies, counted.overlap, counted.overlap_clusters]


def test_counts_by_hand() -> None:
    """Response 1 of system a holds a right and a wrong claim; f has no score for the claim of response 2."""
    counted = count(
        table_of(
            [
                Row(1, {"e": 0.5, "f": 0.4}, system="a", response="1"),
                Row(0, {"e": 0.9, "f": 0.4}, system="a", response="1"),
                Row(1, {"e": 1.0, "f": None}, system="a", response="2"),
                Row(0, {"e": 0.1, "f": 0.0}, system="b", response="1"),
            ]
        )
    )
    assert counted.claims.labels.tolist() == [[[1, 2], [1, 0]]]
    e, f = counted.claims.confusion[0]
    assert e.tolist() == [[[0, 1], [0, 2]], [[1, 0], [0, 0]]]
    assert f.tolist() == [[[1, 0], [1, 0]], [[1, 0], [0, 0]]]
    e, f = counted.responses.confusion[0]
    assert e.tolist() == [[[0, 1], [0, 1]], [[1, 0], [0, 0]]]
    assert f.tolist() == [[[1, 0], [0, 0]], [[1, 0], [0, 0]]]
    # e with f: both 0 once, they differ twice, one has no score; e with the labels: 0 once, 1 twice, differ once
    assert counted.pairs == [(0, 1), (0, 2), (1, 2)]
    assert counted.overlap[0, 0].tolist() == [[1, 0, 2], [1, 2, 1], [2, 0, 1]]
    assert counted.claims.cell_clusters.tolist() == [[2, 1], [1, 1], [2, 1]]
    assert counted.responses.dataset_clusters.tolist() == [[3], [2], [3]]
    assert (counted.basis.n_claims, counted.basis.n_responses, counted.basis.n_clusters) == (4, 3, 3)


def test_a_response_that_an_evaluator_scored_in_part_is_left_out() -> None:
    rows = [Row(1, {"e": None}), Row(0, {"e": 0.0}), Row(1, {"e": 1.0}, response="r2")]
    counted = count(table_of(rows))
    assert counted.responses.confusion[0, 0, 0].tolist() == [[0, 0], [0, 1]]
    assert counted.responses.labels[0, 0].tolist() == [1, 1]


@pytest.mark.parametrize("has_prompts", [False, True])
def test_whole_clusters_are_drawn(has_prompts: bool) -> None:
    """Every prompt (or response) has one claim of each label: so has every resample, in each system."""
    rows = [
        Row(label, {"e": float(label)}, system=system, response=str(place), prompt=str(place) if has_prompts else None)
        for system in "ab"
        for place in range(6)
        for label in (0, 1)
    ]
    labels = resampled(rows, 200).claims.labels
    assert (labels == 6).all()


def test_prompts_that_systems_share_are_drawn_for_both() -> None:
    """Of each prompt system a has one claim, b two: in each resample b has twice as many of each label."""
    rows = [
        Row(place % 2, {"e": 1.0}, system=system, response=str(place), prompt=str(place))
        for place in range(8)
        for system in "abb"
    ]
    labels = resampled(rows, 100).claims.labels
    assert (labels[:, 1] == 2 * labels[:, 0]).all()
    assert len(np.unique(labels[:, 0, 0])) > 3
    alone = resampled([Row(**{**vars(row), "prompt": None}) for row in rows], 100).claims.labels
    assert (alone[:, 1] != 2 * alone[:, 0]).any()


def test_draws_have_the_spread_of_a_bootstrap() -> None:
    """The number of 1s among 400 responses of which a quarter is 1: mean 100, variance 400 * 1/4 * 3/4 = 75."""
    rows = [Row(int(place % 4 == 0), {"e": 1.0}, response=str(place)) for place in range(400)]
    ones = resampled(rows, 4000).claims.labels[1:, 0, 1]
    assert ones.mean() == pytest.approx(100, abs=5 * math.sqrt(75 / 4000))
    assert ones.var() == pytest.approx(75, rel=0.12)  # five standard errors: 5 * sqrt(2 / 4000)


@given(st.booleans().flatmap(lambda has_prompts: row_lists(has_prompts=has_prompts)), st.randoms())
def test_the_order_of_the_rows_changes_nothing(rows: list[Row], random: Random) -> None:
    shuffled = random.sample(rows, len(rows))
    for one, other in zip(arrays(resampled(rows)), arrays(resampled(shuffled)), strict=True):
        assert np.array_equal(one, other)


@given(row_lists(has_prompts=True))
def test_the_counts_hold_together(rows: list[Row]) -> None:
    counted = resampled(rows, 5)
    for tally in (counted.claims, counted.responses):
        assert (tally.confusion.sum(axis=4) <= tally.labels[:, None]).all()
        assert (tally.confusion[:, 1].sum(axis=3) == tally.labels).all()  # f scores everything
    assert counted.claims.labels[0].sum() == len(rows)
    assert (counted.responses.labels.sum(axis=2) <= counted.claims.labels.sum(axis=2)).all()
    assert (counted.responses.labels[..., 1] <= counted.claims.labels[..., 1]).all()


def test_what_has_no_interval() -> None:
    """No resamples; one cluster; a value that no resample has; no value."""
    nan = math.nan
    values = np.array([[0.5, 0.5, 0.5, nan], [0.4, 0.4, nan, 0.4], [0.6, 0.6, nan, 0.6]])
    figures = Figures(values, np.full(4, 9), np.array([2, 1, 2, 2]))
    found = figures.estimates([Undefined.NO_ATTRIBUTABLE] * 4, 0.95)
    assert [found[0].low, found[0].high] == pytest.approx([0.405, 0.595])
    assert found[1] == AuditFigure(value=0.5, n=9, n_clusters=1)
    assert found[2] == AuditFigure(value=0.5, n=9, n_clusters=2, n_resamples_undefined=2)
    assert found[3] == AuditFigure(value=None, undefined=Undefined.NO_ATTRIBUTABLE, n=9, n_clusters=2)
    alone = Figures(values[:1], np.full(4, 9), np.array([2, 1, 2, 2])).estimates([Undefined.NO_DATASET] * 4, 0.95)
    assert [estimate.low for estimate in alone] == [None] * 4
