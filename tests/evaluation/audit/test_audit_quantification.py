from __future__ import annotations

import numpy as np
import pytest

from factloop.core.figure import Undefined
from factloop.evaluation.audit.quantification import Quantification, quantification
from factloop.evaluation.audit.resampling import count
from factloop.evaluation.audit.table import Level
from tests.evaluation.audit.prediction_rows import Row, table_of
from tests.evaluation.audit.random_tables import ALL, dataset, task


def quantified(rows: list[Row]) -> Quantification:
    return quantification(count(table_of(rows)))


def made(system: str, data: str, marks: str, name: str = "t") -> list[Row]:
    """A response of each word, a claim of each pair of label and verdict in it: `11,10` are two, `1.` has no score."""
    return [
        Row(int(pair[0]), {"e": None if pair[1] == "." else float(pair[1])}, system, str(place), None, data, name)
        for place, word in enumerate(marks.split())
        for pair in word.split(",")
    ]


WORKED = [
    # claims: labelled 1/4, predicted 2/4; responses: labelled 1/2, predicted 2/2
    *made("a", "x", "11,10 11,00"),
    # claims: labelled 2/6, predicted 1/6, one left out; responses: labelled 2/3, predicted 0/3, one left out
    *made("b", "x", "11 01,11 01,11 1.,10"),
    # labelled 0/2, predicted 1/2, in both
    *made("c", "y", "11 10", "u"),
]


def test_error_rates_and_biases_by_hand() -> None:
    found = quantified(WORKED)
    a, b = (found.of_system("e", "x", system) for system in "ab")
    assert (a.labelled.value, a.predicted.value, a.bias.value, a.bias.n) == (0.25, 0.5, 0.25, 4)
    assert [b.labelled.value, b.predicted.value, b.bias.n] == pytest.approx([2 / 6, 1 / 6, 6])
    assert [b.bias.value, b.n_unscored] == pytest.approx([-1 / 6, 1])
    a, b = (found.of_system("e", "x", system, Level.RESPONSE) for system in "ab")
    assert (a.labelled.value, a.predicted.value, a.bias.n) == (0.5, 1.0, 2)
    assert [b.labelled.value, b.predicted.value, b.bias.n] == pytest.approx([2 / 3, 0.0, 3])
    assert [b.bias.value, b.n_unscored] == pytest.approx([-2 / 3, 1])
    # by labels alone, every claim and response counts
    assert found.error_rate("x", "b").value == pytest.approx(2 / 7)
    assert found.error_rate("x", "b", Level.RESPONSE).value == 0.5


def test_the_bias_of_a_whole_data_set_by_hand() -> None:
    """Of x: labelled 1 + 2 of 10, predicted 2 + 1 of 10, so that the biases of its systems cancel out."""
    found = {(one.dataset, one.level): one for one in quantified(WORKED).datasets}
    x, y = found["x", Level.CLAIM], found["y", Level.CLAIM]
    assert (x.labelled.value, x.predicted.value, x.bias.value, x.bias.n) == (0.3, 0.3, 0.0, 10)
    assert (y.labelled.value, y.predicted.value, y.bias.value, y.bias.n) == (0.0, 0.5, 0.5, 2)
    responses = found["x", Level.RESPONSE]
    assert [responses.labelled.value, responses.predicted.value] == pytest.approx([3 / 5, 2 / 5])


def test_biases_over_systems_and_headroom_by_hand() -> None:
    found = quantified(WORKED)
    x = found.find("e", dataset("x"))
    assert [x.mean_absolute.value, x.worst_absolute.value] == pytest.approx([(1 / 4 + 1 / 6) / 2, 0.25])
    assert (x.worst_system, x.n_systems) == ("a", 2)
    assert [x.headroom_labelled.value, x.headroom_predicted.value] == pytest.approx([0.25, 1 / 6])
    assert [x.headroom_bias.value, x.headroom_absolute.value] == pytest.approx([-1 / 12, 1 / 12])
    assert found.find("e", dataset("x"), Level.RESPONSE).worst_system == "b"
    y = found.find("e", dataset("y"))
    assert (y.mean_absolute.value, y.worst_absolute.value, y.n_systems) == (0.5, 0.5, 1)
    for headroom in (y.headroom_labelled, y.headroom_predicted, y.headroom_bias, y.headroom_absolute):
        assert (headroom.value, headroom.undefined) == (None, Undefined.ONE_SYSTEM)
    # over both data sets: the means of 5/24 and 1/2; the headroom of one, the other being left out
    overall = found.find("e", ALL)
    assert overall.mean_absolute.value == pytest.approx((5 / 24 + 0.5) / 2)
    assert overall.headroom_bias.value == pytest.approx(-1 / 12)
    assert overall.worst_system is None
    assert (overall.headroom_bias.n_datasets, overall.headroom_bias.n_datasets_undefined) == (1, 1)
    assert found.find("e", task("u")).headroom_bias.undefined is Undefined.NO_DATASET


def test_a_system_without_scores_is_no_system_of_the_evaluator() -> None:
    found = quantified([*made("a", "x", "10 11"), *made("b", "x", "1. 0.")])
    b, x = found.of_system("e", "x", "b"), found.find("e", dataset("x"))
    assert (b.bias.value, b.bias.undefined, b.n_unscored) == (None, Undefined.NOTHING_SCORED, 2)
    assert found.error_rate("x", "b").value == 0.5
    assert (x.mean_absolute.value, x.n_systems, x.headroom_bias.undefined) == (0.5, 1, Undefined.ONE_SYSTEM)
    silent = quantified(made("b", "x", "1. 0.")).find("e", dataset("x"))
    assert (silent.mean_absolute.undefined, silent.worst_system) == (Undefined.NOTHING_SCORED, None)
    assert silent.headroom_bias.undefined is Undefined.NOTHING_SCORED


def unbiased(rng: np.random.Generator, missed: float = 0.1) -> list[Row]:
    """Six systems of 20 responses of five claims, 30 % wrong; 10 % of these are passed, or as given, and as many of
    all claims called wrong that are right. With `missed` at 10 % no system has a bias."""
    rows = []
    for system in "abcdef":
        for place in range(100):
            is_right = rng.random() < 0.7
            flagged = rng.random() < (0.03 / 0.7 if is_right else 1 - missed)
            rows.append(Row(int(is_right), {"e": float(not flagged)}, system, f"{system}{place // 5}"))
    return rows


def test_an_evaluator_without_bias_is_not_said_to_be_off() -> None:
    """The middle of the resamples' magnitudes left 0 out in every sample; of 150 samples 6 % do now."""
    lows = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        found = quantification(count(table_of(unbiased(rng)), rng=rng, resamples=200), levels=(Level.CLAIM,))
        bias = found.find("e", dataset("d"))
        lows.append(bias.mean_absolute.low)
        plain = np.mean([abs(one.bias.value or 0) for one in found.systems])
        assert (bias.mean_absolute.value or 0) < plain
        assert (bias.mean_absolute.high or 0) >= plain
    assert sum(low == 0.0 for low in lows) >= 10
