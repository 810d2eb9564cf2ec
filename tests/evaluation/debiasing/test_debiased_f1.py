from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.correction_coverage import World
from factloop.core.factuality import f1_at_k
from factloop.core.figure import Undefined
from factloop.core.records import Counts
from factloop.evaluation.debiasing.f1 import debiased_f1
from factloop.evaluation.debiasing.precision import debiased_precision
from factloop.evaluation.debiasing.records import Abstentions, Caution, DebiasedF1
from factloop.evaluation.debiasing.samples import JudgedResponses, LabelledClaims

Pairs = list[tuple[str, str]]
"""Labels and verdicts of the claims of each response."""


def labelled(pairs: Pairs, names: str = "l") -> LabelledClaims:
    groups = [f"{names}{place}" for place, (label, _) in enumerate(pairs) for _ in label]
    labels, verdicts = ([int(one) for pair in pairs for one in pair[side]] for side in (0, 1))
    return LabelledClaims(labels, verdicts, groups)


def run_of(*verdicts: str) -> JudgedResponses:
    counts = [Counts(supported=one.count("1"), not_supported=one.count("0")) for one in verdicts]
    return JudgedResponses(counts, [f"p{place}" for place in range(len(verdicts))])


def only(known: LabelledClaims, run: JudgedResponses, k: int, abstentions: Abstentions = "zero") -> DebiasedF1:
    (found,) = debiased_f1(known, run, [k], abstentions=abstentions)
    return found


def test_by_hand() -> None:
    """F1@2 is 2s / (n + max(s, 2)): by labels 6/6, 2/5 and 4/5, by verdicts 4/5, 4/5 and 2/5, of three claims each. By
    verdicts the run's are 6/6 and 2/5. Labels and verdicts lie -+ about their means, 11/15 and 10/15: the sum of
    products is (4 * 2 - 5 * 2 - 1 * 4) / 225 < 0, so that lambda is 0 and the value that of the labels, 11/15."""
    found = only(labelled([("111", "110"), ("100", "110"), ("110", "100")]), run_of("111", "100"), 2)
    assert found.raw.value == pytest.approx(0.7)
    assert found.corrected.value == pytest.approx(11 / 15)
    assert found.corrected.weight == 0.0


@pytest.mark.parametrize("names", ["l", "p"])
def test_it_is_precision_where_all_responses_have_k_claims(names: str) -> None:
    """2s / (K + K) is the precision of each, and that over all claims their mean; inside the run ("p") and outside."""
    world, rng = World(0.8, 0.9, 0.7), np.random.default_rng(4)
    drawn = [world.claims(rng, 6) for _ in range(70)]
    texts = [("".join(map(str, label)), "".join(map(str, verdict))) for label, verdict in drawn]
    known, run = labelled(texts[:40], names), run_of(*(verdicts for _, verdicts in texts))
    f1, precision = only(known, run, 6), debiased_precision(known, run)
    for one, other in ((f1.corrected, precision.prediction_powered), (f1.raw, precision.raw)):
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))
        assert one.cautions == other.cautions
    assert f1.corrected.weight not in (0.0, 1.0, None)


RESPONSES = st.lists(st.text("01", max_size=40), min_size=1, max_size=8)


@given(verdicts=RESPONSES, k=st.integers(1, 64))
def test_a_run_whose_labels_are_its_verdicts_needs_no_correction(verdicts: list[str], k: int) -> None:
    found = only(labelled([(one, one) for one in verdicts], "p"), run_of(*verdicts), k)
    if not any(verdicts):
        assert found.corrected.undefined is found.raw.undefined is Undefined.NOTHING_SCORED
        return
    raw = sum(f1_at_k(each, k) for each in run_of(*verdicts).counts) / len(verdicts)
    assert found.raw.value == pytest.approx(raw)
    assert found.corrected.value == pytest.approx(raw)


MIXED = labelled([("110", "100"), ("100", "110"), ("111", "111"), ("000", "010")])


def test_what_is_no_answer_is_said() -> None:
    """Two of four responses hold claims: counted as 0 the others halve either figure, and left out they do not."""
    counts = [*run_of("1110", "1100").counts, Counts(), Counts(irrelevant=2), Counts(unscored=4)]
    zero, without = (only(MIXED, JudgedResponses(counts), 4, policy) for policy in ("zero", "exclude"))
    assert zero.raw.value == pytest.approx((2 * 3 / 8 + 2 * 2 / 8) / 4)
    assert without.raw.value == pytest.approx((2 * 3 / 8 + 2 * 2 / 8) / 2)
    assert (zero.n_responses, without.n_responses) == (4, 2)
    assert (zero.n_abstentions, zero.n_failed) == (without.n_abstentions, without.n_failed) == (2, 1)
    for found in (zero.corrected, without.corrected):
        assert found.interval is not None
        assert found.value is not None
        assert found.interval[0] < found.value < found.interval[1]


