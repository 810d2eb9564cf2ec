"""Sentences of advice on constructed evaluators: each says what its numbers do, and rests on enough of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.evaluation.audit.advice import Advice, Leave, Use, advise
from factloop.evaluation.audit.findings import NOT_MEASURED, Finding, Findings
from factloop.evaluation.audit.units import Level
from tests.evaluation.audit.audit_sample import audited
from tests.evaluation.audit.prediction_rows import Row

GOOD = Findings(
    evaluator="judge",
    where="TofuEval",
    tpr=Finding(0.916, 1405, 0.9, 0.93),
    tnr=Finding(0.85, 408, 0.81, 0.88),
    balanced_accuracy=Finding(0.883, 1813, 0.86, 0.9),
    mean_bias=Finding(0.011, 6),
    worst_bias=-0.02,
    headroom_bias=Finding(-0.01, 6, -0.015, 0.005),
    wrong_pairs=Finding(1 / 15, 15),
    reversed_pairs=0.0,
    found_pairs=Finding(0.875, 8),
    tau=Finding(0.867, 6),
    lost_across_chunks=Finding(0.031, 900, 0.02, 0.045),
    tpr_by_wording=Finding(0.916, 1405),
    tnr_by_wording=Finding(0.85, 408),
    tpr_least_similar=Finding(0.86, 200),
    tnr_least_similar=Finding(0.9, 90),
    tnr_most_similar=Finding(0.80, 70),
    tpr_most_similar=Finding(0.95, 300),
)


def on(found: Findings, use: Use) -> Advice:
    return next(advice for advice in advise(found) if advice.use is use)


def test_a_good_evaluator_may_be_used_for_everything() -> None:
    advice = advise(GOOD)
    assert [one.use for one in advice] == list(Use)
    assert {one.leave for one in advice} == {Leave.YES}
    assert on(GOOD, Use.FILTER_CLAIMS).sentence == (
        "judge may be used to sort single claims on TofuEval: it passes 91.6 % (95 % interval 90.0 to 93.0 %, 1,405"
        " claims) of those that hold and stops 85.0 % (95 % interval 81.0 to 88.0 %, 408 claims) of those that do not."
    )
    assert on(GOOD, Use.RANK_SYSTEMS).sentence == (
        "judge may be used to rank systems on TofuEval: its order has Kendall's tau 0.87 with that of the labels"
        " (6 systems)."
    )
    assert on(GOOD, Use.HEADROOM).sentence == (
        "judge may be used to tell how much is left to improve on TofuEval: the lowest error rate comes out 1.0 points"
        " (95 % interval -0.5 to 1.5, 6 systems) lower than it is."
    )


@pytest.mark.parametrize(
    ("change", "use", "leave", "words"),
    [
        ({"tnr": Finding(0.81, 408, 0.77, 0.85)}, Use.FILTER_CLAIMS, Leave.WITH_CARE, "81.0 %"),  # may be below .8
        ({"tnr": Finding(0.525, 408)}, Use.FILTER_CLAIMS, Leave.NO, "stops 52.5 % (408 claims)"),
        ({"tpr": Finding(0.3, 408)}, Use.FILTER_CLAIMS, Leave.NO, "passes 30.0 %"),
        ({"mean_bias": Finding(0.03, 6)}, Use.ERROR_RATE, Leave.WITH_CARE, "off by 3.0 points (6 systems) on average"),
        ({"mean_bias": Finding(0.01, 6, 0.0, 0.03)}, Use.ERROR_RATE, Leave.WITH_CARE, "1.0 points"),
        (
            {"mean_bias": Finding(0.06, 6, 0.0, 0.12)},
            Use.ERROR_RATE,
            Leave.WITH_CARE,
            "6.0 points",
        ),  # or no bias at all
        ({"mean_bias": Finding(0.09, 6, 0.051, 0.12)}, Use.ERROR_RATE, Leave.NO, "interval 5.1 to 12.0"),
        ({"mean_bias": Finding(0.138, 6), "worst_bias": 0.312}, Use.ERROR_RATE, Leave.NO, "and by 31.2 at worst"),
        (
            {"mean_bias": Finding(0.154, 6), "best_adjustment": "zero bias", "adjusted_bias": 0.06, "n_adjusted": 4},
            Use.ERROR_RATE,
            Leave.NO,
            "adjusted on one labelled system by 6.0 (zero bias, the best method here; 4 choices of that system)",
        ),
        (
            {"best_adjustment": "zero bias", "adjusted_bias": 0.06, "unadjusted_bias": 0.182, "n_adjusted": 1},
            Use.ERROR_RATE,
            Leave.YES,
            "adjusted on one labelled system by 6.0 instead of 18.2 there (zero bias, the best method here; 1 choice",
        ),
        ({"headroom_bias": Finding(-0.123, 6)}, Use.HEADROOM, Leave.NO, "12.3 points (6 systems) lower"),
        ({"headroom_bias": Finding(0.0, 6)}, Use.HEADROOM, Leave.YES, "as it is (6 systems)"),
        ({"headroom_bias": Finding(0.03, 6)}, Use.HEADROOM, Leave.WITH_CARE, "higher"),
        ({"wrong_pairs": Finding(0.2, 15)}, Use.COMPARE_SYSTEMS, Leave.WITH_CARE, "20.0 % (15 pairs)"),
        ({"wrong_pairs": Finding(1 / 3, 15)}, Use.COMPARE_SYSTEMS, Leave.NO, "33.3 %"),
        ({"reversed_pairs": 1 / 15}, Use.COMPARE_SYSTEMS, Leave.WITH_CARE, "turns 6.7 % of them round"),
        ({"found_pairs": Finding(0.75, 8)}, Use.COMPARE_SYSTEMS, Leave.WITH_CARE, "of the 8 that differ by the labels"),
        ({"found_pairs": Finding(0.375, 8)}, Use.COMPARE_SYSTEMS, Leave.NO, "it finds 37.5 %"),
        ({"found_pairs": Finding(1.0, 4)}, Use.COMPARE_SYSTEMS, Leave.WITH_CARE, "of the 4 that differ"),
        ({"found_pairs": Finding(0.0, 1)}, Use.COMPARE_SYSTEMS, Leave.WITH_CARE, "it finds 0.0 %"),
        (  # differences where the labels have none
            {"found_pairs": Finding(None, 0), "wrong_pairs": Finding(0.4, 15)},
            Use.COMPARE_SYSTEMS,
            Leave.NO,
            "40.0 % (15 pairs)",
        ),
        ({"found_pairs": Finding(1.0, 4)}, Use.RANK_SYSTEMS, Leave.WITH_CARE, "no more than 4 pairs of them differ"),
        ({"tau": Finding(0.6, 6)}, Use.RANK_SYSTEMS, Leave.WITH_CARE, "0.60"),
        ({"tau": Finding(-0.2, 6, -0.8, 0.4)}, Use.RANK_SYSTEMS, Leave.NO, "(95 % interval -0.80 to 0.40, 6 systems)"),
        ({"lost_across_chunks": Finding(0.07, 900)}, Use.LONG_DOCUMENTS, Leave.WITH_CARE, "7.0 % (900 claims)"),
        ({"lost_across_chunks": Finding(0.21, 900)}, Use.LONG_DOCUMENTS, Leave.NO, "pass no longer"),
        ({"tpr_least_similar": Finding(0.78, 200)}, Use.PARAPHRASED_CLAIMS, Leave.WITH_CARE, "against 91.6 % of all"),
        ({"tpr_least_similar": Finding(0.70, 200)}, Use.PARAPHRASED_CLAIMS, Leave.NO, "passes 70.0 % (200 claims)"),
        ({"tnr_most_similar": Finding(0.75, 70)}, Use.COPIED_CLAIMS, Leave.YES, "stops 75.0 % (70 claims)"),
        ({"tnr_most_similar": Finding(0.5, 70)}, Use.COPIED_CLAIMS, Leave.NO, "against 85.0 % of all"),
        (  # no worse than elsewhere, but bad everywhere
            {"tnr_by_wording": Finding(0.5, 408), "tnr_most_similar": Finding(0.5, 70)},
            Use.COPIED_CLAIMS,
            Leave.NO,
            "stops 50.0 %",
        ),
    ],
)
def test_each_number_decides_its_use(change: dict[str, object], use: Use, leave: Leave, words: str) -> None:
    advice = on(replace(GOOD, **change), use)  # type: ignore[arg-type]  # the cases above have the fields' types
    assert advice.leave is leave
    assert words in advice.sentence
    assert advice.sentence.startswith({Leave.NO: "judge should not"}.get(leave, "judge may"))
    assert (", with care:" in advice.sentence) is (leave is Leave.WITH_CARE)


OPEN_RATE = "; by the interval it may be below 60 %, little better than a coin, or above."
OPEN_TAU = "; by the interval it may be below 0.5, a quarter of the pairs turned round, or above."


@pytest.mark.parametrize(
    ("change", "use", "leave", "end"),
    [
        # 22 of 40 by Wilson: (22 + 1.92) / (40 + 3.84) = 0.546, +- 1.96 sqrt(0.55 * 0.45 / 40 + 0.0006) / 1.096 = 0.147
        ({"tnr": Finding(0.55, 40, 0.398, 0.693)}, Use.FILTER_CLAIMS, Leave.UNKNOWN, OPEN_RATE),
        # 220 of 400: (220 + 1.92) / (400 + 3.84) = 0.550, +- 1.96 sqrt(0.55 * 0.45 / 400 + 0.000006) / 1.0096 = 0.049
        (
            {"tnr": Finding(0.55, 400, 0.501, 0.598)},
            Use.FILTER_CLAIMS,
            Leave.NO,
            "59.8 %, 400 claims) of those that do not.",
        ),
        # 30 of 40 by Wilson: 0.598 to 0.858, and 300 of 400: 0.705 to 0.790; the rate is the same
        ({"tnr": Finding(0.75, 40, 0.598, 0.858)}, Use.FILTER_CLAIMS, Leave.UNKNOWN, OPEN_RATE),
        ({"tnr": Finding(0.75, 400, 0.705, 0.790)}, Use.FILTER_CLAIMS, Leave.WITH_CARE, "of those that do not."),
        (
            {"tpr": Finding(0.3, 40, 0.18, 0.45), "tnr": Finding(0.55, 40, 0.398, 0.693)},
            Use.FILTER_CLAIMS,
            Leave.NO,
            ".",
        ),
        ({"tau": Finding(0.4, 6, -0.1, 0.7)}, Use.RANK_SYSTEMS, Leave.UNKNOWN, OPEN_TAU),
        ({"tau": Finding(0.6, 6, 0.5, 0.7)}, Use.RANK_SYSTEMS, Leave.WITH_CARE, "6 systems)."),
    ],
)
def test_a_rate_or_an_order_is_called_poor_by_its_interval(
    change: dict[str, object], use: Use, leave: Leave, end: str
) -> None:
    advice = on(replace(GOOD, **change), use)  # type: ignore[arg-type]  # the cases above have the fields' types
    assert advice.leave is leave
    assert advice.sentence.endswith(end)


@pytest.mark.parametrize(
    ("field", "use", "figure", "words"),
    [
        ("tnr", Use.FILTER_CLAIMS, Finding(1.0, 29), "too few claims of each kind (29, and it takes 30)"),
        ("tnr", Use.FILTER_CLAIMS, Finding(None, 1), "too few claims of each kind (1, and it takes 30)"),
        ("tnr", Use.FILTER_CLAIMS, Finding(1.0, 80, n_clusters=9), "too few prompts or responses (9, and it takes 10)"),
        ("mean_bias", Use.ERROR_RATE, Finding(0.0, 2), "too few systems (2, and it takes 3)"),
        ("headroom_bias", Use.HEADROOM, NOT_MEASURED, "it was not measured"),
        ("wrong_pairs", Use.COMPARE_SYSTEMS, Finding(0.0, 6), "too few pairs of systems (6, and it takes 10)"),
        (
            "found_pairs",
            Use.COMPARE_SYSTEMS,
            Finding(None, 0),
            "the labels tell no two systems apart in any of 15 pairs",
        ),
        ("found_pairs", Use.RANK_SYSTEMS, Finding(None, 0), "so that their own order may be chance"),
        ("tau", Use.RANK_SYSTEMS, Finding(1.0, 4), "too few systems (4, and it takes 5)"),
        ("tau", Use.RANK_SYSTEMS, Finding(None, 6), "it is undefined here"),
        ("lost_across_chunks", Use.LONG_DOCUMENTS, NOT_MEASURED, "it was not measured"),
        ("tpr_least_similar", Use.PARAPHRASED_CLAIMS, Finding(0.9, 12), "too few such claims (12, and it takes 30)"),
        ("tpr_by_wording", Use.PARAPHRASED_CLAIMS, NOT_MEASURED, "it was not measured"),
        ("tnr_most_similar", Use.COPIED_CLAIMS, Finding(None, 40), "it is undefined here"),
    ],
)
def test_too_little_decides_nothing(field: str, use: Use, figure: Finding, words: str) -> None:
    advice = on(replace(GOOD, **{field: figure}), use)  # type: ignore[arg-type]  # fields of figures
    assert advice.leave is Leave.UNKNOWN
    assert advice.sentence.startswith("Whether judge may be used")
    assert words in advice.sentence


def test_nothing_measured_says_so_for_every_use() -> None:
    advice = advise(Findings(evaluator="judge", where="all data sets"))
    assert [one.leave for one in advice] == [Leave.UNKNOWN] * len(Use)
    assert all(one.sentence.endswith("is not known: it was not measured.") for one in advice)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.2), st.integers(30, 500))
def test_a_better_or_surer_evaluator_is_never_allowed_less(one: float, other: float, width: float, n: int) -> None:
    caution = [Leave.NO, Leave.UNKNOWN, Leave.WITH_CARE, Leave.YES]

    def leave(tnr: float, width: float) -> int:
        figure = Finding(tnr, n, max(0.0, tnr - width), min(1.0, tnr + width))
        return caution.index(on(replace(GOOD, tnr=figure), Use.FILTER_CLAIMS).leave)

    worse, better = sorted((one, other))
    assert leave(worse, width) <= leave(better, width)
    told = leave(better, width)
    assert caution[told] is Leave.UNKNOWN or told <= leave(better, 0.0)  # what is not known may prove bad
    assert caution[told] is not Leave.NO or caution[leave(better, 0.0)] is Leave.NO


def test_a_magnitude_keeps_its_interval() -> None:
    assert Finding(-0.3, 5, -0.4, -0.1).magnitude == Finding(0.3, 5, 0.1, 0.4)
    assert Finding(-0.1, 5, -0.4, 0.2).magnitude == Finding(0.1, 5, 0.0, 0.4)
    assert Finding(-0.1, 5).magnitude == Finding(0.1, 5)
    with pytest.raises(ValueError, match="no value"):
        _ = Finding(None, 5).magnitude


def test_an_evaluator_that_passes_everything_is_not_said_to_tell_systems_apart() -> None:
    """Six systems alike by label: no pair differs by labels, nor by a score that is the same for every claim."""
    rows = [
        Row(int(claim > 0), {"constant": 1.0}, system, f"{system}{prompt}", f"p{prompt}")
        for system in "abcdef"
        for prompt in range(20)
        for claim in range(5)
    ]
    report = audited(rows)
    (ranking,) = (one for one in report.at[0].rankings if one.level is Level.CLAIM)
    assert (ranking.n_pairs, ranking.n_wrong) == (15, 0)
    said = {one.use: one for one in report.advice[0].advice}
    assert said[Use.COMPARE_SYSTEMS].leave is Leave.NO
    assert "its balanced accuracy of 50.0 %" in said[Use.COMPARE_SYSTEMS].sentence


NEAR_CHANCE = (
    "its balanced accuracy of 50.6 % (95 % interval 49.2 to 51.9 %, 866 claims) is not shown to be above that of a coin"
)


@pytest.mark.parametrize("use", list(Use))
def test_an_evaluator_no_better_than_chance_may_be_used_for_nothing(use: Use) -> None:
    """Whatever the figure of the use itself is: all of the good evaluator's allow it."""
    accuracy = Finding(0.506, 866, 0.492, 0.519)
    advice = on(replace(GOOD, balanced_accuracy=accuracy), use)
    assert advice.leave is Leave.NO
    assert advice.sentence.endswith(f"; but {NEAR_CHANCE}.")
    assert on(replace(GOOD, balanced_accuracy=replace(accuracy, low=0.501)), use).leave is Leave.YES


