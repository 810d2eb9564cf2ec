"""The weight of claims of one document: by hand, against statsmodels, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from statsmodels.stats.anova import anova_lm  # type: ignore[import-untyped]  # ships no type hints

from factloop.evaluation.cascades.bounds import (
    effect_on_label,
    effect_on_settled,
)
from factloop.evaluation.cascades.labelled import ScoredLabels, groups_of, likeness
from factloop.evaluation.cascades.thresholds import tune


def anova(values: NDArray[np.float64], groups: NDArray[np.int64]) -> float:
    """The intraclass correlation from statsmodels' table."""
    import pandas as pd  # type: ignore[import-untyped]  # its stubs are no dependency
    from statsmodels.formula.api import ols  # type: ignore[import-untyped]  # ships no type hints

    table = anova_lm(ols("y ~ C(g)", pd.DataFrame({"y": values, "g": groups})).fit())
    between, within = table["mean_sq"]
    size = np.unique(groups, return_counts=True)[1]
    typical = (size.sum() - (size**2).sum() / size.sum()) / (len(size) - 1)
    return float(min(1.0, max(0.0, (between - within) / (between + (typical - 1) * within))))


def mean_size(groups: NDArray[np.int64]) -> float:
    """Size of a claim's group, on average."""
    size = np.unique(groups, return_counts=True)[1]
    return float((size**2).sum() / size.sum())


def test_effects_by_hand() -> None:
    """Groups of two, both wrong or both right: errors are wholly alike, so two claims count as one.

    Where two of four groups are settled too, and of the label (four claims in two groups) with them: 1 + (2 - 1) * 1.
    """
    wrong, groups = np.array([1, 1, 0, 0, 1, 1, 0, 0], bool), np.repeat(np.arange(4), 2)
    n = np.array([0, 4, 8])
    assert effect_on_settled(wrong, groups, n).tolist() == [1.0, 2.0, 2.0]
    # without an error yet as at the next threshold; with all of the label settled nothing varies
    assert effect_on_label(wrong, groups, n, groups[wrong]).tolist() == [2.0, 2.0, 1.0]


def test_alike_as_statsmodels_has_it() -> None:
    rng = np.random.default_rng(4)
    groups = rng.integers(0, 30, 300)
    wrong = rng.random(300) < rng.random(30)[groups]
    found = effect_on_settled(wrong, groups, np.array([200, 300]))
    for place, n in enumerate((200, 300)):
        alike = anova(wrong[:n].astype(float), groups[:n])
        assert found[place] == pytest.approx(1 + (mean_size(groups[:n]) - 1) * alike)
    settled = np.arange(300) < 200
    labels = groups[wrong]
    alike = anova(settled[wrong].astype(float), labels)
    found = effect_on_label(wrong, groups, np.array([200]), labels)
    assert found[0] == pytest.approx(1 + (mean_size(labels) - 1) * alike)


@pytest.mark.statistical
def test_errors_that_come_by_document_break_no_promise() -> None:
    """Half of each document is supported, so labels are not alike; but some documents have every claim scored high.

    Counted as independent, the promise breaks in 43 % of such tunings, for 2.5 % on a side. More than 7 of 100 have a
    chance of 0.004.
    """

    def world(rng: np.random.Generator, n: int) -> tuple[NDArray[np.float64], NDArray[np.int8], NDArray[np.int64]]:
        groups = np.arange(n) // 80
        labels = (np.arange(n) % 2 == 0).astype(np.int8)
        document = rng.normal(0, 1.5, groups[-1] + 1)[groups]
        return 1 / (1 + np.exp(-(5 * labels - 2.5 + document + rng.normal(0, 0.7, n)))), labels, groups

    scores, labels, _ = world(np.random.default_rng(99), 200_000)
    broken = 0
    for rng in np.random.default_rng(0).spawn(100):
        side = tune(ScoredLabels(*world(rng, 400)), max_error=0.1).accepted
        if side.threshold is not None:
            settled, wrong = scores >= side.threshold, labels == 0
            broken += bool(max(wrong[settled].mean(), settled[wrong].mean()) > 0.1)
    assert broken <= 7


def test_rows_are_of_one_group_by_any_key_and_through_others() -> None:
    documents = ["a", "a", "b", None, None]
    claims = ["1", "2", "2", "3", "4"]  # the second and third share a claim, so a and b are together
    found = groups_of(documents, claims)
    assert found[0] == found[1] == found[2]
    assert len(set(found.tolist())) == 3


def test_no_key_is_no_bond_and_equal_names_of_two_columns_are_none_either() -> None:
    assert len(set(groups_of([None, None]).tolist())) == 2
    assert len(set(groups_of(["x", "y"], ["y", "z"]).tolist())) == 2


def test_likeness_by_hand() -> None:
    """Two groups of two, labels 1 1 and 1 0: mean 3/4, group means 1 and 1/2.

    Between: (2/16 + 2/16) / 1 = 1/4; within: (0 + 1/2) / 2 = 1/4; so (1/4 - 1/4) / ... = 0. With labels 1 1 and 0 0
    within is 0, and all likeness is between.
    """
    groups = np.array([0, 0, 1, 1])
    assert likeness(np.array([1, 1, 1, 0], np.int8), groups) == 0.0
    assert likeness(np.array([1, 1, 0, 0], np.int8), groups) == 1.0
    # Three groups of two, 11 00 10: mean 1/2, between (2/4 + 2/4 + 0) / 2 = 1/2, within (1/2) / 3 = 1/6,
    # (1/2 - 1/6) / (1/2 + 1/6) = 1/2.
    assert likeness(np.array([1, 1, 0, 0, 1, 0], np.int8), np.array([0, 0, 1, 1, 2, 2])) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("scores", "labels"), [([0.1], [0, 1]), ([1.5], [1]), ([0.5], [2])], ids=["lengths", "score", "label"]
)
def test_columns_that_are_none_are_refused(scores: list[float], labels: list[int]) -> None:
    with pytest.raises(ValueError, match=r"score|label|value"):
        ScoredLabels(np.array(scores), np.array(labels, np.int8), np.zeros(len(scores), np.int64))