def known(n_labels: int, *, probability: float = 1.0, is_own: bool = False) -> LabelledClaims:
    labels = [1, 0] * n_labels
    names = ["p0"] * n_labels + ["p1"] * n_labels
    return LabelledClaims(labels, labels, names, [probability] * len(labels), [is_own] * len(labels))


@pytest.mark.parametrize(
    ("labels", "run", "expected"),
    [
        (known(8), JudgedResponses([]), "nothing_scored"),
        (known(8), JudgedResponses([Counts(unscored=3)]), "nothing_scored"),
        (LabelledClaims([], []), run_of("1100"), "no_labels"),
        (known(8, probability=0.9), run_of("1" * 8, "0" * 8), "labelled_in_part"),
        (known(5, is_own=True), run_of("1" * 8, "0" * 8), "labelled_in_part"),
        (known(7, is_own=True), run_of("1" * 8, "0" * 8), None),  # one of each was called irrelevant
        (known(3), run_of("1" * 8, "0" * 8), "labelled_in_part"),
        (known(5), run_of("1" * 8, "0" * 8), None),  # of other responses, which may be shorter
        (LabelledClaims([1, 0], [1, 1]), run_of("1" * 8, "0" * 8), "labelled_in_part"),
    ],
)
def test_undefined(labels: LabelledClaims, run: JudgedResponses, expected: str | None) -> None:
    found = only(labels, run, 4).corrected
    is_in_part = expected == Caution.LABELLED_IN_PART
    assert found.undefined == ("no_labels" if is_in_part else expected)
    assert (Caution.LABELLED_IN_PART in found.cautions) == is_in_part


def test_a_prompt_may_have_several_responses() -> None:
    """F1@2 of two responses of two claims, 2/2 and 0: not that of one of four."""
    names = ["a", "a", "b", "b"]
    labels = LabelledClaims([1, 1, 0, 0], [1, 1, 0, 0], ["p"] * 4, responses=names)
    assert only(labels, run_of("11"), 2).corrected.value == pytest.approx(1 / 2)


def test_few_labels_without_an_error_are_no_proof_of_a_faultless_evaluator() -> None:
    """Eleven right verdicts: 24 % may be wrong (1 - .05^(1/11) = .24). So the labels count as if they stood alone."""
    right = [("1110", "1110"), ("1100", "1100"), ("1000", "1000")]
    run = run_of(*["1110", "1100", "1000"] * 40)
    few, many = (only(labelled(right * n), run, 2).corrected for n in (8, 40))
    assert Caution.WIDENED in few.cautions
    assert Caution.WIDENED not in many.cautions


@pytest.mark.statistical
@pytest.mark.parametrize("k", [20, 12])
def test_a_k_at_the_median_or_below_leaves_no_bias_and_95_percent(k: int) -> None:
    """600 runs, whose coverage has a standard error of 0.9 points. By a rate for all claims it was half."""
    world, rng = World(0.6, 0.85, 0.7), np.random.default_rng(2)
    labels, _, place = world.responses(rng, 50_000, 20, 0.3)
    supported, n = np.bincount(place, labels), np.bincount(place)
    truth = float((2 * supported / (n + np.maximum(supported, k))).mean())
    values, held = [], 0
    for _ in range(600):
        label, verdict, response = world.responses(rng, 60, 20, 0.3)
        _, judged, place = world.responses(rng, 120, 20, 0.3)
        pairs = zip(np.bincount(place, judged).tolist(), np.bincount(place).tolist(), strict=True)
        run = JudgedResponses([Counts(supported=int(s), not_supported=int(size - s)) for s, size in pairs])
        found = only(LabelledClaims(label.tolist(), verdict.tolist(), response.tolist()), run, k).corrected
        assert found.interval is not None
        values.append(found.value)
        held += found.interval[0] <= truth <= found.interval[1]
    assert np.mean(np.array(values, dtype=float)) == pytest.approx(truth, abs=0.005)
    assert 0.93 <= held / 600 <= 0.98