def test_where_the_use_was_not_measured_chance_is_the_only_reason() -> None:
    found = replace(GOOD, balanced_accuracy=Finding(0.506, 866, 0.492, 0.519), tau=NOT_MEASURED)
    advice = on(found, Use.RANK_SYSTEMS)
    assert advice.leave is Leave.NO
    assert advice.sentence == f"judge should not be used to rank systems on TofuEval: {NEAR_CHANCE}."


def test_poor_figures_stand_before_the_reason_that_lies_in_chance() -> None:
    found = replace(GOOD, balanced_accuracy=Finding(0.506, 866, 0.492, 0.519), mean_bias=Finding(0.3, 4, 0.2, 0.4))
    advice = on(found, Use.ERROR_RATE)
    assert advice.leave is Leave.NO
    assert "off by 30.0 points" in advice.sentence
    assert advice.sentence.endswith(f"; and {NEAR_CHANCE}.")


@pytest.mark.parametrize(("accuracy", "leave"), [(0.5, Leave.NO), (0.501, Leave.YES), (0.43, Leave.NO)])
def test_without_an_interval_the_balanced_accuracy_itself_decides(accuracy: float, leave: Leave) -> None:
    advice = advise(replace(GOOD, balanced_accuracy=Finding(accuracy, 866)))
    assert {one.leave for one in advice} == {leave}


