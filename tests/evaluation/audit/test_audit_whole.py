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

from factloop.core.errors import DataError
from factloop.core.files.json import to_json
from factloop.evaluation.audit.report import AuditReport
from factloop.evaluation.audit.table import Level
from factloop.evaluation.datasets.mapping import UNKNOWN_SYSTEM
from factloop.evaluation.statistics.significance import PValueAdjustment
from tests.evaluation.audit.audit_sample import audited, sample_rows
from tests.evaluation.audit.prediction_rows import Row
from tests.evaluation.audit.random_tables import ALL, dataset, find, row_lists, task

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
        assert [(one.level, one.evaluator, one.group) for one in at.rates] == over
        assert [(one.level, one.evaluator, one.group) for one in at.quantification.evaluators] == over
        assert len(at.quantification.systems) == 2 * 3 * 2 * 3  # levels, evaluators, data sets, systems
        assert len(at.agreement) == 6 * len(GROUPS)
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


def bare(rows: Sequence[Row], *names: str) -> list[Row]:
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
    assert (report.data.n_claims, report.at[0].rates) == (0, ())


@pytest.mark.parametrize(
    ("n", "scores", "resamples", "width", "said"),
    [
        (6_000, {"e": 0.5}, 0, 1, "of 1 evaluator, 6,000 systems and 3,000 clusters"),
        (400, {"e": 0.5}, 0, 1_000, "of 1 evaluator, 400 systems"),
        (1_200, {"e": 0.5}, 1_000, 1, "with 1,000 resamples, .* GB, but may use 2 GB"),
        (100, dict.fromkeys(map(str, range(100)), 0.5), 3_000, 1, "100 evaluators, 100 systems"),
    ],
)
def test_an_audit_that_would_fill_the_memory_is_refused(
    n: int, scores: dict[str, float], resamples: int, width: int, said: str
) -> None:
    rows = [Row(number % 2, scores, f"{number:0{width}}", f"r{number}", f"p{number // 2}") for number in range(n)]
    with pytest.raises(DataError, match=said):
        audited(rows, resamples=resamples)


def split(rows: Sequence[Row], keeps: Callable[[Row], object]) -> list[Row]:
    return [row for row in rows if row.dataset == "talk" or keeps(row)]


TWO = "Kendall's and Pearson's coefficients need three systems"


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        (bare(sample_rows(), "document"), ["Wording and chunks: the rows do not contain the text"]),
        (bare(sample_rows(), "prompt"), ["Tests by prompt: without prompt_id"]),
        (bare(sample_rows(), "task"), ["Task groups: the rows have no task."]),
        (
            [replace(row, scores={"good": float((row.scores["good"] or 0) > 0.5)}) for row in sample_rows()],
            ["Chunks: no evaluator", "Agreement between evaluators: there is only one", "good: thresholds cannot"],
        ),
        (split(sample_rows(), lambda row: row.system == "a"), ["news: headroom, ranking and adjustment need two"]),
        (split(sample_rows(), lambda row: row.system != "c"), [f"news: {TWO}"]),
        (split(sample_rows(), lambda row: row.label), ["news: TNR, FPR, balanced accuracy and gap need"]),
        (split(sample_rows(), lambda row: not row.label), ["news: TPR, FNR, balanced accuracy and gap need"]),
        (
            [replace(row, system="unknown") if row.system == "c" else row for row in sample_rows()],
            [
                "news: 24 of 72 claims belong to the `unknown` system.",
                f"news: {TWO}",
                "talk: 24 of 72 claims belong to the `unknown` system.",
                f"talk: {TWO}",
            ],
        ),
    ],
)
def test_what_is_left_out_has_its_reason(rows: list[Row], wanted: list[str]) -> None:
    report = audited(rows)
    assert [said.startswith(start) for said, start in zip(report.left_out, wanted, strict=True)] == [True] * len(wanted)
    assert AuditReport.model_validate_json(to_json(report)) == report


