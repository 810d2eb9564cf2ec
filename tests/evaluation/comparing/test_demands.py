from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import binom  # type: ignore[import-untyped]  # its stubs are no dependency

from factloop.core.errors import ConfigError
from factloop.evaluation.comparing.demands import Demand, Judged, Missed, judge_demands, read_demand, refuse_demands
from factloop.evaluation.comparing.differences import contrast
from factloop.evaluation.comparing.paired import Items
from factloop.evaluation.comparing.records import DemandResult, Quantity
from factloop.evaluation.comparing.table import NOT_SUPPORTED, SUPPORTED, ItemValues


def judged(
    *gains: list[float] | None, demands: tuple[str, ...] = ("tnr",), missed: Sequence[Missed] | None = None
) -> tuple[DemandResult, ...]:
    known = [gain for gain in gains if gain is not None]
    n = len(known[0]) if known else 0
    items = Items.of_clusters(np.arange(n), max(1, n))
    sides = np.array([[0.0] * n, *(gain or [np.nan] * n for gain in gains)])
    values = [ItemValues(Quantity.TNR, sides, np.ones(n, np.bool_), items)] if known else []
    contrasts = [contrast(of, 0, side) for of in values for side in range(1, len(sides))]
    names = ["old", *(f"new{side}" for side in range(1, len(sides)))]
    on = Judged(names, "claims", values, contrasts, dict.fromkeys(names[1:], missed), causes={"old": "late"})
    return judge_demands([read_demand(one) for one in demands], on, alpha=0.05, seed=0)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("tnr", Demand("tnr")),
        ("balanced_accuracy:0.05", Demand("balanced_accuracy", None, 0.05)),
        ("f1@64:0.02", Demand("f1", 64, 0.02)),
        (" cost_usd:1e-4 ", Demand("cost_usd", None, 0.0001)),
        ("tpr >= 0.8", Demand("tpr", least=0.8)),
        ("flips<=3", Demand("flips", most=3.0)),
    ],
)
def test_demands_are_read(text: str, wanted: Demand) -> None:
    assert read_demand(text) == wanted


@pytest.mark.parametrize(
    "text", ["", "tnr:", "tnr:0", "tnr:-0.1", "tnr:nan", "tnr:inf", "tnr:much", "f1@0", "TNR", "a b", "tnr >= x"]
)
def test_what_is_no_demand_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="demand"):
        read_demand(text)


def test_a_loss_that_is_shown_by_hand() -> None:
    """Five of 20 lost, none won: one-sided p = 1/32 = 0.031, at most 0.05. Of four lost it is 1/16."""
    (lost,), (not_lost,) = (judged([-1.0] * n + [0.0] * (20 - n)) for n in (5, 4))
    assert (lost.p, lost.is_met, lost.loss) == (1 / 32, False, 0.25)
    assert (
        lost.words
        == "new1 against old in TNR: a loss is shown (−0.250, one-sided p = 0.031, n = 20 claims from 20 groups)"
    )
    assert (not_lost.p, not_lost.is_met) == (1 / 16, True)
    assert "no loss shown" in not_lost.words
    assert "with so few claims, a loss of less than" in not_lost.caution


def test_a_loss_that_is_ruled_out_by_hand() -> None:
    """Had a tenth been lost, none of 29 would be with probability 0.9^29 = 0.047, and none of 28 with 0.052."""
    enough, too_few = (judged([0.0] * n, demands=("tnr:0.1",))[0] for n in (29, 28))
    assert [enough.p, too_few.p] == pytest.approx([0.9**29, 0.9**28])
    assert (enough.is_met, too_few.is_met) == (True, False)
    assert enough.largest_loss == pytest.approx(1 - 0.05 ** (1 / 29))
    assert "a loss of 0.100 or more is ruled out" in enough.words
    assert "a loss of 0.100 or more is not ruled out" in too_few.words


def test_claims_won_make_up_for_claims_lost() -> None:
    """Of 100 claims 10 are lost and 10 won: signs decide, as what is lost alone would not rule out a loss of 0.15."""
    (lost_alone,) = judged([-1.0] * 10 + [0.0] * 90, demands=("tnr:0.15",))
    (both,) = judged([-1.0] * 10 + [1.0] * 10 + [0.0] * 80, demands=("tnr:0.15",))
    assert lost_alone.p == pytest.approx(float(binom.cdf(10, 100, 0.15)))
    assert (lost_alone.is_met, both.is_met) == (False, True)


