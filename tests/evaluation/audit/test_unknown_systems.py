"""Claims of nobody knows which system: they count in rates and agreement, and tell nothing of any system."""

from __future__ import annotations

import pytest

from factloop.evaluation.audit.table import Level
from factloop.evaluation.datasets.mapping import UNKNOWN_SYSTEM
from tests.evaluation.audit.audit_sample import audited
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