def warned(rows: Sequence[Row], start: str, **options: Any) -> bool:
    return any(said.startswith(start) for said in audited(rows, **options).warnings)


def test_what_weakens_the_figures_is_told() -> None:
    missing = sum(row.scores["weak"] is None for row in sample_rows())
    assert warned(sample_rows(), f"weak: {missing} of 144 claims have no score.")
    assert warned(sample_rows(), "50 resamples give only rough intervals")
    assert warned(sample_rows(), "news: with fewer than 30 prompts or responses (12),")
    assert warned(sample_rows(), "No resamples were requested", resamples=0)
    # of three responses two lack a score, one of them beside a claim that is called wrong
    rows = [Row(1, {"e": 1.0}, response="x"), Row(0, {"e": 0.1}, response="y"), Row(1, {"e": None}, response="y")]
    rows += [Row(1, {"e": 0.9}, response="z"), Row(0, {"e": None}, response="z")]
    assert warned(rows, "e: figures for responses exclude responses with an unscored claim (2), even if another claim")
    # weights of 1 and 4 say as much as 10^2 / 34 = 2.9 that count the same
    rows = [Row(n % 2, {"e": 0.9}, "ab"[n // 2], f"r{n}", probability=0.25 if n % 2 else 1.0) for n in range(4)]
    assert warned(rows, "The 4 claims are as informative as 3 equally weighted ones.")


def test_settings_reach_the_parts() -> None:
    options: dict[str, Any] = {"alpha": 0.2, "p_adjustment": PValueAdjustment.HOLM, "level": 0.8, "seed": 3}
    report = audited(sample_rows(), **options)
    at = report.at[0]
    assert (at.basis.level, at.basis.n_resamples, at.basis.clusters) == (0.8, 50, "prompt")
    assert {(one.alpha, one.p_adjustment) for one in at.rankings} == {(0.2, PValueAdjustment.HOLM)}
    assert {name: getattr(report.settings, name) for name in options} == options
    assert at.rates != audited(sample_rows(), **{**options, "seed": 4}).at[0].rates


E = "judge"


def unmatched(n: int, name: str = "d") -> list[Row]:
    """Claims that hold, each a response to its own prompt, as `data join` writes claims it cannot match."""
    return [Row(1, {E: 1.0}, UNKNOWN_SYSTEM, f"u{place}", f"u{place}", name) for place in range(n)]


def of_system(name: str, n_errors: int, n_flagged: int) -> list[Row]:
    return [Row(int(k >= n_errors), {E: float(k >= n_flagged)}, name, f"{name}{k}", f"p{k}") for k in range(10)]


def test_claims_of_an_unknown_system_count_in_rates_and_take_no_part_in_what_is_said_of_systems() -> None:
    """None of the twenty is wrong, so counting them as a system made headroom 0. For the two systems it is 2 of 10."""
    known = of_system("a", 2, 3) + of_system("b", 5, 5)
    one, other = audited(known, resamples=0), audited(known + unmatched(20), resamples=0)
    (before,), (after,) = one.at, other.at
    assert find(after.quantification.evaluators, E, dataset("d")).headroom_labelled.value == pytest.approx(0.2)
    assert after.quantification.systems == before.quantification.systems
    assert after.quantification.errors == before.quantification.errors
    assert after.quantification.evaluators == before.quantification.evaluators
    assert (after.rankings, after.mean_rankings) == (before.rankings, before.mean_rankings)
    assert (after.adjustment, after.mean_adjustments) == (before.adjustment, before.mean_adjustments)
    assert other.data.systems == ("a", "b")
    assert find(after.rates, E, dataset("d")).n_attributable == 13 + 20
    assert after.agreement[0].attributable.value == pytest.approx((12 + 20) / (13 + 20))
    (over_all,) = (one for one in after.quantification.datasets if one.level is Level.CLAIM)
    assert over_all.labelled.value == pytest.approx(7 / 40)
