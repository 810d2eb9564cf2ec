"""The whole audit: what it holds, what it leaves out and why, and that nothing but the claims decides its figures."""

from __future__ import annotations

import json
import os
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factloop.core.figure import Undefined
from factloop.core.files.json import to_json
from factloop.evaluation.audit.adjustment_records import AdjustmentMethod, MethodMean
from factloop.evaluation.audit.advice import Leave, Use
from factloop.evaluation.audit.estimate import AuditFigure, Group
from factloop.evaluation.audit.findings import NOT_MEASURED
from factloop.evaluation.audit.quantification import EvaluatorBias
from factloop.evaluation.audit.rates import EvaluatorRates
from factloop.evaluation.audit.reading import best_method, findings_of
from factloop.evaluation.audit.report import AuditReport
from factloop.evaluation.audit.units import Level
from factloop.evaluation.audit.views import sheets
from factloop.evaluation.audit.views.scope import Scope
from factloop.evaluation.datasets.tofueval import load_tofueval
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


def test_what_was_audited_is_told(report: AuditReport) -> None:
    data = report.data
    assert (data.name, data.n_claims, data.n_responses, data.n_prompts) == ("sample", 144, 72, 24)
    assert (data.datasets, data.systems, data.evaluators) == (("news", "talk"), ("a", "b", "c"), tuple(NAMES))
    assert (data.tasks, data.task_of) == (("answers", "summaries"), {"news": "summaries", "talk": "answers"})
    assert data.has_text
    missing = sum(row.scores["weak"] is None for row in sample_rows())
    assert report.warnings[0].startswith(
        f"weak gave no score to {missing:,} of 144 claims ({100 * missing / 144:.1f} %)"
    )


def test_pooled_groups_are_told_from_averaged_ones(report: AuditReport) -> None:
    at = report.at[0]
    averaged: list[list[Group]] = [
        [one.group for one in part] for part in (at.rates.rates, at.quantification.evaluators)
    ]
    averaged += [[one.group for one in at.agreement.pairs], [one.group for one in at.mean_rankings]]
    averaged += [[one.group for one in at.mean_adjustments]]
    assert not any(group.pooled for groups in averaged for group in groups)
    groups = [*(one.group for one in at.surface), *(one.group for one in at.chunking)]
    assert all(group.pooled == (group.kind != "dataset") for group in groups)
    pooled = next(one for one in at.surface if one.group == Group(kind="all", pooled=True))
    assert pooled.n + pooled.n_no_similarity + pooled.n_unscored == 144


def test_both_thresholds_draw_the_same_resamples() -> None:
    """The labels alone decide these figures, so that their intervals are the same."""
    one, other = audited(sample_rows(), threshold=0.7).at
    assert one.quantification.errors == other.quantification.errors
    assert one.rates != other.rates
    assert audited(sample_rows(), threshold=0.5).settings.thresholds == (0.5,)


def test_the_same_rows_give_the_same_bytes_in_any_order(report: AuditReport) -> None:
    rows = sample_rows()
    Random(1).shuffle(rows)
    assert to_json(audited(rows, threshold=0.7)) == to_json(report)
    assert AuditReport.model_validate_json(to_json(report)) == report


def test_settings_reach_the_parts() -> None:
    options: dict[str, Any] = {
        "alpha": 0.2,
        "p_adjustment": PValueAdjustment.HOLM,
        "level": 0.8,
        "resamples": 20,
        "seed": 3,
    }
    options["system_groups"] = {"small": ("a", "b")}
    report = audited(sample_rows(), **options)
    at = report.at[0]
    assert (at.rates.basis.level, at.rates.basis.n_resamples, at.rates.basis.clusters) == (0.8, 20, "prompt")
    assert {(one.alpha, one.p_adjustment) for one in at.rankings} == {(0.2, PValueAdjustment.HOLM)}
    assert report.settings.model_dump() == {"thresholds": (0.5,), "n_resamples": 20, **without(options, "resamples")}
    assert any("With 20 resamples" in warning for warning in report.warnings)
    assert at.rates != audited(sample_rows(), **{**options, "seed": 4}).at[0].rates


def without(fields: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != name}


def test_without_resamples_there_are_no_intervals() -> None:
    report = audited(sample_rows(), resamples=0)
    assert '"low": 0' not in json.dumps(json.loads(to_json(report))["at"][0]["rates"])
    assert report.at[0].rates.basis.n_resamples == 0
    assert "No resamples were asked for, so there are no intervals." in report.warnings


def bare(rows: Sequence[Row], *names: str) -> list[Row]:
    """The row without these fields."""
    nothing: dict[str, Any] = dict.fromkeys(names)
    return [replace(row, **nothing) for row in rows]


