from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from factloop.core.factuality import f1_at_k, precision
from factloop.core.figure import Undefined
from factloop.core.records import Counts, Verdict
from factloop.evaluation.comparing.records import Quantity, QuantityFigure
from factloop.evaluation.comparing.table import ItemValues, response_quantities
from factloop.evaluation.experiments.assess import assess
from factloop.evaluation.experiments.panel import panel_of
from factloop.evaluation.experiments.records import ExperimentReport, Results
from tests.evaluation.experiments.sample import claim, results_of, text_result, usage

S, N, R, U = Verdict.SUPPORTED, Verdict.NOT_SUPPORTED, Verdict.IRRELEVANT, None
"""R: irrelevant."""


def one_variant(verdicts: Sequence[tuple[Verdict | None, ...]], gold: Sequence[bool | None]) -> Results:
    claims = [
        claim("packaged", f"c{place}", verdict, gold=label, repeat=repeat)
        for place, (found, label) in enumerate(zip(verdicts, gold, strict=True))
        for repeat, verdict in enumerate(found, 1)
    ]
    return results_of(claims, names=("packaged",), repeats=max(map(len, verdicts)))


def figure(report: ExperimentReport, quantity: Quantity) -> QuantityFigure:
    found = report.variants[0].find(quantity)
    assert found is not None
    return found


def test_by_hand() -> None:
    """Five labelled claims in two repeats, of gold + + - - +, and one without a label.

    c0 S S: right 1, supported 1.   c1 S N: right 1/2, supported 1/2.   c2 N U: right 1, supported 0.
    c3 S R: of TNR 0 (the S), of accuracy 0 (both), supported 1.        c4 U U: left out.
    TPR (1 + 1/2) / 2 = 3/4; TNR (1 + 0) / 2 = 1/2; balanced 5/8; accuracy (1 + 1/2 + 1 + 0) / 4 = 5/8.
    Bias: (1 - 1) + (1/2 - 1) + (0 - 0) + (1 - 0) = 1/2 over 4 claims: 1/8.
    Unscored: (0 + 0 + 1/2 + 0 + 1 + 0) / 6 = 1/4; irrelevant: 1/2 of c3: 1/12.
    """
    results = one_variant([(S, S), (S, N), (N, U), (S, R), (U, U), (S, S)], [True, True, False, False, True, None])
    report = assess(results)
    assert figure(report, Quantity.TPR).value == pytest.approx(3 / 4)
    assert figure(report, Quantity.TNR).value == pytest.approx(1 / 2)
    assert figure(report, Quantity.BALANCED_ACCURACY).value == pytest.approx(5 / 8)
    assert figure(report, Quantity.ACCURACY).value == pytest.approx(5 / 8)
    assert figure(report, Quantity.BIAS).value == pytest.approx(1 / 8)
    assert figure(report, Quantity.UNSCORED_SHARE).value == pytest.approx(1 / 4)
    assert figure(report, Quantity.IRRELEVANT_SHARE).value == pytest.approx(1 / 12)
    accuracy = figure(report, Quantity.ACCURACY)
    assert (accuracy.n, accuracy.n_groups, accuracy.n_left_out) == (4, 4, 1)
    assert (report.n_labelled, report.n_supported, report.n_items) == (5, 3, 6)


@pytest.mark.parametrize(
    ("verdicts", "gold", "quantity", "why"),
    [
        ([(S,)], [None], Quantity.BALANCED_ACCURACY, Undefined.NO_LABELS),
        ([(S,)], [None], Quantity.TPR, Undefined.NO_LABELS),
        ([(S,), (N,)], [True, True], Quantity.BALANCED_ACCURACY, Undefined.NO_UNSUPPORTED),
        ([(S,), (N,)], [True, True], Quantity.TNR, Undefined.NO_UNSUPPORTED),
        ([(S,), (N,)], [False, False], Quantity.BALANCED_ACCURACY, Undefined.NO_SUPPORTED),
        ([(U,), (N,)], [True, False], Quantity.TPR, Undefined.NOTHING_SCORED),
        ([(U,), (U,)], [True, False], Quantity.BIAS, Undefined.NOTHING_SCORED),
    ],
)
def test_what_has_no_value_says_why(
    verdicts: Sequence[tuple[Verdict | None]], gold: Sequence[bool | None], quantity: Quantity, why: Undefined
) -> None:
    found = figure(assess(one_variant(verdicts, gold)), quantity)
    assert (found.value, found.undefined) == (None, why)


