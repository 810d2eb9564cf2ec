from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve  # type: ignore[import-untyped]  # it ships no types
from sklearn.metrics import balanced_accuracy_score, brier_score_loss, jaccard_score, recall_score, roc_auc_score  # type: ignore[import-untyped]  # it ships no types  # type: ignore[import-untyped]  # it ships no types

from factloop.core.figure import Undefined
from factloop.evaluation.audit.figures import AuditFigure
from factloop.evaluation.audit.quantification import quantification
from factloop.evaluation.audit.rates import EvaluatorRates, agreement, rates
from factloop.evaluation.audit.reliability import Reliability, reliability
from factloop.evaluation.audit.resampling import count
from factloop.evaluation.audit.table import Level
from tests.evaluation.audit.prediction_rows import Row, table_of
from tests.evaluation.audit.random_tables import ALL, dataset, error_rate, find, find_pair, of_system, row_lists, task

MEASURES = ("balanced_accuracy", "tpr", "tnr", "fpr", "fnr", "gap")


def rates_of(rows: list[Row], **options: float) -> tuple[EvaluatorRates, ...]:
    return rates(count(table_of(rows), **options))  # type: ignore[arg-type]  # a threshold


def values(found: EvaluatorRates) -> dict[str, float | None]:
    return {name: getattr(found, name).value for name in MEASURES}


def made(label: int, score: float | None, n: int, **fields: Any) -> list[Row]:
    return [Row(label, {"e": score}, response=f"{label}{score}{place}", **fields) for place in range(n)]


WORKED = [
    # x: of 4 attributable 3 are seen, of 5 unattributable 2; y: of 2 attributable 1, of 1 unattributable 1
    *made(1, 0.9, 2, dataset="x", task="t"),
    *made(1, 0.6, 1, dataset="x", task="t"),
    *made(1, 0.2, 1, dataset="x", task="t"),
    *made(0, 0.1, 2, dataset="x", task="t"),
    *made(0, 0.7, 3, dataset="x", task="t"),
    *made(0, None, 1, dataset="x", task="t"),
    *made(1, 1.0, 1, dataset="y", task="t"),
    *made(1, 0.0, 1, dataset="y", task="t"),
    *made(0, 0.0, 1, dataset="y", task="t"),
    # z: one class only
    *made(1, 0.5, 3, dataset="z", task="u"),
    *made(1, 0.4, 1, dataset="z", task="u"),
]


def test_worked_by_hand() -> None:
    found = rates_of(WORKED)
    x = find(found, "e", dataset("x"))
    assert values(x) == pytest.approx(
        {"balanced_accuracy": 0.575, "tpr": 0.75, "tnr": 0.4, "fpr": 0.6, "fnr": 0.25, "gap": 0.35}
    )
    assert (x.n_attributable, x.n_unattributable, x.n_unscored) == (4, 5, 1)
    assert (x.balanced_accuracy.n, x.tpr.n, x.tnr.n, x.fpr.n, x.fnr.n, x.gap.n) == (9, 4, 5, 5, 4, 9)
    # t: means of 3/4 and 1/2, of 2/5 and 1; all: the rate of true positives has a third, 3/4
    assert values(find(found, "e", task("t"))) == pytest.approx(
        {"balanced_accuracy": 0.6625, "tpr": 0.625, "tnr": 0.7, "fpr": 0.3, "fnr": 0.375, "gap": -0.075}
    )
    overall = find(found, "e", ALL)
    assert overall.tpr.value == pytest.approx(2 / 3)
    assert (overall.tpr.n, overall.tpr.n_datasets, overall.tpr.n_datasets_undefined) == (10, 3, 0)
    assert [overall.tnr.value, overall.tnr.n] == pytest.approx([0.7, 6])
    assert (overall.tnr.n_datasets, overall.tnr.n_datasets_undefined) == (2, 1)
    assert (overall.n_attributable, overall.n_unattributable, overall.n_unscored) == (10, 6, 1)


def test_one_class_has_one_rate() -> None:
    found = find(rates_of(WORKED), "e", dataset("z"))
    assert (found.tpr.value, found.fnr.value) == (0.75, 0.25)
    for undefined in (found.tnr, found.fpr, found.balanced_accuracy, found.gap):
        assert (undefined.value, undefined.undefined) == (None, Undefined.NO_UNATTRIBUTABLE)
    lies = find(rates_of(made(0, 0.9, 3)), "e", dataset("d"))
    assert (lies.tnr.value, lies.tpr.undefined, lies.gap.undefined) == (0.0, *[Undefined.NO_ATTRIBUTABLE] * 2)


