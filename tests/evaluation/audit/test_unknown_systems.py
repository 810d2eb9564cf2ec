"""Claims of nobody knows which system: they count in rates and agreement, and tell nothing of any system."""

from __future__ import annotations

import pytest

from factloop.core.figure import Undefined
from factloop.evaluation.audit.units import Level
from factloop.evaluation.datasets.mapping import UNKNOWN_SYSTEM
from tests.evaluation.audit.audit_sample import audited, sample_rows
from tests.evaluation.audit.prediction_rows import Row
from tests.evaluation.audit.random_tables import dataset

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


def test_the_audit_says_how_many_it_left_out() -> None:
    report = audited(of_system("a", 2, 3) + of_system("b", 5, 5) + unmatched(1) + unmatched(3, "e"))
    assert (
        "Headroom, ranking, bias by system and adjustment on d: 1 of 21 claims is of the system `unknown`, which may "
        "be any; rates and agreement count them."
    ) in report.left_out
    assert any("on e: 3 of 3 claims are of the system `unknown`" in said for said in report.left_out)
    alone = report.at[0].quantification.find(E, dataset("e"))
    assert (alone.mean_absolute.undefined, alone.n_systems) == (Undefined.NOTHING_SCORED, 0)
    assert next(one for one in report.at[0].rankings if one.dataset == "e").systems == ()


def test_their_prompts_are_no_basis_of_figures_by_system() -> None:
    scores = dict.fromkeys(("good", "weak", "weak@6"), 1.0)
    rows = [*sample_rows(), Row(1, scores, UNKNOWN_SYSTEM, "u", "u", "news", "summaries", "c", "d.")]
    (before,), (after,) = audited(sample_rows()).at, audited(rows).at
    bias = [at.quantification.find("good", dataset("news")) for at in (before, after)]
    assert [one.mean_absolute.n_clusters for one in bias] == [12, 12]
    assert [one.rates.find("good", dataset("news")).tpr.n_clusters for one in (before, after)] == [12, 13]


def test_prompts_that_they_share_with_known_systems_are_a_basis_of_these() -> None:
    known = of_system("a", 2, 3) + of_system("b", 5, 5)
    (before,), (after,) = audited(known).at, audited(known + of_system(UNKNOWN_SYSTEM, 4, 1)).at
    bias, with_unknown = (at.quantification.find(E, dataset("d")).mean_absolute for at in (before, after))
    assert bias.n_clusters == with_unknown.n_clusters == 10
    assert (with_unknown.low, with_unknown.high) == (bias.low, bias.high)
    assert bias.low is not None
