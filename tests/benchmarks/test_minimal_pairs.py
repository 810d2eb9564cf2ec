"""The minimal pairs: that each is one, and that the offline rater reads the kinds that it is made for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from benchmarks.minimal_pairs.pairs import HALVES, Half, MinimalPair, PairReading, read_half, read_pairs_by, score
from factloop.tools.verifiers.lexical import LexicalVerifier

PAIR = MinimalPair(id="1", kind="number", evidence="It has 3 arches.", true="It has 3.", false="It has 4.")


def test_rates_worked_by_hand() -> None:
    # True twins: 2 of 4 supported. False twins: 3 of 4 not supported. Both right: the first and the last.
    readings = [
        PairReading(PAIR, "supported", "insufficient"),
        PairReading(PAIR, "insufficient", "insufficient"),
        PairReading(PAIR, "contradicted", "supported"),
        PairReading(PAIR, "supported", "contradicted"),
    ]
    found = score(readings)
    assert (found.n, found.tpr, found.tnr, found.balanced_accuracy, found.both) == (4, 0.5, 0.75, 0.625, 2)
    assert (found.contradicted_false, found.contradicted_true) == (1, 1)


@pytest.mark.parametrize("half", HALVES)
def test_the_halves_are_of_the_same_kinds(half: Half) -> None:
    pairs = read_half(half)
    assert len(pairs) == len({pair.id for pair in pairs}) == 100
    assert set(Counter(pair.kind for pair in pairs).values()) == {10}
    assert all(pair.true != pair.false for pair in pairs)


@pytest.fixture(scope="module")
def development() -> Sequence[PairReading]:
    return read_pairs_by(LexicalVerifier(), read_half("development"))


@pytest.mark.parametrize(
    ("kind", "at_least"), [("number", 0.85), ("negation", 0.85), ("quantifier", 0.8), ("unit_or_attribute", 0.75)]
)
def test_kinds_that_the_checks_are_made_for(development: Sequence[PairReading], kind: str, at_least: float) -> None:
    assert score([one for one in development if one.pair.kind == kind]).balanced_accuracy >= at_least


def test_hardly_any_true_twin_is_contradicted(development: Sequence[PairReading]) -> None:
    found = score(development)
    assert found.balanced_accuracy >= 0.7
    assert found.contradicted_false >= 15
    assert found.contradicted_true <= 1
