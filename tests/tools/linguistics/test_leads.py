"""Leads of lists, and the items that they name the subject of."""

from __future__ import annotations

import pytest

from factloop.tools.linguistics.leads import is_bare_lead, under_lead


@pytest.mark.parametrize(
    ("text", "is_bare"),
    [
        ("Tarn 4:", True),
        ("Side effects:", True),
        ("Tarn 4", False),
        ("They include:", False),
        ("It was lit in:", False),
    ],
)
def test_a_lead_that_is_a_noun_phrase_is_bare(text: str, is_bare: bool) -> None:
    assert is_bare_lead(text) == is_bare


@pytest.mark.parametrize(
    ("item", "lead", "text"),
    [
        ("Two 2.5 GbE ports", "Tarn 4:", "Tarn 4: two 2.5 GbE ports"),
        ("USB-C port", "**Tarn 4**:", "Tarn 4: USB-C port"),
        ("costs 9 USD", "The Team plan:", "The Team plan: costs 9 USD"),
        ("It costs 9 USD.", "Tarn 4:", "It costs 9 USD."),
        ("Open the lid.", "Tarn 4:", "Open the lid."),
        ("Which ports?", "Tarn 4:", "Which ports?"),
        ("two ports", "Common parts:", "two ports"),
        ("two ports", "Tarn 4 has:", "two ports"),
        ("two ports", "Tarn 4", "two ports"),
        ("two ports", "", "two ports"),
    ],
)
def test_an_item_without_a_verb_is_said_of_what_its_lead_names(item: str, lead: str, text: str) -> None:
    assert under_lead(item, lead) == text


def test_advice_that_ends_in_a_colon_is_no_bare_lead() -> None:
    assert not is_bare_lead("If you can't update, switch sleep off from the shell:")
    assert not is_bare_lead("If pregnant, ten tablets a day:")
    assert not is_bare_lead(":")
