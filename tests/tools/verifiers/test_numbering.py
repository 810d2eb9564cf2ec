"""The numbers of headings, items and clauses: no figures, but for claims that speak of them."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier

LEAVE = "3.2 Contractors get 5 days.\n3.3 Interns get 2 days."
RANKING = "Ranking\n1. Texas\n2. Alabama\n3. Ohio"


@pytest.mark.parametrize(
    ("claim", "passage", "is_supported"),
    [
        ("Under section 3.2, contractors get 5 days.", LEAVE, True),
        ("Under section 3.3, contractors get 5 days.", LEAVE, False),
        ("Alabama is number 2 in the ranking.", RANKING, True),
        ("Version 3.1 adds dark mode.", "Changelog\n\n3.2 Adds dark mode\n\n3.1 Fixes bugs", False),
        ("Interns get 3.3 days.", LEAVE, False),
    ],
)
def test_a_number_before_a_line_is_read_where_a_claim_speaks_of_it(
    claim: str, passage: str, is_supported: bool
) -> None:
    assert (LexicalVerifier().verify(claim, [passage]).label == "supported") == is_supported
