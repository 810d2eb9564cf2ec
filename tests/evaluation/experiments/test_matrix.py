"""The matrix of all items against all variants: verdicts, repeats and values by hand, in JSON, CSV and page."""

from __future__ import annotations

import pytest

from factloop.core.records import Verdict
from factloop.evaluation.experiments.assess import assess
from factloop.evaluation.experiments.views.csv import item_columns, item_rows
from factloop.evaluation.experiments.views.html import render_experiment_html
from tests.evaluation.experiments.sample import claim, make_response_results, make_results, results_of

S, N, R, U = Verdict.SUPPORTED, Verdict.NOT_SUPPORTED, Verdict.IRRELEVANT, None


def test_claims_by_hand() -> None:
    """Three repeats. c0, supported by people: S S N is S, 2/3 right. c1, not: R R S, none right. c2: never scored."""
    verdicts: dict[str, dict[str, tuple[Verdict | None, ...]]] = {
        "packaged": {"c0": (S, S, N), "c1": (R, R, S), "c2": (U, U, U)},
        "strict": {"c0": (S, N, U)},
    }
    gold = {"c0": True, "c1": False, "c2": None}
    claims = [
        claim(variant, name, verdict, gold=gold[name], repeat=repeat)
        for variant, found in verdicts.items()
        for name, said in found.items()
        for repeat, verdict in enumerate(said, 1)
    ]
    first, second, third = assess(results_of(claims, repeats=3)).items
    assert (first.item_id, first.gold, [one.verdict for one in first.cells]) == ("c0", True, [S, None])
    assert [one.value for one in first.cells] == [pytest.approx(2 / 3), 0.5]
    assert [(one.n_scored, one.n_repeats) for one in first.cells] == [(3, 3), (2, 3)]
    assert [one.verdict for one in second.cells] == [R, None]
    assert [one.value for one in second.cells] == [0.0, None]
    assert [one.n_repeats for one in second.cells] == [3, 0]
    assert third.cells[0].unscored_reason is not None
    assert third.cells[0].value is None


def test_every_item_is_there_against_every_variant() -> None:
    results = make_results(40)
    report = assess(results)
    assert len(report.items) == results.n_items == 40
    assert {len(one.cells) for one in report.items} == {len(report.variants)}
    rows = list(item_rows(report))
    assert len(rows) == 40
    assert {len(row) for row in rows} == {len(item_columns(report))}
    assert item_columns(report)[4:9] == (
        "packaged_verdict", "packaged_unscored_reason", "packaged_value", "packaged_n_scored", "packaged_n_repeats",
    )  # fmt: skip
    page = render_experiment_html(report)
    assert "All items" in page
    assert "items.csv" in page


def test_responses_have_f1_at_the_first_k() -> None:
    results = make_response_results(4)
    report = assess(results)
    assert len(report.items) == 4
    row = report.items[0]
    assert (row.claim, row.gold) == (None, None)
    counts = [one.counts for one in results.responses if (one.response_id, one.variant) == (row.item_id, "packaged")]
    k = min(results.k)

    def f1(supported: int, not_supported: int) -> float:
        precision, recall = supported / (supported + not_supported), min(supported / k, 1.0)
        return 2 * precision * recall / (precision + recall)

    wanted = [f1(one.supported, one.not_supported) for one in counts]
    assert row.cells[0].value == pytest.approx(sum(wanted) / len(wanted))
    assert row.cells[0].n_repeats == results.repeats
