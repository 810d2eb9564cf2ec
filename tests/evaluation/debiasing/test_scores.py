"""Scores in the place of verdicts: where they narrow the interval, and a value by hand."""

from __future__ import annotations

import pytest

from factloop.core.records import Counts
from factloop.evaluation.debiasing.precision import debiased_precision
from factloop.evaluation.debiasing.samples import JudgedResponses, LabelledClaims

LABELS = [1, 1, 1, 0] * 10
GROUPS = [f"q{place}" for place in range(40)]
COUNTS = [Counts(supported=4)] * 50


def run_of(*sums: float) -> JudgedResponses:
    """Fifty responses of four claims, all called supported, with these sums of scores by turns."""
    return JudgedResponses(COUNTS, [f"p{place}" for place in range(50)], [*sums] * (50 // len(sums)))


def test_a_value_by_scores_by_hand() -> None:
    """Verdicts are all 1 and say nothing. Scores are 0.9 of supported claims, 0.2 of others, so that lambda is 1.

    The run's mean score is (2.9 + 3.6) / 8 = 0.8125; labels have 0.75 against a score of 0.725: 0.8375.
    """
    scores = [0.9 if label else 0.2 for label in LABELS]
    labelled = LabelledClaims(LABELS, [1] * 40, GROUPS, scores=scores)
    found = debiased_precision(labelled, run_of(2.9, 3.6)).prediction_powered
    assert (found.uses_scores, found.weight) == (True, 1.0)
    assert found.value == pytest.approx(0.8375)
    by_verdicts = debiased_precision(labelled, JudgedResponses(COUNTS, run_of(4.0).groups)).prediction_powered
    assert (by_verdicts.uses_scores, by_verdicts.value) == (False, 0.75)
    assert found.interval is not None
    assert by_verdicts.interval is not None
    assert found.interval[1] - found.interval[0] < 0.5 * (by_verdicts.interval[1] - by_verdicts.interval[0])


def test_a_claim_without_a_score_counts_by_its_verdict() -> None:
    """Scores of 1 and 0 say what verdicts say, and so does their absence."""
    verdicts = [1, 1, 0, 0] * 10
    labelled = LabelledClaims(LABELS, verdicts, GROUPS, scores=[float(one) if one else None for one in verdicts])
    counts = [Counts(supported=2, not_supported=2)] * 25 + [Counts(supported=3, not_supported=1)] * 25
    run = JudgedResponses(counts, [f"p{place}" for place in range(50)], [2.0] * 25 + [3.0] * 25)
    assert debiased_precision(labelled, run).prediction_powered.uses_scores is False
    assert debiased_precision(labelled, run) == debiased_precision(LabelledClaims(LABELS, verdicts, GROUPS), run)


def test_the_runs_own_precision_by_scores() -> None:
    scores = [0.9 if label else 0.2 for label in LABELS]
    labelled = LabelledClaims(LABELS, [1] * 40, [f"p{place}" for place in range(40)], is_own=[True] * 40, scores=scores)
    own = debiased_precision(labelled, run_of(2.9, 3.6)).own_claims
    assert own is not None
    assert own.uses_scores
    assert own.value == pytest.approx(0.8375)