def test_f1_and_precision_are_those_of_a_response() -> None:
    """Every mixture of up to three claims, at once; the vectors agree with the plain functions."""
    all_counts = [(s, n, i, u) for s in range(3) for n in range(3) for i in range(2) for u in range(2)]
    texts = [text_result("packaged", f"r{place:02}", counts) for place, counts in enumerate(all_counts)]
    results = results_of([], names=("packaged",)).model_copy(
        update={"kind": "responses", "responses": tuple(texts), "n_items": len(texts), "k": (2,)}
    )
    panel = panel_of(results)
    assert panel.responses is not None
    f1, share = response_quantities(panel.responses, [2])
    for place, (s, n, i, u) in enumerate(all_counts):
        counts = Counts(supported=s, not_supported=n, irrelevant=i, unscored=u)
        unscored = u > 0 and s + n == 0
        _same(f1, place, None if unscored else f1_at_k(counts, 2))
        _same(share, place, precision(counts))


def _same(values: ItemValues, place: int, wanted: float | None) -> None:
    found = values.values[0, place]
    assert np.isnan(found) if wanted is None else found == pytest.approx(wanted)


def test_a_text_that_comes_again_in_a_response_counts_once() -> None:
    """Spaces and case are ignored. A claim of a response is matched by its text, whatever its id."""
    first = claim("packaged", "a", S, gold=True, group="r1").model_copy(update={"claim": "It  holds."})
    again = claim("packaged", "b", N, gold=True, group="r1").model_copy(update={"claim": "it holds."})
    texts = (text_result("packaged", "r1", (1, 1, 0, 0), prompt="p"),)
    results = results_of([first, again], names=("packaged",))
    report = assess(results.model_copy(update={"kind": "responses", "responses": texts, "n_items": 1}))
    assert report.n_labelled == 1
    assert figure(report, Quantity.TPR).value == 1.0


def test_a_text_with_two_labels_counts_as_unlabelled() -> None:
    claims = [claim(name, "a", S, gold=name == "strict", group="r1") for name in ("packaged", "strict")]
    texts = tuple(text_result(name, "r1", (1, 0, 0, 0), prompt="p") for name in ("packaged", "strict"))
    update = {"kind": "responses", "responses": texts, "n_items": 1}
    report = assess(results_of(claims).model_copy(update=update))
    assert report.n_labelled == 0
    assert any("1 claim with two different labels" in said for said in report.warnings)


def test_stability_by_hand() -> None:
    verdicts = [(S, S, S), (N, N, N), (S, N, S), (N, S, N), (S, U, S)]
    found = assess(one_variant(verdicts, [True] * 5)).variants[0].stability
    assert found.value == pytest.approx(1 / 2)
    assert (found.n, found.n_left_out) == (4, 1)


def test_time_and_cost_are_those_of_single_items() -> None:
    """Seconds 1, 2, 3, 10: median 2.5, 95th percentile 3 + 0.85 * 7 = 8.95. One unknown price hides the whole cost."""
    claims = [
        claim("packaged", f"c{place}", S).model_copy(update={"usage": usage(100, 0.5, seconds)})
        for place, seconds in enumerate((1.0, 2.0, 3.0, 10.0))
    ]
    report = assess(results_of(claims, names=("packaged",)))
    (known,) = report.variants
    assert known.latency.median_s == pytest.approx(2.5)
    assert known.latency.p95_s == pytest.approx(8.95)
    assert figure(report, Quantity.COST_USD).value == 0.5
    assert (known.usage.cost_usd, known.usage.calls, known.usage.searches) == (2.0, 8, 4)
    assert known.usage.stages["assess"].calls == 8
    claims[0] = claims[0].model_copy(update={"usage": usage(100, None, 1.0)})
    report = assess(results_of(claims, names=("packaged",)))
    assert figure(report, Quantity.COST_USD).undefined is Undefined.PRICE_UNKNOWN
    assert report.variants[0].usage.cost_usd is None
