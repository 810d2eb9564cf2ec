"""TrustOV: the six rows of appendix A.5.3, and what is said where a part is missing."""

from __future__ import annotations

from typing import Any

import pytest

from factloop.agents.trustscore.overall import FACTUAL_VALUE, OVERALL, overall
from factloop.agents.trustscore.records import Relation, TrustBC, TrustFC, TrustOV
from factloop.core.records import UnscoredReason

TABLE_3 = [
    (1, "support", 1.0),
    (0, "support", 0.8),
    (1, "neutral", 0.6),
    (0, "neutral", 0.4),
    (1, "contradict", 0.2),
    (0, "contradict", 0.0),
]
NO_BC = TrustBC(unscored_reason=UnscoredReason.BUDGET, rationale="100 calls were made", max_checks=10, n_planned=10)
NO_FC = TrustFC(unscored_reason=UnscoredReason.TIMEOUT)


def plain(record: TrustBC | TrustFC) -> dict[str, Any]:
    return record.model_dump(mode="json")


def consistent(value: Any) -> TrustBC:
    return TrustBC(value=value, max_checks=10, n_planned=10)


def related(relation: str) -> TrustFC:
    return TrustFC(relation=Relation(relation), value=FACTUAL_VALUE[Relation(relation)])


@pytest.mark.parametrize(("value", "relation", "expected"), TABLE_3)
def test_the_table_of_the_paper(value: int, relation: str, expected: float) -> None:
    assert overall(plain(consistent(value)), plain(related(relation))) == TrustOV(value=expected)


def test_the_table_has_no_other_rows() -> None:
    assert {(value, relation.value, score) for (value, relation), score in OVERALL.items()} == set(TABLE_3)


def test_facts_come_before_consistency_and_insisting_before_wavering() -> None:
    for relation in Relation:
        assert OVERALL[1, relation] > OVERALL[0, relation]
    assert OVERALL[0, Relation.SUPPORT] > OVERALL[1, Relation.NEUTRAL]
    assert OVERALL[0, Relation.NEUTRAL] > OVERALL[1, Relation.CONTRADICT]


def test_a_missing_part_is_named_with_its_rationale_or_else_its_reason() -> None:
    assert overall(plain(NO_BC), plain(related("support"))).missing == "TrustBC (100 calls were made)"
    assert overall(plain(consistent(0)), plain(NO_FC)).missing == "TrustFC (timeout)"
    both = overall(plain(NO_BC), plain(NO_FC))
    assert (both.value, both.missing) == (None, "TrustBC (100 calls were made) and TrustFC (timeout)")


def test_an_inconsistent_part_is_not_a_missing_one() -> None:
    assert overall(plain(consistent(0)), plain(related("contradict"))) == TrustOV(value=0.0)
