"""Few labels that `labels next` chose: intervals hold the truth in 95 % of simulated runs."""

from __future__ import annotations

import numpy as np
import pytest

from factloop.core.records import Counts
from factloop.evaluation.debiasing.precision import debiased_precision
from factloop.evaluation.debiasing.samples import JudgedResponses, LabelledClaims


def test_the_interval_of_unevenly_drawn_labels_by_hand() -> None:
    """Verdicts that are always 1 say nothing, so the value is the mean of the labels by weight: 24 of 34, or 12/17.

    Each of 22 prompts has a claim: four of weight 4 are supported, of 18 of weight 1 eight are. The variance is
    ((4 * 16 + 8) (5/17)^2 + 10 (12/17)^2) 22/21 / 34^2, and half an error of weight^2 (64 + 18) / 22. Wilson's limits s
    solve (12/17 - s)^2 = t^2 s (1 - s) V / (12/17 * 5/17), with t of 21 degrees of freedom 2.07961.
    """
    labels, chance = [1] * 12 + [0] * 10, [0.25] * 4 + [1.0] * 18
    groups = [f"q{place}" for place in range(22)]
    run = JudgedResponses([Counts(supported=5)] * 30, [f"p{place}" for place in range(30)])
    found = debiased_precision(LabelledClaims(labels, [1] * 22, groups, chance), run).prediction_powered
    value = 12 / 17
    variance = ((72 * (5 / 17) ** 2 + 10 * value**2) * 22 / 21 + 0.5 * 82 / 22) / 34**2
    per_case = 2.07961**2 * variance / (value * 5 / 17)
    ends = np.sort(np.roots([1.0 + per_case, -2.0 * value - per_case, value**2]))
    assert found.value == pytest.approx(value)
    assert found.interval == pytest.approx(tuple(ends), abs=1e-5)
