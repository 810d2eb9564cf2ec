from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score  # type: ignore[import-untyped]  # no types

from factloop.core.records import Verdict
from factloop.evaluation.comparing.compare import compare
from factloop.evaluation.comparing.matching import JudgedClaim, match_claims
from factloop.evaluation.comparing.records import Comparison, PairedDifference, Quantity
from tests.evaluation.runs.finished_runs import compared, fingerprint, judged

OTHER = fingerprint(model="other:judge")
Row = tuple[str, str, str]
"""A prompt, and a letter for each claim of the first side and of the second."""


def compare_rows(rows: Sequence[Row], *, labels: str = "", **options: object) -> Comparison:
    sides = [
        [
            judged(row[0], row[side], system=f"s{n:02}", response=f"r{n}", labels=labels, made_by=made_by)
            for n, row in enumerate(rows)
        ]
        for side, made_by in ((1, fingerprint()), (2, OTHER))
    ]
    first, second = compared(sides[0], resamples=1), compared(sides[1], "runs/b", made_by=OTHER, resamples=1)
    return compare(first, second, **{"resamples": 10, **options})  # type: ignore[arg-type]  # as compare has them


def difference(found: Comparison, quantity: Quantity, k: int | None = None) -> PairedDifference:
    return next(one for one in found.differences if (one.quantity, one.k) == (quantity, k))


def test_by_hand() -> None:
    """Four prompts, K = 2. F1 = 2PR/(P+R), R = min(S/2, 1).

    A: 2-0 P 1 R 1 F 1; 1-1 P .5 R .5 F .5; 2-2 P .5 R 1 F 2/3; nothing: no P, F 0. Mean F 13/24, mean P 2/3.
    B: 1-1 .5; 2-0 1; 2-0 1; 2-0 1. Mean F 3.5/4, mean P over the first three 2.5/3.
    B - A of F: -.5, +.5, +1/3, +1: mean 1/3. Of P: -.5, +.5, +.5: mean 1/6.
    Signs of F: the sums over 16 ways that reach |4/3|: those of {.5, .5, 1/3, 1} with 7/3, 4/3 (turn one .5, twice) and
    5/3 (turn 1/3), both ways round: 8 of 16. Of P: sizes alike, one against two: all 8 ways reach |.5|. With ??? of B
    counted as wrong its F is 4/7 and the sizes .5, 1/14, 1/3, 1: 10 of 16 reach 19/21, which is the larger p-value.
    """
    found = compare_rows(
        [("p1", "ss", "sn"), ("p2", "sniiiii", "ss???"), ("p3", "ssnn", "ss"), ("p4", "", "ss")], ks=[2]
    )
    precision, f1 = difference(found, Quantity.PRECISION), difference(found, Quantity.F1, 2)
    assert (precision.n, precision.n_left_out, precision.p) == (3, 1, 1.0)
    assert (precision.first_value, precision.second_value, precision.value) == pytest.approx((2 / 3, 2.5 / 3, 1 / 6))
    assert (precision.first_higher, precision.equal, precision.second_higher) == (1, 0, 2)
    assert (f1.first_value, f1.second_value, f1.value) == pytest.approx((13 / 24, 3.5 / 4, 1 / 3))
    assert (f1.n, f1.n_left_out, f1.first_higher, f1.equal, f1.second_higher) == (4, 0, 1, 0, 3)
    assert (f1.p, f1.p_corrected) == (0.625, 1.0)  # Holm: 2 * .625, at most 1
    alone = found.first.figures[0]
    assert alone.value == pytest.approx(13 / 24)
    assert alone.n == 4


def test_prompts_are_what_is_turned() -> None:
    """Six responses to two prompts: as independent pairs p would be 2/64, by prompt it is 2/4; of one prompt 1."""
    rows = [(prompt, "nn", "ss") for prompt in ("p", "q") for _ in range(3)]
    f1 = difference(compare_rows(rows), Quantity.F1, 2)
    assert (f1.p, f1.n, f1.n_groups) == (0.5, 6, 2)
    alone = difference(compare_rows(rows[:3]), Quantity.F1, 2)
    assert (alone.value, alone.low, alone.p) == (1.0, None, 1.0)


letters = st.text("sni?", max_size=5)
many_rows = st.lists(st.tuples(st.sampled_from(["p", "q", "r", "t", "u"]), letters, letters), min_size=1, max_size=8)


@given(many_rows)
def test_exchanging_the_sides_turns_the_signs(rows: list[Row]) -> None:
    turned = [(prompt, other, one) for prompt, one, other in rows]
    found = zip(compare_rows(rows).differences, compare_rows(turned).differences, strict=True)
    for one, other in found:
        assert (one.first_value, one.p, one.p_corrected) == (other.second_value, other.p, other.p_corrected)
        assert (one.first_higher, one.equal, one.second_higher) == (
            other.second_higher, other.equal, other.first_higher,
        )  # fmt: skip
        if one.value is not None:
            assert one.value == pytest.approx(-(other.value or 0.0), abs=1e-12)
        if one.low is not None and one.high is not None:
            assert (other.low, other.high) == pytest.approx((-one.high, -one.low), abs=1e-9)


@given(st.lists(st.tuples(*[st.sampled_from("sni")] * 2), min_size=1, max_size=30), st.integers(0, 2**16))
def test_agreement_with_labels_is_scikit_learns(pairs: list[tuple[str, str]], seed: int) -> None:
    labels = "".join(np.random.default_rng(seed).choice([*"SNI"], len(pairs)))
    sides = "".join(one for one, _ in pairs), "".join(other for _, other in pairs)
    found = compare_rows([("p", *sides)], labels=labels)
    if found.claims is not None and found.claims.kappa.value is not None:
        assert found.claims.kappa.value == pytest.approx(cohen_kappa_score([*sides[0]], [*sides[1]]))
    accuracy = difference(found, Quantity.ACCURACY)
    for value, side in zip((accuracy.first_value, accuracy.second_value), sides, strict=True):
        assert value == pytest.approx(np.mean([one == label.lower() for one, label in zip(side, labels, strict=True)]))
    binary = [(a, b, c.lower()) for a, b, c in zip(*sides, labels, strict=True) if not {"i", "I"} & {a, b, c}]
    balanced = difference(found, Quantity.BALANCED_ACCURACY)
    assert balanced.n == len(binary)
    if len({label for _, _, label in binary}) == 2:
        wanted = [balanced_accuracy_score([row[2] for row in binary], [row[side] for row in binary]) for side in (0, 1)]
        assert [balanced.first_value, balanced.second_value] == pytest.approx(wanted)
    else:
        assert balanced.value is None


def claim(id_: str, text: str) -> JudgedClaim:
    return JudgedClaim(id_, text, text, Verdict.SUPPORTED, "", None)


def test_claims_match_by_id_and_text_then_by_text_each_once() -> None:
    first = [claim("1", "a"), claim("2", "a"), claim("3", "b"), claim("4", "c")]
    second = [claim("9", "a"), claim("2", "a"), claim("3", "x"), claim("8", "b")]
    assert [(one.id, other.id) for one, other in match_claims(first, second)] == [("1", "9"), ("2", "2"), ("3", "8")]