@pytest.mark.parametrize(
    ("rows", "reasons"),
    [
        (bare(sample_rows(), "document"), ["Surface similarity: the rows have no claims with their documents.",
         "Chunking: the rows have no claims with their documents."]),
        (bare(sample_rows(), "prompt"), ["Tests by prompt: the rows have no prompt_id; systems are compared and "
         "resampled by whole responses."]),
        (bare(sample_rows(), "task"), ["Task groups: the rows have no task."]),
        ([replace(row, scores={"good": row.scores["good"]}) for row in sample_rows()],
         ["Chunking: no evaluator has a second column of scores on chunks, named as NAME@500 beside NAME.",
          "Agreement of evaluators: there is one; it is compared with the labels alone."]),
        ([row for row in sample_rows() if row.system == "a" or row.dataset == "talk"],
         ["Headroom, ranking and adjustment on news: there is one system."]),
        ([row for row in sample_rows() if row.system != "c" or row.dataset == "talk"],
         ["Kendall's and Pearson's coefficients on news: there are two systems, and it takes three."]),
        ([row for row in sample_rows() if row.label or row.dataset == "talk"],
         ["TNR, FPR, balanced accuracy and gap on news: no claim is labelled unattributable."]),
        ([row for row in sample_rows() if not row.label or row.dataset == "talk"],
         ["TPR, FNR, balanced accuracy and gap on news: no claim is labelled attributable."]),
    ],
)  # fmt: skip
def test_what_is_left_out_has_its_reason(rows: list[Row], reasons: list[str]) -> None:
    report = audited(rows)
    assert list(report.left_out) == reasons
    assert AuditReport.model_validate_json(to_json(report)) == report


def test_scores_of_0_and_1_have_no_threshold_to_tune() -> None:
    rows = [
        replace(row, scores={**row.scores, "good": float((row.scores["good"] or 0) > 0.5)}) for row in sample_rows()
    ]
    assert audited(rows).left_out == ("Tuned thresholds of good: all its scores are 0 or 1.",)


def advice_of(report: AuditReport, evaluator: str, group: Group = ALL) -> dict[Use, tuple[Leave, str]]:
    found = next(one for one in report.advice if (one.evaluator, one.group) == (evaluator, group))
    return {one.use: (one.leave, one.sentence) for one in found.advice}


def test_one_system_is_not_ranked_and_one_class_has_no_balanced_accuracy() -> None:
    rows = [Row(1, {"e": 0.3 if place % 5 else 0.9}, "only", f"r{place}") for place in range(40)]
    report = audited(rows)
    at = report.at[0]
    rates = at.rates.find("e", dataset("d"))
    assert (rates.tpr.value, rates.tnr.undefined) == (0.2, Undefined.NO_UNATTRIBUTABLE)
    assert rates.balanced_accuracy.value is None
    bias = at.quantification.find("e", dataset("d"))
    assert bias.mean_absolute.value == pytest.approx(0.8)
    assert bias.headroom_bias.undefined is Undefined.ONE_SYSTEM
    (ranking,) = [one for one in at.rankings if one.level is Level.CLAIM]
    assert (ranking.share_wrong, ranking.kendall.value, ranking.n_pairs) == (None, None, 0)
    assert at.adjustment[0].calibrations == ()
    assert {one.mean_bias for one in at.mean_adjustments[0].methods} == {None}
    assert {leave for leave, _ in advice_of(report, "e").values()} == {Leave.UNKNOWN}
    assert "too few systems (1, and it takes 3)" in advice_of(report, "e")[Use.ERROR_RATE][1]
    assert (
        "too few claims of each kind (0, and it takes 30)" in advice_of(report, "e", dataset("d"))[Use.FILTER_CLAIMS][1]
    )
    assert "too few pairs of systems (0, and it takes 10)" in advice_of(report, "e")[Use.COMPARE_SYSTEMS][1]


def test_an_evaluator_without_half_the_scores_is_compared_on_what_it_scored() -> None:
    """e passes all of a's even claims and none of its odd ones, but has scores of the even ones alone."""
    rows = [
        Row(place % 2, {"e": None if place % 2 else 1.0, "f": float(place % 2)}, system, f"{system}{place}")
        for system in "ab"
        for place in range(20)
    ]
    report = audited(rows)
    e, f = (report.at[0].rates.find(name, ALL) for name in "ef")
    assert (e.n_unscored, e.tnr.value, e.tpr.undefined) == (20, 0.0, Undefined.NO_DATASET)
    assert (f.n_unscored, f.balanced_accuracy.value) == (0, 1.0)
    assert report.warnings[0].startswith("e gave no score to 20 of 40 claims (50.0 %)")


