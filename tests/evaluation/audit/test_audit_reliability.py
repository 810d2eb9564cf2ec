"""Reliability of scores by hand and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve  # type: ignore[import-untyped]  # it ships no types
from sklearn.metrics import brier_score_loss, roc_auc_score  # type: ignore[import-untyped]  # it ships no types

from factloop.evaluation.audit.reliability import Reliability, reliability
from tests.evaluation.audit.prediction_rows import Row, table_of
from tests.evaluation.audit.random_tables import dataset


def made(scored: list[tuple[int, float | None]], chances: list[float] | None = None) -> list[Row]:
    return [
        Row(label, {"e": score}, response=f"r{place}", probability=chances[place] if chances else None)
        for place, (label, score) in enumerate(scored)
    ]


def found_in(rows: list[Row]) -> Reliability:
    return next(one for one in reliability(table_of(rows), "e") if one.group == dataset("d"))


WORKED: list[tuple[int, float | None]] = [(1, 0.9), (0, 0.9), (1, 0.95), (0, 0.2), (0, 0.1), (1, 0.0), (1, None)]


def test_worked_by_hand() -> None:
    """Bins: 0.0 and 0.1 (mean .05, one of two holds), 0.2 (none), 0.9 twice (one of two), 0.95 (holds)."""
    found = found_in(made(WORKED))
    filled = [one for one in found.bins if one.n]
    assert [(one.low, one.n, one.attributable) for one in filled] == [
        (0.0, 2, 0.5),
        (0.1, 1, 0.0),
        (0.8, 2, 0.5),
        (0.9, 1, 1.0),
    ]
    assert [one.mean_score for one in filled] == pytest.approx([0.05, 0.2, 0.9, 0.95])
    # (2 * .45 + .2 + 2 * .4 + .05) / 6
    assert found.ece == pytest.approx(1.95 / 6)
    # (.1^2 + .9^2 + .05^2 + .2^2 + .1^2 + 1) / 6
    assert found.brier == pytest.approx(1.8725 / 6)
    assert found.brier_of_share == 0.25
    # .9 beats .2 and .1, and is even with .9; .95 beats all three; 0 beats none: (2.5 + 3) / 9
    assert found.auc == pytest.approx(5.5 / 9)
    assert (found.n, found.n_attributable) == (6, 3)


def test_a_claim_of_half_the_probability_counts_like_two() -> None:
    doubled = found_in(made([*WORKED, WORKED[0], WORKED[3]]))
    drawn = found_in(made(WORKED, [0.5, 1, 1, 0.5, 1, 1, 1]))
    for measure in ("ece", "brier", "brier_of_share", "auc"):
        assert getattr(drawn, measure) == pytest.approx(getattr(doubled, measure))
    assert (drawn.n, drawn.bins[8].n) == (6, 2)


SCORES = st.sampled_from([0.0, 0.03, 0.1, 0.25, 0.3, 0.5, 0.6, 0.7, 0.77, 0.9, 1.0])


@given(st.lists(st.tuples(st.integers(0, 1), SCORES)))
def test_figures_are_those_of_scikit_learn(scored: list[tuple[int, float]]) -> None:
    scored = [(0, 0.5), *scored, (1, 0.25)]
    labels, scores = (np.array(column) for column in zip(*scored, strict=True))
    found = found_in(made([*scored]))
    assert found.brier == pytest.approx(brier_score_loss(labels, scores))
    assert found.auc == pytest.approx(roc_auc_score(labels, scores))
    shares, means = calibration_curve(labels, scores, n_bins=10, strategy="uniform")
    filled = [one for one in found.bins if one.n]
    assert [one.attributable for one in filled] == pytest.approx(shares.tolist())
    assert [one.mean_score for one in filled] == pytest.approx(means.tolist())
    n = np.array([one.n for one in filled])
    assert found.ece == pytest.approx(float(n @ np.abs(shares - means) / n.sum()))


def test_verdicts_alone_have_no_reliability_and_labels_alike_no_auc() -> None:
    assert reliability(table_of(made([(1, 1.0), (0, 0.0), (1, None)])), "e") == ()
    found = found_in(made([(1, 0.3), (1, 0.4)]))
    assert found.auc is None
    assert found.ece == pytest.approx(0.65)
