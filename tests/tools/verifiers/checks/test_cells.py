"""Figures of a row are each of their own column."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier

POST = "Destination: France, Germany, Netherlands; Standard: £9.00, 5–8 days; Express: £22.00, 2 days; Free from: —"
PLAN = "plan: Business; price_per_user_month_gbp: 19; min_users: 10; sso: yes"
MEALS = "Meal: Breakfast; UK: £12; Abroad: £15"


@pytest.mark.parametrize(
    ("claim", "row", "label"),
    [
        ("Express to Germany takes 2 days.", POST, "supported"),
        ("Express to Germany costs £22.00.", POST, "supported"),
        ("Express to Germany costs £9.00.", POST, "insufficient"),
        ("The Business plan costs £19 per user a month.", PLAN, "supported"),
        ("Breakfast in the UK is capped at £15.", MEALS, "insufficient"),
        ("Breakfast in the UK is capped at £12.", MEALS, "supported"),
    ],
)
def test_a_figure_is_of_the_column_that_the_claim_names(claim: str, row: str, label: str) -> None:
    assert LexicalVerifier().verify(claim, [row]).label == label
