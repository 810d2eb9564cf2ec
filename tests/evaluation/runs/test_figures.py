from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, confusion_matrix, recall_score  # type: ignore[import-untyped]
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

from factloop.core.figure import Undefined
from factloop.core.records import Claim, Counts, Judgement, UnscoredReason, Verdict
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.runs.label_agreement import (
    LabelTable,
    SystemAgreement,
    TabledResponse,
    agree_with_labels,
    table_of,
)
from factloop.evaluation.runs.longform import (
    AbstentionPolicy,
    CountedResponse,
    KRule,
    LongFormScores,
    PromptFigure,
    choose_ks,
    f1_curve,
    score_long_form,
)

ZERO, EXCLUDE = AbstentionPolicy.ZERO, AbstentionPolicy.EXCLUDE


def answer(prompt: object, s: int = 0, n: int = 0, *, ir: int = 0, un: int = 0, system: str = "a") -> CountedResponse:
    counts = Counts(supported=s, not_supported=n, irrelevant=ir, unscored=un)
    return CountedResponse(system=system, prompt_id=str(prompt), counts=counts)


# F1@4 of each answer by hand:
#   p1: S=2 N=2: precision 1/2, recall 2/4 -> F1 1/2        p2: S=4 N=1: 4/5, 1 -> 2*.8/1.8 = 8/9
#   p3: nothing claimed (abstained)                         p4: S=0 N=3: 0, 0 -> 0
#   p5: only irrelevant: no precision, recall 0 -> 0        p6: every claim unscored: left out
RUN = [answer(1, 2, 2), answer(2, 4, 1, ir=3), answer(3), answer(4, 0, 3), answer(5, ir=2), answer(6, un=4)]


def only(scores: LongFormScores) -> Any:
    (system,) = scores.systems
    return system


def test_a_run_by_hand() -> None:
    system = only(score_long_form(RUN, [4], abstention=EXCLUDE))
    assert system.at_k[0].f1.value == pytest.approx((1 / 2 + 8 / 9 + 0 + 0) / 4)
    assert system.at_k[0].recall.value == pytest.approx((2 / 4 + 1 + 0 + 0) / 4)
    assert system.precision.value == pytest.approx((1 / 2 + 4 / 5 + 0) / 3)
    assert (system.at_k[0].f1.n, system.precision.n) == (4, 3)
    assert (system.n_responses, system.n_abstained, system.n_unscored_responses) == (6, 1, 1)
    assert system.counts == Counts(supported=6, not_supported=6, irrelevant=5, unscored=4)
    assert (system.at_k[0].f1.low, system.at_k[0].f1.high) == (None, None)


def test_shares_of_answers_by_hand() -> None:
    answers = [answer(1, 2, ir=1), answer(2, 2, 1, un=1), answer(3, 1, un=1), answer(4), answer(5, un=1), answer(6, 3)]
    judged = [one.model_copy(update={"eligible": place < 4}) for place, one in enumerate(answers)]
    plain, found = (
        only(score_long_form([*given, answer(7, 1)], [4], abstention=ZERO, rng=np.random.default_rng(0)))
        for given in (answers, judged)
    )
    for share, n_full, n in (
        (plain.fully_supported, 3, 4),  # 1, 0, unscored, nothing to support, unscored, 1, 1
        (found.fully_supported, 3, 4),
        (found.eligible_and_supported, 2, 5),  # 1, 0, unscored, 1, 0, 0, eligibility unknown
    ):
        assert (share.value, share.n) == (n_full / n, n)
        assert share.interval == pytest.approx(proportion_confint(n_full, n, method="wilson"))
    assert plain.eligible_and_supported is None
    assert found.precision.value == pytest.approx((1 + 2 / 3 + 1 + 0 + 1) / 5)


