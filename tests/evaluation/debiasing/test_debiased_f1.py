"""F1@K corrected by labelled claims: by hand, by enumeration, and its bootstrap over both samples."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom  # type: ignore[import-untyped]  # it ships no types

from factloop.core.factuality import f1_at_k
from factloop.core.figure import Undefined
from factloop.core.records import Counts
from factloop.evaluation.debiasing.f1 import FEW, ExpectedF1, debiased_f1, draw
from factloop.evaluation.debiasing.records import Abstentions, Caution, DebiasedF1, Transfer
from factloop.evaluation.debiasing.samples import JudgedResponses, LabelledClaims, as_samples


def counts(*pairs: tuple[int, int]) -> list[Counts]:
    return [Counts(supported=supported, not_supported=other) for supported, other in pairs]


def only(
    labelled: LabelledClaims,
    run: JudgedResponses,
    k: int,
    *,
    transfer: Transfer = Transfer.VERDICTS,
    abstentions: Abstentions = "zero",
    resamples: int = 200,
) -> DebiasedF1:
    rng = np.random.default_rng(1)
    (found,) = debiased_f1(labelled, run, [k], rng, transfer=transfer, abstentions=abstentions, resamples=resamples)
    return found


def labels(hit: int, false_alarm: int, miss: int, rejected: int) -> LabelledClaims:
    return LabelledClaims(
        [1] * hit + [0] * false_alarm + [1] * miss + [0] * rejected,
        [1] * (hit + false_alarm) + [0] * (miss + rejected),
    )


def test_by_hand() -> None:
    """Of four claims called supported two truly are, of four others one is: 4 and 2 claims hold 2 and 1/2, in 6."""
    found = only(labels(2, 2, 1, 3), JudgedResponses(counts((4, 2))), 8)
    assert found.raw.value == pytest.approx(2 * 4 / (6 + 8))
    assert found.corrected.value == pytest.approx(2 * 2.5 / (6 + 8))
    assert (found.corrected.low, Caution.ONE_GROUP in found.corrected.cautions) == (None, True)


def test_by_error_rates_by_hand() -> None:
    """TPR 3/4 and FPR 1/4 make 5 called of 10 out of 5 supported: the run has as many, of which 3/4 and 1/4 are."""
    found = only(labels(75, 25, 25, 75), JudgedResponses(counts((3, 2), (2, 3))), 5, transfer=Transfer.ERROR_RATES)
    expected = [3 * 0.75 + 2 * 0.25, 2 * 0.75 + 3 * 0.25]
    assert found.corrected.value == pytest.approx(sum(2 * s / 10 for s in expected) / 2)


RESPONSES = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=8)


@given(pairs=RESPONSES, k=st.integers(1, 64), n=st.integers(1, 20))
def test_an_evaluator_without_errors_needs_no_correction(pairs: list[tuple[int, int]], k: int, n: int) -> None:
    found = only(labels(n, 0, 0, n), JudgedResponses(counts(*pairs)), k, resamples=20)
    if not any(map(sum, pairs)):
        assert found.corrected.undefined is found.raw.undefined is Undefined.NOTHING_SCORED
        return
    raw = sum(f1_at_k(each, k) for each in counts(*pairs)) / len(pairs)
    assert found.raw.value == pytest.approx(raw)
    assert found.corrected.value == pytest.approx(raw)


def test_what_is_no_answer_is_said() -> None:
    run = JudgedResponses([*counts((3, 1), (2, 2)), Counts(), Counts(irrelevant=2), Counts(unscored=4)])
    zero, without = (only(labels(40, 10, 10, 40), run, 4, abstentions=policy) for policy in ("zero", "exclude"))
    assert zero.raw.value == pytest.approx((2 * 3 / 8 + 2 * 2 / 8) / 4)
    assert without.raw.value == pytest.approx((2 * 3 / 8 + 2 * 2 / 8) / 2)
    assert (zero.n_responses, without.n_responses) == (4, 2)
    assert (zero.n_abstentions, zero.n_failed) == (without.n_abstentions, without.n_failed) == (2, 1)


GUESS, SOME = labels(10, 10, 10, 10), JudgedResponses(counts((3, 1), (2, 2)))


@pytest.mark.parametrize(
    ("labelled", "run", "transfer", "expected"),
    [
        (GUESS, JudgedResponses([]), Transfer.VERDICTS, "nothing_scored"),
        (GUESS, JudgedResponses([Counts(unscored=3)]), Transfer.VERDICTS, "nothing_scored"),
        (LabelledClaims([], []), SOME, Transfer.VERDICTS, "no_labels"),
        (labels(3, 3, 0, 0), SOME, Transfer.VERDICTS, "verdict_missing"),
        (labels(3, 0, 3, 0), SOME, Transfer.ERROR_RATES, "class_missing"),
        (GUESS, SOME, Transfer.ERROR_RATES, "no_signal"),
        (labels(3, 3, 0, 0), JudgedResponses(counts((3, 0), (2, 0))), Transfer.VERDICTS, None),
        (GUESS, SOME, Transfer.VERDICTS, None),
    ],
)
def test_undefined(labelled: LabelledClaims, run: JudgedResponses, transfer: Transfer, expected: str | None) -> None:
    found = only(labelled, run, 4, transfer=transfer).corrected
    assert found.undefined == expected
    assert (found.value is None) == (expected is not None)


@pytest.mark.parametrize("transfer", list(Transfer))
def test_few_labels_that_are_all_alike_give_no_interval(transfer: Transfer) -> None:
    """Each resample of 11 labels without an error has none, while 24 % may be wrong (1 - .05^(1/11) = .24)."""
    run = JudgedResponses(counts((4, 2), (3, 2), (5, 1)))
    by_verdicts = transfer is Transfer.VERDICTS
    alike = labels(11, 0, 6, 10) if by_verdicts else labels(11, 6, 0, 10)
    found = only(alike, run, 5, transfer=transfer).corrected
    assert (found.interval, Caution.LABELS_ALIKE in found.cautions) == (None, True)
    assert found.value is not None
    mixed = labels(10, 1, 6, 10) if by_verdicts else labels(11, 6, 1, 10)
    found = only(mixed, run, 5, transfer=transfer).corrected
    assert found.interval is not None
    assert Caution.LABELS_ALIKE not in found.cautions
    many = labels(100, 0, 60, 100) if by_verdicts else labels(100, 60, 0, 100)
    assert only(many, run, 5, transfer=transfer).corrected.interval is not None


def test_groups_of_both_samples_are_drawn_together() -> None:
    labelled = LabelledClaims([1, 0, 1], [1, 0, 0], groups=["a", "a", "b"])
    rng = np.random.default_rng(0)
    draws = draw(as_samples(labelled, JudgedResponses(counts((1, 1), (1, 0)), groups=["a", "b"])), 50, rng)
    assert draws.cells[0].tolist() == [1, 0, 1, 1]
    assert (draws.cells[:, 0] == draws.responses[:, 0]).all()  # the hit is in "a"
    assert (draws.cells[:, 2] == draws.responses[:, 1]).all()  # the miss is in "b"
    apart = draw(as_samples(labelled, JudgedResponses(counts((1, 1), (1, 0)))), 50, rng)
    assert (apart.cells[:, 0] != apart.responses[:, 0]).any()


def counted_out(supported: int, others: int, k: int, if_supported: float, if_not: float) -> float:
    found = 0.0
    for one, other in product(range(supported + 1), range(others + 1)):
        s, n = one + other, supported + others
        chance = binom.pmf(one, supported, if_supported) * binom.pmf(other, others, if_not)
        found += chance * (2 * s / (n + max(s, k)))
    return found


@pytest.mark.parametrize(
    ("supported", "others"), [(0, 0), (0, 1), (2, 0), (1, 1), (3, 5), (0, 9), (12, 0), (20, 10), (25, 15), (60, 5)]
)
@pytest.mark.parametrize("k", [1, 4, 15, 64])
def test_expectations_are_those_of_all_outcomes(supported: int, others: int, k: int) -> None:
    f1 = ExpectedF1(np.array([supported, 3.0]), np.array([others, 1.0]), k)
    shares = [(0.9, 0.2), (0.5, 0.5), (1.0, 0.0), (0.95, 0.05)]
    found = f1.at(np.array([one for one, _ in shares]), np.array([other for _, other in shares]))
    exact = supported + others <= max(FEW, k)
    for row, (one, other) in zip(found.tolist(), shares, strict=True):
        wanted = counted_out(supported, others, k, one, other) if supported + others else 0.0
        assert row[0] == pytest.approx(wanted, abs=1e-9 if exact else 0.005)
        assert row[1] == pytest.approx(counted_out(3, 1, k, one, other))


def test_an_unknown_share_gives_no_value() -> None:
    for n in (4.0, 50.0):
        found = ExpectedF1(np.array([n]), np.array([1.0]), 2).at(np.array([math.nan]), np.array([0.1]))
        assert np.isnan(found).all()
