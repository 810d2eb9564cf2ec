from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]  # its stubs are no dependency
from statsmodels.stats.anova import anova_lm  # type: ignore[import-untyped]  # ships no type hints
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]  # ships no type hints

from factloop.checking.cascade.records import CascadeTuning, ErrorKind
from factloop.evaluation.cascades.bounds import effect_on_label, effect_on_settled, p_values, upper_bound
from factloop.evaluation.cascades.labelled import ScoredLabels, groups_of, likeness
from factloop.evaluation.cascades.thresholds import tune

TEN = ScoredLabels(
    scores=np.array([0.95, 0.9, 0.85, 0.8, 0.6, 0.5, 0.2, 0.15, 0.1, 0.05]),
    labels=np.array([1, 1, 1, 1, 0, 1, 0, 0, 0, 0], np.int8),
    groups=np.arange(10),
)


def alone(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> ScoredLabels:
    return ScoredLabels(scores, labels.astype(np.int8), np.arange(len(scores)))


def tuned(max_error: float, confidence: float, error: ErrorKind = ErrorKind.BALANCED) -> CascadeTuning:
    return tune(TEN, max_error=max_error, confidence=confidence, error=error)


def test_ten_rows_by_hand() -> None:
    """Each side at level 0.25, its beginnings, where 10/16, 10/8, 10/4 and 10/2 claims are settled, with 0.0625 each.

    Error 0.6, from the top. One claim, right: P = 0.4 > 0.0625, the chain ends. Two: 0.16. Three: 0.064. Five, one of
    them wrong: 0.4^5 + 5 * 0.6 * 0.4^4 = 0.01024 + 0.0768 = 0.087. No chain gets on. From the bottom it is the same.

    Error 0.7. One: 0.3. Two: 0.09. Three: 0.027 < 0.0625, and on: four, 0.0081. Five, one wrong, also one of the five
    of that label: 0.3^5 + 5 * 0.7 * 0.3^4 = 0.00243 + 0.02835 = 0.031, and 0.0625 more is there. Six, one wrong: of
    the label still 0.031. Seven, two wrong of the label's five: 0.031 + 10 * 0.49 * 0.027 = 0.163 > 0.125, it ends. So
    six are accepted from 0.5 on; from the bottom six are rejected up to 0.6. Both must not cross: four and six.
    """
    nothing = tuned(0.6, 0.5)
    assert (nothing.accepted.threshold, nothing.rejected.threshold) == (None, None)
    assert nothing.share_sent == 1.0
    found = tuned(0.7, 0.5)
    assert (found.accepted.threshold, found.accepted.n) == (0.8, 4)
    assert (found.rejected.threshold, found.rejected.n) == (0.6, 6)
    assert found.share_sent == 0.0
    only_accepts = tuned(0.7, 0.75, ErrorKind.FALSE_SUPPORT)  # one side has the whole level, 0.25
    assert only_accepts.accepted.threshold == 0.5
    assert (only_accepts.accepted.n, only_accepts.accepted.n_wrong) == (6, 1)
    assert only_accepts.rejected.threshold is None
    only_rejects = tuned(0.7, 0.75, ErrorKind.FALSE_REJECT)
    assert only_rejects.rejected.threshold == 0.6
    assert (only_rejects.rejected.n, only_rejects.rejected.n_wrong) == (6, 1)


def test_an_error_out_of_reach_of_so_few_labels_is_said() -> None:
    """A verifier that never errs on 20 claims: 0.95^10 = 0.6 does not prove that fewer than 5 % are wrong."""
    labels = np.arange(20) % 2 == 0
    found = tune(alone(labels * 0.8 + 0.1, labels), max_error=0.05)
    assert found.share_sent == 1.0
    assert "20 labelled claims are too few" in found.accepted.why_none
    labels = np.arange(400) % 2 == 0
    assert tune(alone(labels * 0.8 + 0.1, labels), max_error=0.05).share_sent == 0.0


@pytest.mark.parametrize("labels", [[], [1], [0, 0, 0], [1, 1, 1]])
def test_few_rows_or_one_label_settle_nothing_and_say_why(labels: list[int]) -> None:
    found = tune(alone(np.linspace(0, 1, len(labels)), np.array(labels, bool)), max_error=0.1)
    assert found.share_sent == 1.0
    assert found.accepted.why_none
    assert found.rejected.why_none


def test_claims_without_a_score_are_never_settled() -> None:
    labels = np.arange(2000) % 2 == 0
    scores = np.where(np.arange(2000) < 1000, labels * 0.8 + 0.1, np.nan)
    found = tune(alone(scores, labels), max_error=0.05)
    assert found.share_sent == 0.5
    assert found.n_unscored == 1000


def test_claims_of_one_document_count_for_fewer() -> None:
    rng = np.random.default_rng(1)
    labels = np.repeat(rng.random(60) < 0.5, 10)  # ten claims of a document have one label
    scores = np.clip(np.where(labels, 0.8, 0.2) + rng.normal(0, 0.2, 600), 0, 1)
    together = ScoredLabels(scores, labels.astype(np.int8), np.repeat(np.arange(60), 10))
    found, naive = tune(together, max_error=0.1), tune(alone(scores, labels), max_error=0.1)
    assert found.likeness == 1.0
    assert found.share_sent > naive.share_sent


def world(kind: str, rng: np.random.Generator, n: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    scores = rng.random(n)
    if kind == "useful":
        labels = rng.random(n) < 0.4
        return np.where(labels, rng.beta(4, 1.5, n), rng.beta(1.5, 4, n)), labels
    if kind == "just not good enough":
        return scores, rng.random(n) < np.where(scores > 0.8, 0.895, 0.5)
    if kind == "three scores":
        scores = rng.choice([0.0, 0.5, 1.0], n)
        return scores, rng.random(n) < np.where(scores == 1, 0.89, np.where(scores == 0, 0.11, 0.5))
    return scores, rng.random(n) < np.where((scores * 20).astype(int) % 2 == 0, 0.97, 0.8)  # by turns good and bad


SLOW = pytest.mark.statistical
WORLDS = ["just not good enough", *(pytest.param(kind, marks=SLOW) for kind in ("useful", "three scores", "by turns"))]


@pytest.mark.parametrize("kind", WORLDS)
def test_the_promise_is_broken_no_more_often_than_said(kind: str) -> None:
    """200 tunings at 90 % confidence. More than 34 broken promises have a probability below 0.1 % (1 - binom.cdf(33,
    200, 0.1) = 0.0010).
    """
    rng = np.random.default_rng(11)
    scores, labels = world(kind, rng, 200_000)
    broken = 0
    for _ in range(200):
        found = tune(alone(*world(kind, rng, 300)), max_error=0.1, confidence=0.9)
        broken += _is_broken(found, scores, labels)
    assert broken <= 34


def _is_broken(found: CascadeTuning, scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> bool:
    for threshold, settled, wrong in (
        (found.accepted.threshold, scores >= (found.accepted.threshold or 0), ~labels),
        (found.rejected.threshold, scores <= (found.rejected.threshold or 0), labels),
    ):
        if threshold is not None and max(wrong[settled].mean(), settled[wrong].mean()) > found.max_error:
            return True
    return False


def test_shares_that_are_none_are_refused() -> None:
    for wrong in (0.0, 1.0, -0.1, float("nan")):
        with pytest.raises(ValueError, match="must be between 0 and 1"):
            tuned(wrong, 0.9)
        with pytest.raises(ValueError, match="must be between 0 and 1"):
            tuned(0.1, wrong)


@pytest.mark.parametrize(("wrong", "n"), [(0, 1), (0, 59), (1, 93), (3, 20), (10, 10), (49, 349)])
@pytest.mark.parametrize("alpha", [0.05, 0.025, 0.00625])
def test_the_bound_is_clopper_and_pearsons(wrong: int, n: int, alpha: float) -> None:
    _, high = proportion_confint(wrong, n, alpha=2 * alpha, method="beta")
    assert upper_bound(wrong, n, alpha) == pytest.approx(high)


@pytest.mark.parametrize(("wrong", "n", "share"), [(0, 59, 0.05), (2, 30, 0.2), (5, 5, 0.3), (1, 2, 0.5)])
def test_a_p_value_is_the_chance_of_so_few_errors(wrong: int, n: int, share: float) -> None:
    assert p_values(wrong, n, share) == pytest.approx(stats.binom.cdf(wrong, n, share))


def test_nothing_seen_bounds_nothing() -> None:
    assert upper_bound(0, 0, 0.05) is None
    assert p_values([0, 0], [0, 10], 0.1).tolist() == pytest.approx([1.0, 0.9**10])


def anova(values: NDArray[np.float64], groups: NDArray[np.int64]) -> float:
    import pandas as pd  # type: ignore[import-untyped]  # its stubs are no dependency
    from statsmodels.formula.api import ols  # type: ignore[import-untyped]  # ships no type hints

    table = anova_lm(ols("y ~ C(g)", pd.DataFrame({"y": values, "g": groups})).fit())
    between, within = table["mean_sq"]
    size = np.unique(groups, return_counts=True)[1]
    typical = (size.sum() - (size**2).sum() / size.sum()) / (len(size) - 1)
    return float(min(1.0, max(0.0, (between - within) / (between + (typical - 1) * within))))


def mean_size(groups: NDArray[np.int64]) -> float:
    size = np.unique(groups, return_counts=True)[1]
    return float((size**2).sum() / size.sum())


def test_effects_by_hand() -> None:
    """Groups of two, both wrong or both right: errors are wholly alike, so two claims count as one.

    Where two of four groups are settled too, and of the label (four claims in two groups) with them: 1 + (2 - 1) * 1.
    """
    wrong, groups = np.array([1, 1, 0, 0, 1, 1, 0, 0], bool), np.repeat(np.arange(4), 2)
    n = np.array([0, 4, 8])
    assert effect_on_settled(wrong, groups, n).tolist() == [1.0, 2.0, 2.0]
    # without an error yet as at the next threshold; with all of the label settled nothing varies
    assert effect_on_label(wrong, groups, n, groups[wrong]).tolist() == [2.0, 2.0, 1.0]


def test_alike_as_statsmodels_has_it() -> None:
    rng = np.random.default_rng(4)
    groups = rng.integers(0, 30, 300)
    wrong = rng.random(300) < rng.random(30)[groups]
    found = effect_on_settled(wrong, groups, np.array([200, 300]))
    for place, n in enumerate((200, 300)):
        alike = anova(wrong[:n].astype(float), groups[:n])
        assert found[place] == pytest.approx(1 + (mean_size(groups[:n]) - 1) * alike)
    settled = np.arange(300) < 200
    labels = groups[wrong]
    alike = anova(settled[wrong].astype(float), labels)
    found = effect_on_label(wrong, groups, np.array([200]), labels)
    assert found[0] == pytest.approx(1 + (mean_size(labels) - 1) * alike)


@pytest.mark.statistical
def test_errors_that_come_by_document_break_no_promise() -> None:
    """Half of each document is supported, so labels are not alike; but some documents have every claim scored high.

    Counted as independent, the promise breaks in 43 % of such tunings, for 2.5 % on a side. More than 7 of 100 have a
    chance of 0.004.
    """

    def world(rng: np.random.Generator, n: int) -> tuple[NDArray[np.float64], NDArray[np.int8], NDArray[np.int64]]:
        groups = np.arange(n) // 80
        labels = (np.arange(n) % 2 == 0).astype(np.int8)
        document = rng.normal(0, 1.5, groups[-1] + 1)[groups]
        return 1 / (1 + np.exp(-(5 * labels - 2.5 + document + rng.normal(0, 0.7, n)))), labels, groups

    scores, labels, _ = world(np.random.default_rng(99), 200_000)
    broken = 0
    for rng in np.random.default_rng(0).spawn(100):
        side = tune(ScoredLabels(*world(rng, 400)), max_error=0.1).accepted
        if side.threshold is not None:
            settled, wrong = scores >= side.threshold, labels == 0
            broken += bool(max(wrong[settled].mean(), settled[wrong].mean()) > 0.1)
    assert broken <= 7


def test_rows_are_of_one_group_by_any_key_and_through_others() -> None:
    documents = ["a", "a", "b", None, None]
    claims = ["1", "2", "2", "3", "4"]  # the second and third share a claim, so a and b are together
    found = groups_of(documents, claims)
    assert found[0] == found[1] == found[2]
    assert len(set(found.tolist())) == 3


def test_no_key_is_no_bond_and_equal_names_of_two_columns_are_none_either() -> None:
    assert len(set(groups_of([None, None]).tolist())) == 2
    assert len(set(groups_of(["x", "y"], ["y", "z"]).tolist())) == 2


def test_likeness_by_hand() -> None:
    """Two groups of two, labels 1 1 and 1 0: mean 3/4, group means 1 and 1/2.

    Between: (2/16 + 2/16) / 1 = 1/4; within: (0 + 1/2) / 2 = 1/4; so (1/4 - 1/4) / ... = 0. With labels 1 1 and 0 0
    within is 0, and all likeness is between.
    """
    groups = np.array([0, 0, 1, 1])
    assert likeness(np.array([1, 1, 1, 0], np.int8), groups) == 0.0
    assert likeness(np.array([1, 1, 0, 0], np.int8), groups) == 1.0
    # Three groups of two, 11 00 10: mean 1/2, between (2/4 + 2/4 + 0) / 2 = 1/2, within (1/2) / 3 = 1/6,
    # (1/2 - 1/6) / (1/2 + 1/6) = 1/2.
    assert likeness(np.array([1, 1, 0, 0, 1, 0], np.int8), np.array([0, 0, 1, 1, 2, 2])) == pytest.approx(0.5)