@pytest.mark.parametrize("use", list(Use))
def test_with_too_few_claims_of_a_kind_nothing_is_allowed(use: Use) -> None:
    advice = on(replace(GOOD, tnr=Finding(0.9, 12)), use)
    assert advice.leave is Leave.UNKNOWN
    assert "too few claims of each kind (12, and it takes 30)" in advice.sentence


@pytest.mark.parametrize(
    ("change", "use", "words"),
    [
        ({"tpr_most_similar": Finding(0.04, 139)}, Use.COPIED_CLAIMS, "passes 4.0 % (139 claims) of those there that"),
        ({"tnr_least_similar": Finding(0.3, 40)}, Use.PARAPHRASED_CLAIMS, "stops 30.0 % (40 claims) of those there"),
        (  # too few there: all of them count
            {"tnr_least_similar": Finding(1.0, 9), "tnr_by_wording": Finding(0.3, 40)},
            Use.PARAPHRASED_CLAIMS,
            "stops 30.0 % (40 claims) of all that do not.",
        ),
        ({"tpr": Finding(0.3, 400)}, Use.LONG_DOCUMENTS, "but it does not sort single claims well enough"),
    ],
)
def test_claims_of_both_kinds_count_where_they_are_taken_one_by_one(
    change: dict[str, object], use: Use, words: str
) -> None:
    advice = on(replace(GOOD, **change), use)  # type: ignore[arg-type]  # the cases above have the fields' types
    assert advice.leave is Leave.NO
    assert words in advice.sentence


def test_an_evaluator_that_rejects_nearly_everything_is_not_allowed_for_copied_claims() -> None:
    """It passes 2 of 60 true claims and 1 of 60 false ones, at any wording: TPR 3.3 %, TNR 98.3 %."""
    rows = []
    for place in range(120):
        words = [f"w{place}{letter}" for letter in "abcdef"]
        claim = " ".join(words if place % 4 < 2 else [*words[:3], "other", "words", "here"])
        score = 1.0 if place in (0, 2, 61) else 0.0
        document = " ".join(words)
        rows.append(Row(place % 2, {"judge": score}, "abc"[place % 3], f"r{place}", None, "d", None, claim, document))
    report = audited(rows, resamples=200)
    told = report.advice[0].advice
    assert [one.use for one in told if one.leave is not Leave.NO] == []
    assert all("is not shown to be above that of a coin" in one.sentence for one in told)