def test_advice_rests_on_the_figures_of_its_group(report: AuditReport) -> None:
    at = report.at[0]
    for group in GROUPS:
        rates, bias = at.rates.find("weak", group), at.quantification.find("weak", group)
        said = advice_of(report, "weak", group)
        assert rates.tpr.value is not None
        assert rates.tnr.value is not None
        assert bias.mean_absolute.value is not None
        assert "too few" in said[Use.FILTER_CLAIMS][1] or f"{100 * rates.tpr.value:.1f} %" in said[Use.FILTER_CLAIMS][1]
        assert f"off by {100 * bias.mean_absolute.value:.1f} points" in said[Use.ERROR_RATE][1]
    worst = max(at.quantification.find("weak", group).worst_absolute.value or 0 for group in GROUPS[:2])
    assert f"and by {100 * worst:.1f} at worst" in advice_of(report, "weak")[Use.ERROR_RATE][1]
    whole = next(one for one in at.chunking if one.group.kind == "all")
    assert whole.across.n_passed is not None
    lost = whole.across.n_lost / whole.across.n_passed
    assert whole.across.n_passed < whole.across.n
    for name in ("weak", "weak@6"):
        assert f"{100 * lost:.1f} % (" in advice_of(report, name)[Use.LONG_DOCUMENTS][1]
    assert "was not measured" in advice_of(report, "good")[Use.LONG_DOCUMENTS][1]
    best = min((one for one in at.mean_adjustments[2].methods[1:]), key=lambda one: one.mean_bias or 0)
    assert at.mean_adjustments[2].group == ALL
    assert f"by {100 * (best.mean_bias or 0):.1f} instead of" in advice_of(report, "good")[Use.ERROR_RATE][1]


def test_wording_is_read_from_the_outermost_bins(report: AuditReport) -> None:
    at = report.at[0]
    whole = next(one for one in at.surface if (one.evaluator, one.group.kind) == ("weak", "all"))
    bins = [one for one in whole.bins if one.low is not None]
    found = findings_of(at, "weak", ALL, ["news", "talk"], 0.95)
    assert (found.tpr_least_similar.value, found.tpr_least_similar.n) == (bins[0].tpr, bins[0].n_attributable)
    assert (found.tnr_most_similar.value, found.tnr_most_similar.n) == (bins[-1].tnr, bins[-1].n_unattributable)
    assert bins[0].tpr != bins[-1].tpr
    alike = audited([replace(row, claim=row.document) for row in sample_rows()], resamples=0)
    found = findings_of(alike.at[0], "weak", ALL, ["news", "talk"], 0.95)
    assert found.tpr_least_similar is found.tnr_most_similar is NOT_MEASURED


def test_a_headroom_bias_that_cancels_out_is_not_taken_for_none() -> None:
    """The lowest rate is .5 by labels on both data sets; predicted are .3 on one, .7 on the other."""
    rows = [
        Row(int(place >= 10), {"e": float(place >= flagged)}, system, f"{system}{place}", None, name)
        for name, flagged in (("x", 6), ("y", 14))
        for system in "abc"
        for place in range(20)
    ]
    leave, sentence = advice_of(audited(rows), "e")[Use.HEADROOM]
    assert leave is Leave.NO
    assert "comes out as it is (6 systems) on average, and 19.9 points (95 % interval" in sentence
    assert "off in one direction or the other" in sentence


def test_adjustments_are_averaged_over_data_sets(report: AuditReport) -> None:
    at = report.at[0]
    over_all = next(one for one in at.mean_adjustments if (one.evaluator, one.group) == ("good", ALL))
    singles = [one for one in at.adjustment if one.evaluator == "good"]
    for place, method in enumerate(AdjustmentMethod):
        values = [one.methods[place].mean_bias or 0.0 for one in singles]
        assert over_all.methods[place].method is method
        assert over_all.methods[place].mean_bias == pytest.approx(sum(values) / 2)
        assert over_all.methods[place].n_datasets == 2


def renamed(rows: Sequence[Row]) -> list[Row]:
    """Other names for systems and data sets, which sort the other way round."""
    systems, datasets = dict(zip("abc", "zyx", strict=True)), {"x": "n", "y": "m"}
    return [replace(row, system=systems[row.system], dataset=datasets[row.dataset]) for row in rows]


