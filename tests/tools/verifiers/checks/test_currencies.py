"""Amounts of money: the same figure in another currency is another amount."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier


@pytest.fixture(scope="module")
def verifier() -> LexicalVerifier:
    return LexicalVerifier()


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The Team plan costs $79.", "The Team plan costs €79."),
        ("The Team plan costs $79 per month.", "The Team plan costs 79 euros per month."),
        ("The Team plan costs 79 dollars per month.", "The Team plan costs £79 per month."),
        ("The fine is €1,200.", "The fine is $1,200."),
    ],
)
def test_another_currency_contradicts(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    read = verifier.verify(claim, [passage])
    assert read.label == "contradicted"
    assert "in another currency than the claim" in read.rationale


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The Team plan costs €79.", "The Team plan costs 79 euros."),
        ("The Team plan costs €79 per month.", "The Team plan costs 79 euros per month."),
        ("The Team plan costs $79.", "The Team plan costs 79 USD."),
        ("The Team plan costs $79.", "The Team plan costs 79 a month."),
        ("The Team plan costs $79.", "The Team plan costs €79 or $79."),
    ],
)
def test_the_same_currency_in_other_words_does_not(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert verifier.verify(claim, [passage]).label == "supported"