@pytest.mark.parametrize(
    ("gain", "said"),
    [
        ([0.0] * 29, "with so few claims, a loss of less than 0.098 could easily go unnoticed"),
        ([-1.0, 0.0, 0.0], "with so few claims, no loss could be shown"),
    ],
)
def test_a_demand_that_so_few_claims_meet_says_what_they_could_hide(gain: list[float], said: str) -> None:
    """Without a flip that is the share of which 29 claims would show none by a chance of 0.05: 1 - 0.05^(1/29)."""
    (found,) = judged(gain)
    assert (found.is_met, found.caution) == (True, said)


def test_several_losses_are_adjusted_and_margins_are_not() -> None:
    """Two variants lose five claims each: 2/32 of either. A third that lost one cannot be as small."""
    lost = [-1.0] * 5 + [0.0] * 15
    found = judged(lost, lost, [-1.0] + [0.0] * 19)
    assert [one.p_corrected for one in found] == [2 / 32, 2 / 32, 1 / 2]
    assert [one.is_met for one in found] == [True, True, True]
    assert "one-sided p = 0.031, 0.062 adjusted" in found[0].words
    margin = judged([0.0] * 5, demands=("tnr", "tnr:0.1"))[1]
    assert margin.p_corrected == margin.p


def test_bounds_are_held_against_what_was_counted() -> None:
    """TNR is 3 of 4 and two claims were lost. A minimum that is not met names every claim that is not right."""
    demands = ("tnr >= 0.75", "tnr >= 0.76", "flips <= 2", "flips <= 1", "tpr >= 0.1", "tokens <= 9", "tnr:0.9")
    missed = (
        Missed("a", SUPPORTED, is_lost=True, has_verdict=False),
        Missed("b", NOT_SUPPORTED, is_lost=True),
        Missed("c", NOT_SUPPORTED, is_lost=False),
        Missed("d", NOT_SUPPORTED, is_lost=False, has_verdict=False),
    )
    found = judged([1.0, 1.0, 1.0, 0.0], demands=demands, missed=missed)
    assert [(one.is_met, one.value, one.claims, one.unscored) for one in found] == [
        (True, 0.75, (), ""), (False, 0.75, ("b (flipped)", "c", "d (no verdict)"), ""), (True, 2.0, (), ""),
        (False, 2.0, ("a", "b"), "late"), (False, None, ("a (flipped, no verdict)",), ""), (False, None, (), ""),
        (False, None, ("b",), ""),
    ]  # fmt: skip


def test_no_bound_fails_by_rounding() -> None:
    """0.1 + 0.2 is slightly more than 0.3; 1 minus both is slightly less than 0.7."""
    for gains in ([0.1 + 0.2], [1.0 - (0.1 + 0.2)]):
        for sign in (">=", "<="):
            assert judged(gains, demands=(f"tnr {sign} {round(gains[0], 3)}",))[0].is_met


def test_what_cannot_be_tested_is_not_met() -> None:
    found = judged(None, demands=("tnr", "tnr:0.1", "tnr >= 0.1", "flips <= 9"))
    alone = judged(demands=("tnr",))
    assert len(found + alone) == 5
    for one in found + alone:
        assert (one.is_met, one.p, one.loss) == (False, None, None)
        assert any(words in one.words for words in ("cannot be tested", "undefined", "without labels"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("f1", "for variants; use one of these: balanced_accuracy, accuracy, tpr, tnr, unscored_share, coverage, "),
        ("tnr@5", "unknown metric for variants"),
        ("tnr:5", "the margin of a share must be below 1; 0.05 means five percentage points"),
        ("tnr >= 90", "demand tnr >= 90: a share must be at most 1; 0.9 means 90%"),
        ("unscored_share <= 5", "demand unscored_share <= 5: a share must be at most 1"),
    ],
)
def test_metrics_that_are_not_compared_are_refused(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        refuse_demands([read_demand(text)])
