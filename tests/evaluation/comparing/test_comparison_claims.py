"""Two evaluators claim by claim: matching, agreement, labels, flips."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score  # type: ignore[import-untyped]  # no types
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar  # type: ignore[import-untyped]  # no types

from factloop.core.figure import Undefined
from factloop.core.records import Verdict
from factloop.evaluation.comparing.claims import Resampler, agree, compare_with_labels, flips
from factloop.evaluation.comparing.matching import JudgedClaim, match_claims
from factloop.evaluation.comparing.pairs import ClaimPair
from factloop.evaluation.comparing.records import ClaimAgreement, ClaimFigure, LabelComparison
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.statistics.significance import mcnemar

S, N, IR = Verdict.SUPPORTED, Verdict.NOT_SUPPORTED, Verdict.IRRELEVANT
LABEL = {S: FactLabel.SUPPORTED, N: FactLabel.NOT_SUPPORTED, IR: FactLabel.IRRELEVANT}


def judged(id_: str, text: str = "x", verdict: Verdict | None = S, label: Verdict | None = None) -> JudgedClaim:
    return JudgedClaim(id_, text, text, verdict, "because", None if label is None else LABEL[label])


def both(first: Verdict | None, second: Verdict | None, label: Verdict | None = None, prompt: str = "p") -> ClaimPair:
    return ClaimPair("one", prompt, "r", judged("c", "x", first, label), judged("c", "x", second, label))


def resampler() -> Resampler:
    return Resampler(np.random.default_rng(0), 200, 0.95)


def agreement_of(claims: list[ClaimPair]) -> ClaimAgreement:
    return agree(claims, n_responses=1, n_only_first=0, n_only_second=0, resampler=resampler())


def labels_of(claims: list[ClaimPair]) -> LabelComparison:
    found = compare_with_labels(claims, resampler=resampler())
    assert found is not None
    return found


def ids(first: list[JudgedClaim], second: list[JudgedClaim]) -> list[tuple[str, str]]:
    return [(one.id, other.id) for one, other in match_claims(first, second)]


def test_claims_match_by_id_and_text_then_by_text_and_each_once() -> None:
    first = [judged("c1", "a"), judged("c2", "b"), judged("c3", "a"), judged("c4", "d"), judged("c5", "e")]
    second = [judged("c1", "b"), judged("c2", "a"), judged("c3", "a"), judged("c4", "z"), judged("c5", "e")]
    assert ids(first, second) == [("c1", "c2"), ("c2", "c1"), ("c3", "c3"), ("c5", "c5")]
    assert ids([judged("c1", "a"), judged("c2", "a")], [judged("c9", "a")]) == [("c1", "c9")]
    assert ids([], second) == ids(first, []) == []


texts = st.lists(st.sampled_from("abc"), max_size=8)


@given(texts, texts)
def test_as_many_match_as_texts_are_shared(first: list[str], second: list[str]) -> None:
    found = match_claims(
        [judged(f"c{n}", text) for n, text in enumerate(first)],
        [judged(f"c{n}", text) for n, text in enumerate(second)],
    )
    assert len(found) == sum(min(first.count(text), second.count(text)) for text in "abc")
    assert len({one.id for one, _ in found}) == len({other.id for _, other in found}) == len(found)
    assert all(one.text == other.text for one, other in found)


def test_the_table_and_kappa_by_hand() -> None:
    """Scored by both: S-S 4, S-N 2, N-S 1, N-N 3: po .7; rows .6 .4, columns .5 .5: pe .5; kappa .2 / .5 = .4."""
    claims = [both(S, S)] * 4 + [both(S, N)] * 2 + [both(N, S)] + [both(N, N)] * 3 + [both(None, S), both(IR, None)]
    found = agreement_of(claims)
    assert found.table == ((4, 2, 0, 0), (1, 3, 0, 0), (0, 0, 0, 1), (1, 0, 0, 0))
    assert (found.n_matched, found.agreement.n, found.agreement.value) == (12, 10, 0.7)
    assert found.kappa.value == pytest.approx(0.4)
    assert found.agreement.low is None  # a single prompt
    flipped = flips(claims)
    assert [(one.first, one.second) for one in flipped] == [(S, N), (S, N), (N, S)]


def test_what_is_undefined_says_why() -> None:
    one_class = agreement_of([both(S, S)] * 3)
    assert (one_class.agreement.value, one_class.kappa.value) == (1.0, None)
    assert one_class.kappa.undefined is Undefined.ONE_CLASS
    nothing = agreement_of([both(None, S)])
    assert nothing.agreement.value is nothing.kappa.value is None
    assert nothing.agreement.undefined is Undefined.NOT_BOTH_SCORED
    assert agreement_of([]).table == ((0,) * 4,) * 4


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("no labelled claim has a verdict of both", Undefined.NOT_BOTH_SCORED),
        ("both give every claim one and the same verdict, so chance alone would agree", Undefined.ONE_CLASS),
        ("one_class", Undefined.ONE_CLASS),
    ],
)
def test_reasons_of_version_1_0_are_read(words: str, reason: Undefined) -> None:
    assert ClaimFigure.model_validate({"value": None, "n": 0, "undefined": words}).undefined is reason


verdicts = st.sampled_from([S, N, IR])
judgements = st.lists(st.tuples(verdicts, verdicts, verdicts, st.integers(0, 3)), min_size=1, max_size=30)


@given(judgements)
def test_kappa_and_balanced_accuracy_are_scikit_learns(rows: list[tuple[Verdict, Verdict, Verdict, int]]) -> None:
    claims = [both(one, other, label, f"p{prompt}") for one, other, label, prompt in rows]
    kappa = agreement_of(claims).kappa.value
    if kappa is not None:
        assert kappa == pytest.approx(cohen_kappa_score([r[0] for r in rows], [r[1] for r in rows]))
    found = labels_of(claims)
    assert found.agreement[0].value == pytest.approx(np.mean([r[0] is r[2] for r in rows]))
    assert found.agreement[1].value == pytest.approx(np.mean([r[1] is r[2] for r in rows]))
    binary = [row[:3] for row in rows if IR not in row[:3]]
    assert found.balanced_accuracy[0].n == len(binary)
    if len({label for _, _, label in binary}) == 2:
        for side in (0, 1):
            wanted = balanced_accuracy_score([row[2] is S for row in binary], [row[side] is S for row in binary])
            assert found.balanced_accuracy[side].value == pytest.approx(wanted)
    else:
        assert found.balanced_accuracy[2].value is None
        assert found.balanced_accuracy[2].undefined


@pytest.mark.parametrize(("first", "second"), [(0, 0), (1, 0), (3, 9), (40, 22), (7, 7)])
def test_mcnemar_is_the_exact_test_of_statsmodels(first: int, second: int) -> None:
    wanted = their_mcnemar([[5, first], [second, 5]], exact=True).pvalue if first + second else 1.0
    assert mcnemar(first, second) == pytest.approx(wanted)


def test_labels_by_hand() -> None:
    """Of 8 judged: both right 3, A alone 1, B alone 4, neither 0: A .5, B .875. McNemar on 1 of 5: 2 * 6/32 = .375."""
    claims = [both(S, S, S, "p")] * 3 + [both(S, N, S, "q")] + [both(S, N, N, prompt) for prompt in "pqrs"]
    claims += [both(None, S, S), both(S, None, N)]
    found = labels_of(claims)
    assert (found.n_labelled, found.n_unscored, found.n_conflicting) == (10, 2, 0)
    assert (found.both_right, found.first_right, found.second_right, found.neither_right) == (3, 1, 4, 0)
    assert [one.value for one in found.agreement] == [0.5, 0.875, 0.375]
    assert found.p_mcnemar == pytest.approx(0.375)
    assert found.p_by_prompt == 0.25  # by prompt +1, 0, +1, +1: 2 of 8 ways
    assert [one.value for one in found.balanced_accuracy] == [0.5, 0.875, 0.375]  # TPR 1, .75; TNR 0, 1


def test_a_label_of_one_run_serves_both_and_two_labels_serve_nobody() -> None:
    pair = both(S, N, None)
    alone = ClaimPair("one", "p", "r", judged("c", "x", S, None), judged("c", "x", N, S))
    torn = ClaimPair("one", "p", "r", judged("c", "x", S, N), judged("c", "x", N, S))
    found = labels_of([pair, alone, torn])
    assert (found.n_labelled, found.n_conflicting, found.first_right) == (2, 1, 1)
    assert compare_with_labels([pair], resampler=resampler()) is None
    nothing = labels_of([both(None, S, S)])
    assert nothing.p_mcnemar is nothing.p_by_prompt is nothing.agreement[2].value is None


def test_balanced_accuracy_takes_two_prompts_of_either_label_for_an_interval() -> None:
    claims = [both(S if n % 3 else N, S if n % 4 else N, S, f"p{n}") for n in range(12)] + [both(N, S, N, "p0")]
    found = labels_of(claims)
    assert found.agreement[0].low is not None
    assert [(one.value is None, one.low) for one in found.balanced_accuracy] == [(False, None)] * 3


def test_what_is_the_same_in_every_resample_has_no_interval() -> None:
    found = agreement_of([both(S if n % 2 else N, S if n % 2 else N, prompt=f"p{n}") for n in range(8)])
    assert (found.agreement.value, found.agreement.low) == (1.0, None)
