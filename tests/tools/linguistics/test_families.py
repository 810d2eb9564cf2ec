"""Every family of rules can be left out by its name, and does something that is seen then."""

from __future__ import annotations

import pytest

from factloop.tools.linguistics.claims import RULES, split_claims
from factloop.tools.linguistics.discourse import context_at
from factloop.tools.linguistics.families import without
from factloop.tools.linguistics.references import RESOLVERS, resolve_references

NEEDED_BY = {
    "openings": "However, the port was closed.",
    "contractions": "The bridge is rare, and it's likely to last.",
    "questions": "Was the port closed in 1901?",
    "verb phrases": "Mira Halden studied law and founded a school.",
    "nationalities": "She is a Danish painter.",
}


@pytest.mark.parametrize(("family", "sentence"), NEEDED_BY.items())
def test_a_family_can_be_left_out(family: str, sentence: str) -> None:
    assert split_claims(sentence, rules=RULES.without(family)) != split_claims(sentence)
    assert family not in RULES.without(family).families


def test_resolvers_can_be_left_out() -> None:
    response = "Mira Halden was a chemist. She died in 1955."
    context = context_at(response, response.index("She"), None)
    assert resolve_references("She died in 1955.", context) == "Mira Halden died in 1955."
    fewer = without(RESOLVERS, "personal pronouns")
    assert resolve_references("She died in 1955.", context, rules=fewer) == "She died in 1955."