def figures(report: AuditReport) -> dict[str, Any]:
    """The figures that depend on no name, and on no number of equal claims."""
    at = report.at[0]
    points: dict[str, Any] = {}
    both: list[EvaluatorRates | EvaluatorBias] = [*at.rates.rates, *at.quantification.evaluators]
    for one in both:
        if one.group.kind == "all":
            for name, value in one:
                if isinstance(value, AuditFigure):
                    points[f"{one.evaluator} {one.level} {name}"] = value.value
    for mean in at.mean_rankings:
        points[f"{mean.evaluator} {mean.level} tau"] = mean.kendall
    for adjusted in at.mean_adjustments:
        for method in adjusted.methods:
            points[f"{adjusted.evaluator} {method.method}"] = method.mean_bias
    return points


@given(row_lists())
@HALF
def test_names_decide_nothing(rows: list[Row]) -> None:
    one, other = audited(rows, resamples=0), audited(renamed(rows), resamples=0)
    assert figures(one) == pytest.approx(figures(other), nan_ok=True)
    for mean, renamed_mean in zip(one.at[0].mean_rankings, other.at[0].mean_rankings, strict=True):
        assert mean.share_wrong == pytest.approx(renamed_mean.share_wrong)
        assert mean.share_reversed == pytest.approx(renamed_mean.share_reversed)


@given(row_lists(has_prompts=True))
@HALF
def test_doubling_all_claims_changes_no_point_estimate(rows: list[Row]) -> None:
    again = [replace(row, response=f"{row.response}'", prompt=f"{row.prompt}'") for row in rows]
    assert figures(audited(rows, resamples=0)) == pytest.approx(
        figures(audited([*again, *rows], resamples=0)), nan_ok=True
    )


@given(row_lists(has_prompts=True), st.randoms(use_true_random=False))
@HALF
def test_the_order_of_rows_changes_nothing(rows: list[Row], random: Random) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert to_json(audited(rows, resamples=10)) == to_json(audited(shuffled, resamples=10))


def test_an_evaluator_that_agrees_with_the_labels_may_do_everything_measured() -> None:
    rows = [
        Row(int(place % 10 >= errors), {"e": 0.9 if place % 10 >= errors else 0.1}, f"s{errors}", f"{errors} {place}")
        for errors in range(1, 7)
        for place in range(200)
    ]
    report = audited(rows)
    said = advice_of(report, "e")
    assert [use for use, (leave, _) in said.items() if leave is Leave.YES] == [
        Use.FILTER_CLAIMS, Use.ERROR_RATE, Use.HEADROOM, Use.COMPARE_SYSTEMS, Use.RANK_SYSTEMS,
    ]  # fmt: skip
    assert {said[use][0] for use in (Use.LONG_DOCUMENTS, Use.PARAPHRASED_CLAIMS, Use.COPIED_CLAIMS)} == {Leave.UNKNOWN}


def test_no_rows_are_no_failure() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = audited([])
    assert (report.data.n_claims, report.advice) == (0, ())


PUBLISHED = {
    "Model-Extra": (19.2, 49.0),
    "model_A": (19.7, 38.1),
    "model_B": (20.4, 41.9),
    "model_C": (20.0, 39.4),
    "model_D": (18.6, 37.5),
    "model_E": (19.3, 38.5),
}
"""Error rates in per cent on TofuEval MediaSum, of claims and of responses (Godbole & Jia, appendix A.4)."""


def test_the_published_error_rates_through_the_audit() -> None:
    path = DATA / "tofueval_mediasum_dev.jsonl"
    if not path.is_file():
        pytest.skip(f"labelled data not found in {DATA}: set FACTLOOP_DATA")
    rows = [
        Row(
            one.label,
            {"labels": float(one.label)},
            one.system,
            f"{one.doc_id} {one.topic}",
            f"{one.doc_id} {one.topic}",
        )
        for one in load_tofueval(path)
    ]
    report = audited(rows)
    found = report.at[0].quantification
    rates = {
        system: tuple(round(100 * (found.error_rate("d", system, level).value or 0), 1) for level in Level)
        for system in PUBLISHED
    }
    assert rates == PUBLISHED
    assert found.find("labels", ALL).worst_absolute.value == 0.0
    assert report.data.n_claims == 1813


def test_error_rates_in_a_table_of_our_own() -> None:
    """a: claims 1 of 4 wrong, responses 1 of 2; b: 3 of 6 and 2 of 3, of which e flags 2 claims, in 1 response."""
    marks = {"a": ["11 01", "11 11"], "b": ["00 00 11", "01 11", "11"]}
    rows = [
        Row(int(mark[0]), {"e": float(mark[1])}, system, f"{place}")
        for system, responses in marks.items()
        for place, response in enumerate(responses)
        for mark in response.split()
    ]
    found = audited(rows).at[0].quantification
    assert [
        (one.level.value, one.system, one.labelled.value, one.predicted.value) for one in found.systems
    ] == [
        ("claim", "a", 1 / 4, 0.0),
        ("claim", "b", 3 / 6, 2 / 6),
        ("response", "a", 1 / 2, 0.0),
        ("response", "b", 2 / 3, 1 / 3),
    ]  # fmt: skip


