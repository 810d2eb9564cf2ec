"""The whole audit and its advice."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factloop.core.files.json import to_json
from factloop.evaluation.audit.advice import CRITERIA, Finding, advise, findings_of
from factloop.evaluation.audit.report import Advice, AuditReport, Leave, Measure, Notice, Reason, Use
from factloop.evaluation.audit.table import Level
from factloop.evaluation.datasets.mapping import UNKNOWN_SYSTEM
from factloop.evaluation.statistics.significance import PValueAdjustment
from tests.evaluation.audit.audit_sample import audited, sample_rows
from tests.evaluation.audit.prediction_rows import Row
from tests.evaluation.audit.random_tables import ALL, dataset, row_lists, task

DATA = Path(os.environ.get("FACTLOOP_DATA", "../shared/data"))
GROUPS = [dataset("news"), dataset("talk"), task("answers"), task("summaries"), ALL]
NAMES = ["good", "weak", "weak@6"]
HALF = settings(max_examples=settings().max_examples // 2)
"""For properties of two whole audits, which take a tenth of a second."""


@pytest.fixture(scope="module")
def report() -> AuditReport:
    return audited(sample_rows(), threshold=0.7)


def test_every_part_is_there_for_every_evaluator_and_group(report: AuditReport) -> None:
    assert report.left_out == ()
    assert [one.threshold for one in report.at] == list(report.settings.thresholds) == [0.5, 0.7]
    levels = list(Level)
    for at in report.at:
        over = [(level, name, group) for level in levels for name in NAMES for group in GROUPS]
        assert [(one.level, one.evaluator, one.group) for one in at.rates.rates] == over
        assert [(one.level, one.evaluator, one.group) for one in at.quantification.evaluators] == over
        assert len(at.quantification.systems) == 2 * 3 * 2 * 3  # levels, evaluators, data sets, systems
        assert len(at.agreement.pairs) == 6 * len(GROUPS)
        singles = [(level, name, one) for level in levels for name in NAMES for one in ("news", "talk")]
        assert [(one.level, one.evaluator, one.dataset) for one in at.rankings] == singles
        means = [(level, name, group) for level in levels for name in NAMES for group in GROUPS[2:]]
        assert [(one.level, one.evaluator, one.group) for one in at.mean_rankings] == means
        assert Counter(one.evaluator for one in at.surface) == dict.fromkeys(NAMES, len(GROUPS))
        assert [(one.evaluator, one.chunked, one.n_words) for one in at.chunking] == [("weak", "weak@6", 6)] * 5
        assert [(one.evaluator, one.dataset) for one in at.adjustment] == [
            (n, d) for n in NAMES for d in ("news", "talk")
        ]
        assert [(one.evaluator, one.group) for one in at.mean_adjustments] == [
            (n, g) for n in NAMES for g in GROUPS[2:]
        ]
    assert [(one.evaluator, one.group) for one in report.advice] == [
        (name, group) for name in NAMES for group in GROUPS
    ]
    assert all([piece.use for piece in one.advice] == list(Use) for one in report.advice)


def bare(rows: Sequence[Row], *names: str) -> list[Row]:
    """The row without these fields."""
    nothing: dict[str, Any] = dict.fromkeys(names)
    return [replace(row, **nothing) for row in rows]


@given(row_lists(has_prompts=True), st.randoms(use_true_random=False))
@HALF
def test_the_order_of_rows_changes_nothing(rows: list[Row], random: Random) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert to_json(audited(rows, resamples=10)) == to_json(audited(shuffled, resamples=10))


def test_no_rows_are_no_failure() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = audited([])
    assert (report.data.n_claims, report.advice) == (0, ())


def leaves_of(report: AuditReport, evaluator: str) -> dict[Use, Leave]:
    found = next(one for one in report.advice if (one.evaluator, one.group) == (evaluator, ALL))
    return {one.use: one.leave for one in found.advice}


def kinds(notices: Sequence[Notice]) -> list[tuple[str, str, int | None, int | None]]:
    return [(one.kind.value, one.about, one.n, one.of) for one in notices]


def split(rows: Sequence[Row], keeps: Callable[[Row], object]) -> list[Row]:
    """The rows of one data set that are kept, beside all of the other."""
    return [row for row in rows if row.dataset == "talk" or keeps(row)]


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        (bare(sample_rows(), "document"), [("no_text", "", None, None)]),
        (bare(sample_rows(), "prompt"), [("no_prompts", "", None, None)]),
        (bare(sample_rows(), "task"), [("no_tasks", "", None, None)]),
        (
            [replace(row, scores={"good": float((row.scores["good"] or 0) > 0.5)}) for row in sample_rows()],
            [
                ("no_chunks", "", None, None),
                ("one_evaluator", "", None, None),
                ("labels_only", "good", None, None),
            ],
        ),
        (split(sample_rows(), lambda row: row.system == "a"), [("one_system", "news", None, None)]),
        (split(sample_rows(), lambda row: row.system != "c"), [("two_systems", "news", None, None)]),
        (split(sample_rows(), lambda row: row.label), [("no_unattributable", "news", None, None)]),
        (split(sample_rows(), lambda row: not row.label), [("no_attributable", "news", None, None)]),
        (
            [replace(row, system="unknown") if row.system == "c" else row for row in sample_rows()],
            [
                ("unknown_system", "news", 24, 72),
                ("two_systems", "news", None, None),
                ("unknown_system", "talk", 24, 72),
                ("two_systems", "talk", None, None),
            ],
        ),
    ],
)
def test_what_is_left_out_has_its_reason(rows: list[Row], wanted: list[tuple[str, str, int, int]]) -> None:
    report = audited(rows)
    assert kinds(report.left_out) == wanted
    assert AuditReport.model_validate_json(to_json(report)) == report


def test_what_weakens_the_figures_is_told(report: AuditReport) -> None:
    missing = sum(row.scores["weak"] is None for row in sample_rows())
    assert ("unscored", "weak", missing, 144) in kinds(report.warnings)
    assert ("few_resamples", "", 50, None) in kinds(report.warnings)
    assert ("few_clusters", "news", 12, None) in kinds(report.warnings)
    assert kinds(audited(sample_rows(), resamples=0).warnings)[-1] == ("no_resamples", "", None, None)
    # of three responses two lack a score, one of them beside a claim that is called wrong
    rows = [Row(1, {"e": 1.0}, response="x"), Row(0, {"e": 0.1}, response="y"), Row(1, {"e": None}, response="y")]
    rows += [Row(1, {"e": 0.9}, response="z"), Row(0, {"e": None}, response="z")]
    assert ("unscored_responses", "e", 1, 2) in kinds(audited(rows).warnings)
    # weights of 1 and 4 say as much as 10^2 / 34 = 2.9 that count the same
    rows = [Row(n % 2, {"e": 0.9}, "ab"[n // 2], f"r{n}", probability=0.25 if n % 2 else 1.0) for n in range(4)]
    assert ("weighted", "", 3, 4) in kinds(audited(rows).warnings)


def test_settings_reach_the_parts() -> None:
    options: dict[str, Any] = {"alpha": 0.2, "p_adjustment": PValueAdjustment.HOLM, "level": 0.8, "seed": 3}
    report = audited(sample_rows(), **options)
    at = report.at[0]
    assert (at.rates.basis.level, at.rates.basis.n_resamples, at.rates.basis.clusters) == (0.8, 50, "prompt")
    assert {(one.alpha, one.p_adjustment) for one in at.rankings} == {(0.2, PValueAdjustment.HOLM)}
    assert {name: getattr(report.settings, name) for name in options} == options
    assert at.rates != audited(sample_rows(), **{**options, "seed": 4}).at[0].rates


def test_findings_of_several_data_sets() -> None:
    """Wording is taken over all claims, headroom over the data sets with two systems, its magnitude not cancelling."""
    rows = [
        Row(int(place >= 10), {"e": float(place >= flagged)}, system, f"{system}{place}", None, name)
        for name, flagged, systems in (("x", 6, "abc"), ("y", 14, "abc"), ("z", 10, "a"))
        for system in systems
        for place in range(20)
    ]
    report = audited(rows)
    found = findings_of(report.at[0], "e", ALL, ["x", "y", "z"])
    headroom = found[Measure.HEADROOM_BIAS]
    assert headroom.n == 6
    assert headroom.value == pytest.approx(0.2, abs=0.02)
    assert leaves_of(report, "e")[Use.HEADROOM] is Leave.NO
    said = [("to be or not", "to be or not"), ("or be it so", "to be or not")]
    rows = [
        Row(1, {"e": float(name == "small" or place % 2)}, "a", f"{place}", f"p{place}", name, None, *texts)
        for name, n in (("large", 400), ("small", 40))
        for place in range(n)
        for texts in said
    ]
    found = findings_of(audited(rows).at[0], "e", ALL, ["large", "small"])
    assert found[Measure.TPR].value == pytest.approx(0.75)  # (1 / 2 + 1) / 2
    assert found[Measure.TPR_LEAST_SIMILAR].value == pytest.approx(240 / 440)  # 200 + 40 of all claims
    assert found[Measure.TPR_DROP].value == pytest.approx(0.0)


E = "judge"


def unmatched(n: int, name: str = "d") -> list[Row]:
    """Claims that hold, each a response to a prompt of its own, as `data join` writes those that it cannot match."""
    return [Row(1, {E: 1.0}, UNKNOWN_SYSTEM, f"u{place}", f"u{place}", name) for place in range(n)]


def of_system(name: str, n_errors: int, n_flagged: int) -> list[Row]:
    return [Row(int(k >= n_errors), {E: float(k >= n_flagged)}, name, f"{name}{k}", f"p{k}") for k in range(10)]


def test_claims_of_an_unknown_system_take_no_part_in_what_is_said_of_systems() -> None:
    """Headroom was 0 with them, as none of the twenty is wrong; by the two systems it is 2 of 10."""
    known = of_system("a", 2, 3) + of_system("b", 5, 5)
    one, other = audited(known, resamples=0), audited(known + unmatched(20), resamples=0)
    (before,), (after,) = one.at, other.at
    assert after.quantification.find(E, dataset("d")).headroom_labelled.value == pytest.approx(0.2)
    assert after.quantification.systems == before.quantification.systems
    assert after.quantification.errors == before.quantification.errors
    assert after.quantification.evaluators == before.quantification.evaluators
    assert (after.rankings, after.mean_rankings) == (before.rankings, before.mean_rankings)
    assert (after.adjustment, after.mean_adjustments) == (before.adjustment, before.mean_adjustments)
    assert other.data.systems == ("a", "b")


def test_rates_and_agreement_count_them() -> None:
    known = of_system("a", 2, 3) + of_system("b", 5, 5)
    (after,) = audited(known + unmatched(20), resamples=0).at
    assert after.rates.find(E, dataset("d")).n_attributable == 13 + 20
    assert after.agreement.pairs[0].attributable.value == pytest.approx((12 + 20) / (13 + 20))
    (over_all,) = (one for one in after.quantification.datasets if one.level is Level.CLAIM)
    assert over_all.labelled.value == pytest.approx(7 / 40)


M, R = Measure, Reason
GOOD = {
    M.TPR: Finding(0.916, 1405, 0.9, 0.93),
    M.TNR: Finding(0.85, 408, 0.81, 0.88),
    M.BALANCED_ACCURACY: Finding(0.883, 1813, 0.86, 0.9),
    M.MEAN_BIAS: Finding(0.011, 6),
    M.HEADROOM_BIAS: Finding(0.01, 6, 0.0, 0.015),
    M.WRONG_PAIRS: Finding(1 / 15, 15),
    M.REVERSED_PAIRS: Finding(0.0, 15),
    M.FOUND_PAIRS: Finding(0.875, 8),
    M.TAU: Finding(0.867, 6),
    M.LOST_ACROSS_CHUNKS: Finding(0.031, 900, 0.02, 0.045),
    M.TPR_DROP: Finding(0.056, 200),
    M.TPR_LEAST_SIMILAR: Finding(0.86, 200),
    M.TNR_LEAST_SIMILAR: Finding(0.9, 90),
    M.TNR_DROP: Finding(0.05, 70),
    M.TNR_MOST_SIMILAR: Finding(0.80, 70),
    M.TPR_MOST_SIMILAR: Finding(0.95, 300),
}
NOTHING_APART = {M.FOUND_PAIRS: Finding(None, 0)}


def on(use: Use, changes: dict[Measure, Finding]) -> Advice:
    return next(advice for advice in advise({**GOOD, **changes}) if advice.use is use)


def test_a_good_evaluator_may_be_used_for_everything_and_nothing_measured_for_nothing() -> None:
    advice = advise(GOOD)
    assert [(one.use, one.leave, one.reason) for one in advice] == [(use, Leave.YES, R.WITHIN_LIMITS) for use in Use]
    shown = {each.measure for one in advice for each in one.figures}
    assert shown == {one.measure for criteria in CRITERIA.values() for one in criteria}
    (bias,) = on(Use.ERROR_RATE, {}).figures
    assert (bias.value, bias.n, bias.good, bias.poor) == (0.011, 6, 0.02, 0.05)
    assert {(one.leave, one.reason, one.figures) for one in advise({})} == {(Leave.UNKNOWN, R.NOT_MEASURED, ())}


@pytest.mark.parametrize(
    ("use", "changes", "leave", "reason"),
    [
        (Use.FILTER_CLAIMS, {M.TNR: Finding(0.81, 408, 0.77, 0.85)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.FILTER_CLAIMS, {M.TNR: Finding(0.525, 408)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.FILTER_CLAIMS, {M.TPR: Finding(0.3, 408)}, Leave.NO, R.BEYOND_LIMITS),
        # 22 of 40 and 220 of 400 have the same rate, but not the same interval; likewise 30 of 40 and 300 of 400
        (Use.FILTER_CLAIMS, {M.TNR: Finding(0.55, 40, 0.398, 0.693)}, Leave.UNKNOWN, R.WIDE_INTERVAL),
        (Use.FILTER_CLAIMS, {M.TNR: Finding(0.55, 400, 0.501, 0.598)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.FILTER_CLAIMS, {M.TNR: Finding(0.75, 40, 0.598, 0.858)}, Leave.UNKNOWN, R.WIDE_INTERVAL),
        (Use.FILTER_CLAIMS, {M.TNR: Finding(0.75, 400, 0.705, 0.790)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.FILTER_CLAIMS, {M.TNR: Finding(0.6, 408)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.FILTER_CLAIMS, {M.TNR: Finding(1.0, 29)}, Leave.UNKNOWN, R.TOO_FEW),
        (Use.FILTER_CLAIMS, {M.TNR: Finding(1.0, 80, n_clusters=9)}, Leave.UNKNOWN, R.TOO_FEW_CLUSTERS),
        (Use.ERROR_RATE, {M.MEAN_BIAS: Finding(0.03, 6)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.ERROR_RATE, {M.MEAN_BIAS: Finding(0.01, 6, 0.0, 0.03)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.ERROR_RATE, {M.MEAN_BIAS: Finding(0.06, 6, 0.0, 0.12)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.ERROR_RATE, {M.MEAN_BIAS: Finding(0.09, 6, 0.051, 0.12)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.ERROR_RATE, {M.MEAN_BIAS: Finding(0.0, 2)}, Leave.UNKNOWN, R.TOO_FEW),
        (Use.HEADROOM, {M.HEADROOM_BIAS: Finding(0.123, 6)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.COMPARE_SYSTEMS, {M.WRONG_PAIRS: Finding(0.2, 15)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.COMPARE_SYSTEMS, {M.WRONG_PAIRS: Finding(1 / 3, 15)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.COMPARE_SYSTEMS, {M.REVERSED_PAIRS: Finding(1 / 15, 15)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.COMPARE_SYSTEMS, {M.FOUND_PAIRS: Finding(0.75, 8)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.COMPARE_SYSTEMS, {M.FOUND_PAIRS: Finding(0.375, 8)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.COMPARE_SYSTEMS, {M.FOUND_PAIRS: Finding(0.0, 4)}, Leave.WITH_CARE, R.FEW_DIFFERENCES),
        (Use.COMPARE_SYSTEMS, NOTHING_APART, Leave.UNKNOWN, R.NO_DIFFERENCES),
        (Use.COMPARE_SYSTEMS, {**NOTHING_APART, M.WRONG_PAIRS: Finding(0.4, 15)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.COMPARE_SYSTEMS, {M.WRONG_PAIRS: Finding(0.0, 6)}, Leave.UNKNOWN, R.TOO_FEW),
        (Use.RANK_SYSTEMS, {M.FOUND_PAIRS: Finding(0.2, 4)}, Leave.WITH_CARE, R.FEW_DIFFERENCES),
        (Use.RANK_SYSTEMS, {M.FOUND_PAIRS: Finding(0.2, 9)}, Leave.YES, R.WITHIN_LIMITS),
        (Use.RANK_SYSTEMS, {**NOTHING_APART, M.TAU: Finding(-1.0, 6)}, Leave.UNKNOWN, R.NO_DIFFERENCES),
        (Use.RANK_SYSTEMS, {M.TAU: Finding(0.6, 6)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.RANK_SYSTEMS, {M.TAU: Finding(-0.2, 6, -0.8, 0.4)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.RANK_SYSTEMS, {M.TAU: Finding(0.4, 6, -0.1, 0.7)}, Leave.UNKNOWN, R.WIDE_INTERVAL),
        (Use.RANK_SYSTEMS, {M.TAU: Finding(1.0, 4)}, Leave.UNKNOWN, R.TOO_FEW),
        (Use.RANK_SYSTEMS, {M.TAU: Finding(None, 6)}, Leave.UNKNOWN, R.UNDEFINED),
        (Use.LONG_DOCUMENTS, {M.LOST_ACROSS_CHUNKS: Finding(0.07, 900)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.LONG_DOCUMENTS, {M.LOST_ACROSS_CHUNKS: Finding(0.21, 900)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.LONG_DOCUMENTS, {M.TNR: Finding(0.5, 408)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.LONG_DOCUMENTS, {M.TNR: Finding(0.65, 408)}, Leave.YES, R.WITHIN_LIMITS),
        (Use.PARAPHRASED_CLAIMS, {M.TPR_DROP: Finding(0.1, 200)}, Leave.YES, R.WITHIN_LIMITS),
        (Use.PARAPHRASED_CLAIMS, {M.TPR_DROP: Finding(0.136, 200)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.PARAPHRASED_CLAIMS, {M.TPR_DROP: Finding(0.216, 200)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.PARAPHRASED_CLAIMS, {M.TNR_LEAST_SIMILAR: Finding(0.59, 90)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.PARAPHRASED_CLAIMS, {M.TPR_LEAST_SIMILAR: Finding(0.9, 12)}, Leave.UNKNOWN, R.TOO_FEW),
        (Use.COPIED_CLAIMS, {M.TNR_MOST_SIMILAR: Finding(0.5, 70)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.COPIED_CLAIMS, {M.TNR_MOST_SIMILAR: Finding(None, 40)}, Leave.UNKNOWN, R.UNDEFINED),
    ],
)
def test_each_figure_decides_its_use(use: Use, changes: dict[Measure, Finding], leave: Leave, reason: Reason) -> None:
    advice = on(use, changes)
    assert (advice.leave, advice.reason) == (leave, reason)


@pytest.mark.parametrize(
    ("accuracy", "tnr", "leaves", "reason"),
    [
        (Finding(0.55, 1813, 0.48, 0.62), GOOD[M.TNR], {Leave.NO}, R.NOT_ABOVE_CHANCE),
        (Finding(0.5, 1813), GOOD[M.TNR], {Leave.NO}, R.NOT_ABOVE_CHANCE),
        (Finding(0.51, 1813), GOOD[M.TNR], {Leave.YES}, R.WITHIN_LIMITS),
        (Finding(0.9, 1813), Finding(0.85, 29), {Leave.UNKNOWN}, R.CHANCE_NOT_EXCLUDED),
    ],
)
def test_an_evaluator_no_better_than_chance_may_be_used_for_nothing(
    accuracy: Finding, tnr: Finding, leaves: set[Leave], reason: Reason
) -> None:
    advice = advise({**GOOD, M.BALANCED_ACCURACY: accuracy, M.TNR: tnr})
    assert {one.leave for one in advice} == leaves
    assert {one.reason for one in advice[1:]} == {reason}


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.2), st.integers(30, 500))
def test_a_better_or_surer_evaluator_is_never_allowed_less(one: float, other: float, width: float, n: int) -> None:
    caution = [Leave.NO, Leave.UNKNOWN, Leave.WITH_CARE, Leave.YES]

    def leave(value: float, reach: float) -> int:
        return caution.index(on(Use.FILTER_CLAIMS, {M.TNR: Finding(value, n, value - reach, value + reach)}).leave)

    low, high = sorted((one, other))
    assert leave(low, width) <= leave(high, width)
    assert (leave(high, 0.0) == 0) or leave(high, 0.0) >= leave(high, width)
