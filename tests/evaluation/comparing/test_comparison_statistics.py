"""Paired differences: by hand, against scipy, and what must hold of all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, permutation_test  # type: ignore[import-untyped]  # its stubs are no dependency

from factloop.core.records import Counts
from factloop.evaluation.comparing.paired import Items, paired_means, simultaneous_interval
from factloop.evaluation.comparing.records import Pair, PairedDifference
from factloop.evaluation.comparing.statistics import paired_differences
from factloop.evaluation.runs.longform_records import AbstentionPolicy
from factloop.evaluation.runs.records import ResponseLine
from factloop.evaluation.statistics.discrete_tests import holm_tarone, n_varying
from factloop.evaluation.statistics.significance import turned_signs

Cells = tuple[int, int, int, int]
"""Supported, not supported, irrelevant, unscored."""


def line(prompt: str, cells: Cells, system: str = "one") -> ResponseLine:
    names = ("supported", "not_supported", "irrelevant", "unscored")
    counts = Counts(**dict(zip(names, cells, strict=True)))
    return ResponseLine(id=f"{system}/{prompt}", system=system, prompt_id=prompt, counts=counts)


def pair(prompt: str, first: Cells, second: Cells, system: str = "one") -> Pair:
    return Pair(first=line(prompt, first, system), second=line(prompt, second, system), same_text=True)


def differences(
    pairs: Sequence[Pair],
    ks: Sequence[int] = (2,),
    abstention: AbstentionPolicy = AbstentionPolicy.ZERO,
) -> tuple[PairedDifference, ...]:
    return paired_differences(pairs, ks, abstention=abstention, rng=np.random.default_rng(0), level=0.95)


def test_by_hand() -> None:
    """Four prompts, K = 2. F1 = 2PR/(P+R), R = min(S/2, 1).

    A: 2-0 P 1 R 1 F 1; 1-1 P .5 R .5 F .5; 2-2 P .5 R 1 F 2/3; nothing: no P, F 0. Mean F 13/24, mean P 2/3.
    B: 1-1 .5; 2-0 1; 2-0 1; 2-0 1. Mean F 3.5/4, mean P over the first three 2.5/3.
    B - A of F: -.5, +.5, +1/3, +1: mean 1/3. Of P: -.5, +.5, +.5: mean 1/6.
    Signs of F: the sums over 16 ways that reach |4/3|: those of {.5, .5, 1/3, 1} with 7/3, 4/3 (turn one .5, twice) and
    5/3 (turn 1/3), both ways round: 8 of 16. Of P: sizes alike, one against two: all 8 ways reach |.5|.
    """
    pairs = [
        pair("p1", (2, 0, 0, 0), (1, 1, 0, 0)),
        pair("p2", (1, 1, 5, 0), (2, 0, 0, 3)),
        pair("p3", (2, 2, 0, 0), (2, 0, 0, 0)),
        pair("p4", (0, 0, 0, 0), (2, 0, 0, 0)),
    ]
    precision, f1 = differences(pairs)
    assert (precision.n_pairs, precision.n_left_out) == (3, 1)
    assert (precision.first, precision.second, precision.difference) == pytest.approx((2 / 3, 2.5 / 3, 1 / 6))
    assert (precision.first_higher, precision.equal, precision.second_higher) == (1, 0, 2)
    assert precision.p == 1.0
    assert (f1.first, f1.second, f1.difference) == pytest.approx((13 / 24, 3.5 / 4, 1 / 3))
    assert (f1.n_pairs, f1.n_left_out, f1.first_higher, f1.equal, f1.second_higher) == (4, 0, 1, 0, 3)
    assert f1.p == 0.5
    assert f1.p_corrected == 1.0  # Holm: 2 * .5


def test_an_abstention_counts_by_the_policy_and_an_unscored_response_never() -> None:
    pairs = [
        pair("p1", (0, 0, 0, 0), (2, 0, 0, 0)),
        pair("p2", (0, 0, 0, 3), (2, 0, 0, 0)),
        pair("p3", (2, 0, 0, 0), (2, 0, 0, 0)),
    ]
    _, zero = differences(pairs)
    assert (zero.n_pairs, zero.n_left_out, zero.difference) == (2, 1, 0.5)
    _, exclude = differences(pairs, abstention=AbstentionPolicy.EXCLUDE)
    assert (exclude.n_pairs, exclude.n_left_out, exclude.difference) == (1, 2, 0.0)


def test_without_any_value_nothing_is_made_up() -> None:
    precision, f1 = differences([pair("p1", (0, 0, 0, 2), (1, 0, 0, 0))])
    for one in (precision, f1):
        assert one.difference is one.first is one.second is one.low is one.p is one.p_corrected is None
        assert (one.n_pairs, one.n_prompts, one.n_left_out) == (0, 0, 1)


def test_one_prompt_has_no_interval_and_shows_nothing() -> None:
    _, f1 = differences([pair("p", (0, 2, 0, 0), (2, 0, 0, 0), "x"), pair("p", (0, 2, 0, 0), (2, 0, 0, 0), "y")])
    assert (f1.difference, f1.low, f1.high, f1.p) == (1.0, None, None, 1.0)
    assert (f1.n_pairs, f1.n_prompts) == (2, 1)


def test_prompts_are_what_is_turned() -> None:
    """Six responses to two prompts: as independent pairs p would be 2/64, by prompt it is 2/4."""
    pairs = [pair(p, (0, 2, 0, 0), (2, 0, 0, 0), s) for p in ("p", "q") for s in ("x", "y", "z")]
    _, f1 = differences(pairs)
    assert f1.p == 0.5


@pytest.mark.parametrize("n", [3, 8, 11])
def test_the_exact_test_is_scipys(n: int) -> None:
    rng = np.random.default_rng(n)
    first, second = rng.random(n), rng.random(n)

    def apart(one: np.ndarray, other: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray((one - other).mean(axis=axis))

    wanted = permutation_test(
        (first, second), apart, permutation_type="samples", n_resamples=np.inf, alternative="two-sided", vectorized=True
    )
    assert turned_signs(second - first) == pytest.approx(wanted.pvalue)


def test_beyond_the_exact_test_drawn_signs_come_near_to_it() -> None:
    rng = np.random.default_rng(5)
    apart = rng.normal(0.4, 1.0, 16)
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * 16)).reshape(16, -1)
    wanted = (np.abs(apart @ signs) >= abs(apart.sum()) - 1e-9).mean()
    assert turned_signs(apart) == pytest.approx(wanted, abs=0.02)


def test_differences_of_one_size_are_the_sign_test() -> None:
    apart = np.array([1.0] * 30 + [-1.0] * 14 + [0.0] * 50)
    wanted = binomtest(30, 44, 0.5).pvalue
    assert turned_signs(apart) == pytest.approx(wanted)


cells = st.tuples(*[st.integers(0, 4)] * 4)
many_pairs = st.lists(st.tuples(st.integers(0, 5), cells, cells), min_size=1, max_size=12).map(
    lambda rows: [pair(f"p{prompt}", one, other, f"s{n}") for n, (prompt, one, other) in enumerate(rows)]
)


@given(many_pairs)
def test_exchanging_the_sides_turns_the_signs(pairs: list[Pair]) -> None:
    turned = [Pair(first=one.second, second=one.first, same_text=True) for one in pairs]
    for one, other in zip(differences(pairs, (1, 3)), differences(turned, (1, 3)), strict=True):
        assert (one.first, one.second, one.p, one.p_corrected) == (
            other.second,
            other.first,
            other.p,
            other.p_corrected,
        )
        assert (one.first_higher, one.equal, one.second_higher) == (
            other.second_higher,
            other.equal,
            other.first_higher,
        )
        if one.difference is not None and other.difference is not None:
            assert one.difference == pytest.approx(-other.difference, abs=1e-12)
        if one.low is not None and one.high is not None:
            assert (other.low, other.high) == pytest.approx((-one.high, -one.low), abs=1e-9)


@given(many_pairs, st.randoms(use_true_random=False))
def test_the_order_of_the_pairs_changes_nothing(pairs: list[Pair], random: object) -> None:
    shuffled = list(pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    assert differences(shuffled) == differences(pairs)


@given(many_pairs)
def test_a_run_against_itself_differs_by_nothing_at_all(pairs: list[Pair]) -> None:
    for one in differences([Pair(first=two.first, second=two.first, same_text=True) for two in pairs]):
        assert one.first_higher == one.second_higher == 0
        assert one.n_pairs == 0 or (one.difference, one.p, one.p_corrected) == (0.0, 1.0, 1.0)
        assert one.low in (None, 0.0)
        assert one.high in (None, 0.0)


@pytest.mark.statistical
def test_the_interval_covers_a_known_difference() -> None:
    """200 samples of 60 prompts, true difference of precision .2: 95 % of intervals hold it, give or take 4 %."""
    rng, held = np.random.default_rng(1), 0
    for _ in range(200):
        pairs = []
        for number in range(60):
            easy = rng.uniform(0.2, 0.6)
            a, b = int(rng.binomial(8, easy)), int(rng.binomial(8, easy + 0.2))
            pairs.append(pair(f"p{number}", (a, 8 - a, 0, 0), (b, 8 - b, 0, 0)))
        found = paired_differences(pairs, (), abstention=AbstentionPolicy.ZERO, rng=rng, level=0.95)[0]
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.2 <= found.high
    assert 182 <= held <= 198


def test_the_level_of_an_interval_does_not_depend_on_the_data() -> None:
    """Of three differences each is at 1 - 0.05/3, whatever their p-values are: before, it followed p over Holm's p."""
    rng = np.random.default_rng(5)
    for shift in (0.0, 0.15, 0.4):
        pairs = []
        for number in range(40):
            a, b = int(rng.binomial(8, 0.4)), int(rng.binomial(8, 0.4 + shift))
            pairs.append(pair(f"p{number}", (a, 8 - a, 0, 0), (b, 8 - b, 0, 0)))
        assert [one.level for one in differences(pairs, ks=(3, 8))] == pytest.approx([1 - 0.05 / 3] * 3)