def test_k_is_chosen_from_the_run() -> None:
    excluded = score_long_form(RUN, ["median", "maximum", 64], abstention=EXCLUDE)
    # supported: 2, 4, 0, 0 -> median 1, maximum 4; with the abstention 2, 4, 0, 0, 0 -> median 0, and K is at least 1
    assert [(choice.k, choice.rule) for choice in excluded.ks] == [
        (1, KRule.MEDIAN),
        (4, KRule.MAXIMUM),
        (64, KRule.GIVEN),
    ]
    assert choose_ks([answer(1, 2), answer(2, 3)], ["median"])[0].k == 3  # 2.5, rounded up
    assert [choice.k for choice in choose_ks([], ["median", "maximum"])] == [1]
    assert [choice.rule for choice in choose_ks(RUN, [4, "maximum", 4])] == [KRule.GIVEN]


def test_nothing_scored_is_none() -> None:
    system = only(score_long_form([answer(1), answer(2, un=1)], [4], abstention=EXCLUDE, rng=np.random.default_rng(1)))
    assert (system.at_k[0].f1.value, system.at_k[0].f1.low, system.precision.value) == (None, None, None)
    assert (system.n_abstained, system.n_unscored_responses, system.at_k[0].f1.n) == (1, 1, 0)
    assert score_long_form([], [4], abstention=ZERO, rng=np.random.default_rng(1)).systems == ()


def test_systems_are_ranked_at_each_k() -> None:
    few_right = [answer(1, 2, 0, system="brief"), answer(1, 8, 8, system="long"), answer(1, 2, 0, system="also")]
    scores = score_long_form([*few_right, answer(1, un=1, system="broken")], [2, 16], abstention=ZERO)
    at_2, at_16 = scores.rankings
    # K=2: brief 1, also 1, long 2*.5/1.5 = 2/3; K=16: brief 2*(1/8)/(9/8) = 2/9, long 2*.5*.5/1 = 1/2
    assert (at_2.systems, at_2.ranks) == (("also", "brief", "long"), {"also": 1.5, "brief": 1.5, "long": 3.0})
    assert (at_16.systems, at_16.ranks["long"]) == (("long", "also", "brief"), 1.0)
    assert [system.system for system in scores.systems] == ["also", "brief", "broken", "long"]


def test_the_curve_falls_with_k_and_ends_at_the_maximum() -> None:
    points = f1_curve([answer(1, 300, 100), answer(2, 7, 3)], abstention=ZERO)
    ks, values = [point.k for point in points], [point.f1["a"] for point in points]
    assert (ks[0], ks[-1]) == (1, 300)
    assert len(ks) <= 51
    assert ks == sorted(set(ks))
    assert values == sorted(values, key=lambda value: -(value or 0.0))
    given_ks = f1_curve(RUN, abstention=EXCLUDE, ks=[4])
    assert given_ks[0].f1["a"] == only(score_long_form(RUN, [4], abstention=EXCLUDE)).at_k[0].f1.value
    assert [point.k for point in f1_curve([answer(1, 3)], abstention=ZERO)] == [1, 2, 3]


FIGURES = ("agreement", "kappa", "tpr", "tnr", "balanced_accuracy")


def table(*cells: int) -> LabelTable:
    """Rows are S, NS and IR; columns are supported, not supported, irrelevant and unscored."""
    rows = [
        Counts(supported=row[0], not_supported=row[1], irrelevant=row[2], unscored=row[3])
        for row in (cells[:4], cells[4:8], cells[8:] or (0, 0, 0, 0))
    ]
    return LabelTable(supported=rows[0], not_supported=rows[1], irrelevant=rows[2])


def overall(*tables: LabelTable) -> SystemAgreement:
    return agree_with_labels(TabledResponse("A", f"p{n}", one) for n, one in enumerate(tables)).overall


def of(agreement: SystemAgreement, name: str) -> PromptFigure:
    figure: PromptFigure = getattr(agreement, name)
    return figure


def claim(number: int, verdict: Verdict | None, text: str | None = None) -> Claim:
    if verdict is None:
        judgement = Judgement(unscored_reason=UnscoredReason.BUDGET)
    else:
        judgement = Judgement(verdict=verdict, contradicted=False if verdict is Verdict.NOT_SUPPORTED else None)
    said = text or f"fact {number}"
    return Claim(id=f"c1.{number}", sentence="s", span=(0, 1), text=said, self_contained=said, judgement=judgement)


