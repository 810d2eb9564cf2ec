"""Corrected figures in words."""

from __future__ import annotations

import pytest

from factloop.evaluation.debiasing.records import Estimate, Method
from factloop.evaluation.runs.views.debiasing_words import weight_words


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (0.18, "λ 0.18: 82% from labels alone"),
        (-0.0, "λ 0.00: 100% from labels alone"),
        (0.0, "λ 0.00: 100% from labels alone"),
        (1.0, "λ 1.00: 0% from labels alone"),
        (None, ""),
    ],
)
def test_a_weight_has_no_sign(weight: float | None, words: str) -> None:
    estimate = Estimate(
        method=Method.PREDICTION_POWERED,
        value=0.5,
        n_run=10,
        n_run_groups=10,
        n_labels=5,
        n_label_groups=5,
        weight=weight,
    )
    assert weight_words(estimate) == words