@pytest.mark.statistical
@pytest.mark.parametrize("shifts", [(0.0, 0.0, 0.0), (0.0, 0.0, 0.9), (0.4, -0.4, 0.2), (0.02, 0.5, 0.5)])
def test_intervals_hold_the_truth_together(shifts: tuple[float, ...]) -> None:
    """1,000 families of three differences over 40 prompts: in 95 % all are held, but for three standard errors."""
    rng, n_held, n = np.random.default_rng(6), 0, 1000
    prompts = np.arange(40)
    for _ in range(n):
        first, common = rng.normal(size=(3, 40)), rng.normal(size=40)
        second = first + np.array(shifts)[:, None] + 0.6 * rng.normal(size=(3, 40)) + 0.8 * common
        items = Items.of_clusters(prompts, 40)
        means = [paired_means(*both, items) for both in zip(first, second, strict=True)]
        tests = [one.test() for one in means]
        known = [one for one in tests if one is not None]
        m, held = n_varying(known), holm_tarone(known)
        found = [simultaneous_interval(one.apart, p, 0.95, m, rng) for one, p in zip(means, held, strict=True)]
        n_held += all(
            ends is not None and ends[0] <= truth <= ends[1] for ends, truth in zip(found, shifts, strict=True)
        )
    assert n_held / n >= 0.95 - 3 * (0.05 * 0.95 / n) ** 0.5