def test_balanced_accuracy_has_an_interval_only_if_both_labels_come_from_several_prompts() -> None:
    """If one prompt has every fact labelled supported, TPR says nothing about other prompts."""
    tables = [table(6, 2, 0, 0, 0, 1, 0, 0), *(table(0, 0, 0, 0, n, 3, 0, 0) for n in range(5))]
    given = [TabledResponse("A", f"p{n}", one) for n, one in enumerate(tables)]
    found = agree_with_labels(given, rng=np.random.default_rng(0)).overall
    assert found.tnr.interval is not None
    assert (found.tpr.interval, found.balanced_accuracy.interval) == (None, None)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=40))
def test_scikit_learn_finds_the_same(facts: list[tuple[int, int]]) -> None:
    cells = [facts.count((row, column)) for row in range(3) for column in range(4)]
    found = overall(table(*cells))
    scored = [pair for pair in facts if pair[1] < 3]
    labels, verdicts = [pair[0] for pair in scored], [pair[1] for pair in scored]
    if not scored:
        assert {of(found, name).value for name in FIGURES} == {None}
        return
    matrix = confusion_matrix(labels, verdicts, labels=[0, 1, 2])
    assert found.agreement.value == pytest.approx(np.trace(matrix) / matrix.sum())
    if len({*labels, *verdicts}) > 1:
        assert found.kappa.value == pytest.approx(cohen_kappa_score(labels, verdicts))
    else:
        assert found.kappa.undefined is Undefined.ONE_CLASS
    relevant = [(label, verdict) for label, verdict in scored if label < 2 and verdict < 2]
    ours, theirs = [pair[0] for pair in relevant], [pair[1] for pair in relevant]
    if {0, 1} <= {*ours}:
        assert found.tpr.value == pytest.approx(recall_score(ours, theirs, pos_label=0))
        assert found.tnr.value == pytest.approx(recall_score(ours, theirs, pos_label=1))
        assert found.balanced_accuracy.value == pytest.approx(balanced_accuracy_score(ours, theirs))


@pytest.mark.parametrize(
    ("given", "reasons"),
    [
        (table(*[0, 0, 0, 5] * 3), ["nothing_scored"] * 5),
        (table(5, *[0] * 11), [None, "one_class", None, "no_unsupported", "no_unsupported"]),
        (table(0, 0, 0, 0, 2, 2, *[0] * 6), [None, None, "no_supported", None, "no_supported"]),
        (table(0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 0, 0), [None, None, *["nothing_scored"] * 3]),
    ],
)
def test_what_cannot_be_known_says_why(given: LabelTable, reasons: list[str | None]) -> None:
    found = overall(given)
    assert [of(found, name).undefined for name in FIGURES] == reasons
    assert [of(found, name).value is None for name in FIGURES] == [reason is not None for reason in reasons]


def test_a_table_is_read_from_claims_and_their_labels() -> None:
    claims = [claim(1, Verdict.SUPPORTED), claim(2, Verdict.IRRELEVANT), claim(3, None), claim(4, Verdict.SUPPORTED)]
    labels = {"c1.1": FactLabel.NOT_SUPPORTED, "c1.2": FactLabel.IRRELEVANT, "c1.3": FactLabel.SUPPORTED}
    assert table_of(claims, labels) == table(0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0)
    assert table_of(claims, labels).labels == Counts(supported=1, not_supported=1, irrelevant=1)


def test_a_text_that_comes_again_counts_once_with_its_first_label() -> None:
    claims = [claim(number, Verdict.SUPPORTED, text) for number, text in enumerate("aabA")]
    labels = dict(zip((one.id for one in claims), map(FactLabel, ("S", "NS", "IR", "S")), strict=True))
    found = table_of(claims, labels)
    assert (found.supported, found.not_supported, found.irrelevant.supported) == (Counts(supported=2), Counts(), 1)
    assert (found.n_facts, found.repeated) == (3, Counts(not_supported=1))
    assert found.labels == Counts(supported=2, not_supported=1, irrelevant=1)
    both = agree_with_labels([TabledResponse("A", "p", found), TabledResponse("A", "q", found)]).overall
    assert (both.table.repeated, both.agreement.n) == (Counts(not_supported=2), 6)
