"""The paired comparison by hand: what both sides have, how far apart they are, and whether that is chance."""

from __future__ import annotations

import numpy as np
import pytest

from factloop.core.records import Verdict
from factloop.evaluation.comparing.matching import flip_of, plain
from factloop.evaluation.comparing.paired import Items, paired_means
from factloop.evaluation.statistics.discrete_tests import DiscreteTest

NAN = float("nan")


def test_means_are_over_the_items_that_both_sides_have() -> None:
    """Items 0, 1 and 3: 0.5, 1, 0 against 0.5, 0, 1, so 0.5 against 0.5, one higher on either side."""
    items = Items.of_clusters(np.array([0, 0, 1, 1]), 2)
    found = paired_means(np.array([0.5, 1.0, NAN, 0.0]), np.array([0.5, 0.0, 1.0, 1.0]), items)
    assert found.first.value == pytest.approx(0.5)
    assert found.second.value == pytest.approx(0.5)
    assert found.apart.value == 0.0
    assert (found.apart.n, found.apart.n_clusters) == (3, 2)
    assert (found.first_higher, found.equal, found.second_higher) == (1, 1, 1)


def test_strata_weigh_alike() -> None:
    """Label 0: 0 against 1, label 1: 1 and 1 against 0 and 1. So (0 + 1) / 2 against (1 + 1/2) / 2."""
    items = Items(np.array([0, 1, 2]), 3, np.array([0, 1, 1]), 2)
    found = paired_means(np.array([0.0, 1.0, 1.0]), np.array([1.0, 0.0, 1.0]), items)
    assert (found.first.value, found.second.value, found.apart.value) == (0.5, 0.75, 0.25)


def test_whole_clusters_are_turned() -> None:
    """Six items in two clusters that point one way: 2 of the 4 ways to turn two signs reach as far."""
    first, second = np.zeros(6), np.ones(6)
    whole = paired_means(first, second, Items.of_clusters(np.array([0, 0, 0, 1, 1, 1]), 2))
    single = paired_means(first, second, Items.of_clusters(np.arange(6), 6))
    assert whole.test() == DiscreteTest(p=0.5, least=0.5)
    assert single.test() == DiscreteTest(p=2 / 2**6, least=2 / 2**6)


def test_nothing_in_common_has_no_p_value() -> None:
    found = paired_means(np.array([NAN, 1.0]), np.array([1.0, NAN]), Items.of_clusters(np.array([0, 1]), 2))
    assert (found.apart.value, found.test()) == (None, None)


def test_a_claim_without_a_verdict_is_no_flip() -> None:
    assert flip_of(Verdict.SUPPORTED, Verdict.IRRELEVANT) == (Verdict.SUPPORTED, Verdict.IRRELEVANT)
    assert flip_of(Verdict.SUPPORTED, Verdict.SUPPORTED) is None
    assert flip_of(None, Verdict.SUPPORTED) is flip_of(Verdict.SUPPORTED, None) is None


def test_spaces_and_capitals_tell_no_texts_apart() -> None:
    assert plain(" Rome  is\nOLD. ") == plain("rome is old.")
