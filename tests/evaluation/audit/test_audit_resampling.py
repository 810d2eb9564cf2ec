from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from factloop.core.figure import Undefined
from factloop.evaluation.audit.figures import AuditFigure, Figures
from factloop.evaluation.audit.resampling import CountTable, count
from tests.evaluation.audit.prediction_rows import Row, table_of


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