@given(row_lists())
def test_rates_are_those_of_scikit_learn(rows: list[Row]) -> None:
    found = rates_of(rows)
    for name in {row.dataset for row in rows}:
        scored = [(r.label, r.scores["e"]) for r in rows if r.dataset == name and r.scores["e"] is not None]
        ours = find(found, "e", dataset(name))
        labels, verdicts = [label for label, _ in scored], [int((score or 0.0) >= 0.5) for _, score in scored]
        if 1 in labels:
            assert ours.tpr.value == pytest.approx(recall_score(labels, verdicts))
        if 0 in labels:
            assert ours.tnr.value == pytest.approx(recall_score(labels, verdicts, pos_label=0))
        if len(set(labels)) == 2:
            assert ours.balanced_accuracy.value == pytest.approx(balanced_accuracy_score(labels, verdicts))
        else:
            assert ours.balanced_accuracy.value is None


@given(row_lists())
def test_overlaps_are_those_of_scikit_learn(rows: list[Row]) -> None:
    found = agreement(count(table_of(rows)))
    for name in {row.dataset for row in rows}:
        scored = [r for r in rows if r.dataset == name and r.scores["e"] is not None]
        e = [int((row.scores["e"] or 0.0) >= 0.5) for row in scored]
        f = [int((row.scores["f"] or 0.0) >= 0.5) for row in scored]
        for other, theirs in (("f", f), (None, [row.label for row in scored])):
            ours = find_pair(found, "e", other, dataset(name))
            for positive, estimate in ((0, ours.unattributable), (1, ours.attributable)):
                if positive in (*e, *theirs):
                    assert estimate.value == pytest.approx(jaccard_score(e, theirs, pos_label=positive))
                else:
                    assert estimate.undefined is (Undefined.NONE_PREDICTED if scored else Undefined.NOTHING_SCORED)
                assert estimate.n == len(scored)
            assert ours.n_left_out == sum(row.dataset == name for row in rows) - len(scored)


def test_an_interval_takes_clusters_of_the_class_that_a_rate_is_of() -> None:
    """Ten prompts with the one error in the first: finding it does not make TNR exactly 1."""
    rows = [
        Row(int(place > 0), {"e": float(place % 3 > 0)}, prompt=str(place), response=str(place)) for place in range(10)
    ]
    found = find(rates(count(table_of(rows), rng=np.random.default_rng(0), resamples=100)), "e", dataset("d"))
    assert found.tnr == AuditFigure(value=1.0, n=1, n_clusters=1, n_resamples_undefined=found.tnr.n_resamples_undefined)
    assert (found.balanced_accuracy.low, found.balanced_accuracy.n_clusters) == (None, 1)
    assert found.tpr.n_clusters == 9
    assert found.tpr.low is not None


def test_a_rate_of_1_has_wilsons_interval() -> None:
    """All 84 false claims are stopped, each in a response of its own: Wilson's lower end is 84 / (84 + 1.96^2) = 0.956.
    TPR is 30 of 40. Balanced accuracy 0.875 reaches half as far below as both distances together, by squares."""
    rows = [*made(0, 0.1, 84), *made(1, 0.9, 30), *made(1, 0.2, 10)]
    found = find(rates(count(table_of(rows), rng=np.random.default_rng(0), resamples=500)), "e", dataset("d"))
    assert found.tnr.interval == pytest.approx((84 / (84 + 1.959964**2), 1.0))
    assert found.fpr.interval == pytest.approx((0.0, 1.959964**2 / (84 + 1.959964**2)))
    assert found.tpr.low is not None
    below = ((0.75 - found.tpr.low) ** 2 + (1.959964**2 / (84 + 1.959964**2)) ** 2) ** 0.5 / 2
    assert found.balanced_accuracy.low == pytest.approx(0.875 - below)
    assert found.gap.high is not None
    assert found.gap.high > (found.tpr.high or 1.0) - 1.0, "the gap is wider than that of TPR alone"
    assert found.tnr.n == 84
    whole = find(rates(count(table_of(rows))), "e", dataset("d"))
    assert whole.tnr.interval is None, "no resamples, no intervals"


