from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.core.factuality import at_each_k, count_verdicts, f1_at_k, n_contradicted, precision, recall_at_k
from factloop.core.records import Claim, Counts, Judgement, UnscoredReason, Verdict

COUNTS = st.builds(
    Counts,
    supported=st.integers(0, 300),
    not_supported=st.integers(0, 300),
    irrelevant=st.integers(0, 50),
    unscored=st.integers(0, 50),
)
K = st.integers(1, 300)


def counts(supported: int, not_supported: int) -> Counts:
    return Counts(supported=supported, not_supported=not_supported)


@pytest.mark.parametrize(
    ("s", "n", "k", "expected_precision", "expected_recall", "expected_f1"),
    [
        # P = S / (S + N), R = min(S / K, 1), F1 = 2 P R / (P + R); written as fractions worked out by hand.
        (0, 0, 64, None, 0.0, 0.0),  # nothing scored
        (0, 5, 64, 0.0, 0.0, 0.0),  # nothing supported: 0 by definition
        (1, 0, 1, 1.0, 1.0, 1.0),  # P = 1, R = 1
        (3, 1, 3, 3 / 4, 1.0, 6 / 7),  # 2 * 3/4 * 1 / (7/4) = 6/7
        (3, 1, 6, 3 / 4, 1 / 2, 3 / 5),  # 2 * 3/4 * 1/2 / (5/4) = 3/5
        (6, 2, 3, 3 / 4, 1.0, 6 / 7),  # R is cut at 1: as with three of four
        (32, 0, 64, 1.0, 1 / 2, 2 / 3),  # 2 * 1 * 1/2 / (3/2) = 2/3
        (64, 64, 64, 1 / 2, 1.0, 2 / 3),  # the same by the other way
        (40, 10, 64, 4 / 5, 5 / 8, 40 / 57),  # 2 * 4/5 * 5/8 / (57/40) = 1 / (57/40)
        (89, 89, 178, 1 / 2, 1 / 2, 1 / 2),  # equal shares are their own mean
    ],
)
def test_f1_at_k_by_hand(
    s: int, n: int, k: int, expected_precision: float | None, expected_recall: float, expected_f1: float
) -> None:
    given_counts = counts(s, n)
    assert precision(given_counts) == (None if expected_precision is None else pytest.approx(expected_precision))
    assert recall_at_k(given_counts, k) == pytest.approx(expected_recall)
    assert f1_at_k(given_counts, k) == pytest.approx(expected_f1)


@pytest.mark.parametrize("k", [0, -1])
def test_a_k_below_one_is_refused(k: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        recall_at_k(counts(1, 1), k)
    with pytest.raises(ValueError, match="at least 1"):
        f1_at_k(counts(0, 0), k)


@given(COUNTS, K)
def test_all_values_are_shares_and_f1_lies_between_its_parts(some: Counts, k: int) -> None:
    recall, f1, share = recall_at_k(some, k), f1_at_k(some, k), precision(some)
    assert 0.0 <= recall <= 1.0
    assert 0.0 <= f1 <= 1.0
    assert (share is None) == (some.scored == 0)
    if share:
        assert min(share, recall) - 1e-9 <= f1 <= max(share, recall) + 1e-9
    else:
        assert f1 == 0.0


@given(COUNTS, K)
def test_one_more_supported_claim_never_lowers_anything(some: Counts, k: int) -> None:
    more = some.model_copy(update={"supported": some.supported + 1})
    assert f1_at_k(more, k) >= f1_at_k(some, k)
    assert recall_at_k(more, k) >= recall_at_k(some, k)
    assert (precision(more) or 0.0) >= (precision(some) or 0.0)


@given(COUNTS, K)
def test_irrelevant_and_unscored_claims_do_not_count(some: Counts, k: int) -> None:
    bare = some.model_copy(update={"irrelevant": 0, "unscored": 0})
    assert (precision(bare), f1_at_k(bare, k)) == (precision(some), f1_at_k(some, k))


def judged(judgements: Sequence[Judgement]) -> list[Claim]:
    return [
        Claim(id=f"c1.{number}", sentence="x", span=(0, 1), text="x", self_contained="x", judgement=judgement)
        for number, judgement in enumerate(judgements, 1)
    ]


JUDGEMENTS = (
    Judgement(verdict=Verdict.SUPPORTED),
    Judgement(verdict=Verdict.NOT_SUPPORTED, contradicted=True),
    Judgement(verdict=Verdict.NOT_SUPPORTED, contradicted=False),
    Judgement(verdict=Verdict.IRRELEVANT),
    *(Judgement(unscored_reason=reason) for reason in UnscoredReason),
)


def test_each_judgement_is_counted_under_its_verdict() -> None:
    expected = Counts(supported=1, not_supported=2, irrelevant=1, unscored=len(UnscoredReason))
    assert count_verdicts(judged(JUDGEMENTS)) == expected
    assert expected.total == len(JUDGEMENTS)
    assert n_contradicted(judged(JUDGEMENTS)) == 1


@given(st.lists(st.sampled_from(JUDGEMENTS)), st.randoms(use_true_random=False))
def test_counts_add_up_and_do_not_depend_on_order(some: list[Judgement], rng: random.Random) -> None:
    claims = judged(some)
    total = count_verdicts(claims)
    assert total.total == len(claims)
    assert count_verdicts(rng.sample(claims, len(claims))) == total


def test_each_k_is_given_with_what_it_rests_on() -> None:
    some = Counts(supported=3, not_supported=1, irrelevant=7, unscored=2)
    first, second = at_each_k(some, (3, 6))
    assert (first.k, first.n_scored, first.n_unscored) == (3, 4, 2)
    assert [first.f1, second.f1] == pytest.approx([6 / 7, 3 / 5])
    assert (first.recall, second.recall) == (1.0, 0.5)
    assert at_each_k(some, ()) == ()


def test_an_answer_of_which_nothing_is_known_has_no_f1() -> None:
    assert at_each_k(Counts(unscored=3, irrelevant=1), [5]) == ()
    assert [at.f1 for at in at_each_k(Counts(irrelevant=1), [5])] == [0.0]
