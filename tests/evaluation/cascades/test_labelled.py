"""Groups of claims, and how alike they are."""

from __future__ import annotations

import numpy as np
import pytest

from factloop.evaluation.cascades.labelled import ScoredLabels, groups_of, likeness


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