DRAWN = [
    # x: of the attributable 0.9 is drawn with 1/2 and 0.2 with 1/4, so that they stand for 2 and 4
    Row(1, {"e": 0.9}, response="1", probability=0.5),
    Row(1, {"e": 0.2}, response="2", probability=0.25),
    Row(0, {"e": 0.1}, response="3", probability=1.0),
    Row(0, {"e": 0.8}, response="4", probability=0.125),
    Row(0, {"e": 0.7}, response="5", system="b", probability=0.5),
]


def test_claims_that_were_drawn_count_for_the_inverse_of_their_probability() -> None:
    counted = count(table_of(DRAWN))
    found = find(rates(counted), "e", dataset("d"))
    # TPR 2 / (2 + 4); TNR 1 / (1 + 8 + 2); unweighted they are 1/2 and 1/3
    assert (found.tpr.value, found.tnr.value) == pytest.approx((1 / 3, 1 / 11))
    assert found.balanced_accuracy.value == pytest.approx((1 / 3 + 1 / 11) / 2)
    assert (found.tpr.n, found.tnr.n, found.n_attributable, found.n_unattributable) == (2, 3, 2, 3)
    # Kish: (2 + 4 + 1 + 8 + 2)^2 / (4 + 16 + 1 + 64 + 4) = 289 / 89
    assert counted.basis.n_effective == pytest.approx(289 / 89)
    assert find(rates(counted), "e", dataset("d"), Level.RESPONSE).tpr.value == 0.5  # a response counts once
    errors = quantification(counted)
    # a: errors by label 1 + 8 of 15, by evaluator (0.2 and 0.1) 4 + 1 of 15
    assert of_system(errors, "d", "a").labelled.value == pytest.approx(9 / 15)
    assert of_system(errors, "d", "a").predicted.value == pytest.approx(5 / 15)
    assert of_system(errors, "d", "a").bias.n == 4
    assert error_rate(errors, "d", "a").n == 4
    both = find_pair(agreement(counted), "e", None, dataset("d"))
    # called wrong by both 0.1: 1; by one alone 0.2: 4, 0.8: 8, 0.7: 2
    assert both.unattributable.value == pytest.approx(1 / 15)
    assert (both.unattributable.n, both.n_left_out) == (5, 0)


def found_in(scored: list[tuple[int, float]]) -> Reliability:
    rows = [Row(label, {"e": score}, response=f"r{place}") for place, (label, score) in enumerate(scored)]
    return next(one for one in reliability(table_of(rows), "e") if one.group == dataset("d"))


SCORES = st.sampled_from([0.0, 0.03, 0.1, 0.25, 0.3, 0.5, 0.6, 0.7, 0.77, 0.9, 1.0])


@given(st.lists(st.tuples(st.integers(0, 1), SCORES)))
def test_figures_are_those_of_scikit_learn(scored: list[tuple[int, float]]) -> None:
    scored = [(0, 0.5), *scored, (1, 0.25)]
    labels, scores = (np.array(column) for column in zip(*scored, strict=True))
    found = found_in(scored)
    assert found.brier == pytest.approx(brier_score_loss(labels, scores))
    assert found.brier_of_share == pytest.approx(labels.mean() * (1 - labels.mean()))
    assert found.auc == pytest.approx(roc_auc_score(labels, scores))
    assert (found.n, found.n_attributable) == (len(labels), labels.sum())
    shares, means = calibration_curve(labels, scores, n_bins=10, strategy="uniform")
    filled = [one for one in found.bins if one.n]
    assert [one.attributable for one in filled] == pytest.approx(shares.tolist())
    assert [one.mean_score for one in filled] == pytest.approx(means.tolist())
    n = np.array([one.n for one in filled])
    assert found.ece == pytest.approx(float(n @ np.abs(shares - means) / n.sum()))


def test_verdicts_alone_have_no_reliability_and_labels_alike_no_auc() -> None:
    assert reliability(table_of([Row(1, {"e": 1.0}), Row(0, {"e": 0.0}), Row(1, {"e": None})]), "e") == ()
    found = found_in([(1, 0.3), (1, 0.4)])
    assert found.auc is None
    assert found.ece == pytest.approx(0.65)