def test_wording_is_held_against_the_same_claims() -> None:
    """All of a large data set pass half the time, all of a small one always, whatever their wording."""
    rows = [
        Row(
            1,
            {"e": float(name == "small" or place % 2)},
            "a",
            f"{place}",
            f"p{place}",
            name,
            None,
            claim,
            "to be or not",
        )
        for name, n in (("large", 400), ("small", 40))
        for place in range(n)
        for claim in ("to be or not", "or be it so")
    ]
    found = findings_of(audited(rows).at[0], "e", ALL, ["large", "small"], 0.95)
    assert found.tpr.value == pytest.approx(0.75)  # (1 / 2 + 1) / 2
    # 2 x (200 + 40) of 2 x 440 in both bins together, and 240 of 440 in the lower
    assert found.tpr_by_wording.value == pytest.approx(240 / 440)
    assert found.tpr_least_similar.value == pytest.approx(240 / 440)


def test_headroom_rests_on_systems_that_were_compared() -> None:
    """Two systems on x, one on y: the headroom of both is that of x."""
    rows = [
        Row(place % 2, {"e": float(place % 2 or place % 5 == 0)}, system, f"{system}{place}", f"p{place}", name)
        for name, systems in (("x", "ab"), ("y", "c"))
        for system in systems
        for place in range(40)
    ]
    _, sentence = advice_of(audited(rows), "e")[Use.HEADROOM]
    assert "too few systems (2, and it takes 3)" in sentence


def test_a_method_that_fails_on_most_systems_is_not_the_best() -> None:
    rarely = MethodMean(
        method=AdjustmentMethod.ADJUSTED_COUNTS, mean_bias=0.01, worst_bias=0.01,
        unadjusted_mean_bias=0.2, unadjusted_worst_bias=0.2, n_calibrations=1, n_undefined=5,
    )  # fmt: skip
    always = rarely.model_copy(
        update={"method": AdjustmentMethod.ZERO_BIAS, "mean_bias": 0.05, "n_calibrations": 6, "n_undefined": 0}
    )
    assert best_method([rarely, always]) is always


def test_few_prompts_are_warned_of() -> None:
    rows = [
        Row(place % 2, {"e": float(place % 3 > 0)}, "a", f"{place}", f"p{place}", name)
        for name, n in (("few", 29), ("enough", 30))
        for place in range(n)
    ]
    assert audited(rows).warnings == (
        "With 50 resamples the ends of intervals are rough; take 1,000 or more.",
        "Fewer than 30 prompts, so that intervals are too narrow: few (29).",
    )


def test_responses_left_out_though_their_verdict_shows_are_named() -> None:
    """Of three responses two lack a score, one of them beside a claim that is called wrong."""
    rows = [Row(1, {"e": 1.0}, response="x"), Row(0, {"e": 0.1}, response="y"), Row(1, {"e": None}, response="y")]
    rows += [Row(1, {"e": 0.9}, response="z"), Row(0, {"e": None}, response="z")]
    said = " ".join(audited(rows).warnings)
    assert "2 of 3 responses have a claim without a score and are left out of all figures of responses" in said
    assert "1 of them with another claim that it calls wrong" in said


def test_an_audit_of_drawn_claims_says_which_tables_weigh_them() -> None:
    """Four claims, drawn with 1 and 1/4: weights 1, 4, 1, 4 say as much as 10^2 / 34 = 2.9 that count the same."""
    rows = [Row(n % 2, {"e": 0.9}, "ab"[n // 2], f"r{n}", probability=0.25 if n % 2 else 1.0) for n in range(4)]
    report = audited(rows)
    assert report.at[0].rates.basis.n_effective == pytest.approx(100 / 34)
    (warning,) = (one for one in report.warnings if "`probability`" in one)
    assert "so that 4 claims say as much as 3 drawn alike. All else (responses," in warning
    scope = Scope(report.at[0], dataset("d"))
    assert sheets.rates(scope).title == "How often it is right, %; claims weighted"
    assert sheets.ranking(scope).title == "Order of systems; unweighted"
    shown = Scope(audited([replace(row, probability=None) for row in rows]).at[0], dataset("d"))
    assert sheets.rates(shown).title == "How often it is right, %"
