"""All, only and most of one group or of two: what clashes, and what does not."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier


@pytest.fixture(scope="module")
def verifier() -> LexicalVerifier:
    return LexicalVerifier()


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("All employees get the discount.", "Only staff get the discount."),
        ("Every member can vote.", "Only members can vote."),
        ("All physicians can sign the form.", "Only doctors can sign the form."),
        ("Every customer can cancel online.", "Only clients can cancel online."),
        ("Everyone who lives there may park for free.", "Only residents may park for free."),
        ("All workers are insured against accidents.", "Only employees are insured against accidents."),
        ("Members may bring any guest.", "Only members may bring guests."),
        ("The library lends all books.", "The library lends only books."),
        ("All employees get the discount at the shop.", "Most customers get the discount at the shop."),
        ("All nurses must wear a badge in the ward.", "Some visitors must wear a badge in the ward."),
        ("Only staff get the discount.", "All employees get the discount."),
    ],
)
def test_two_words_for_one_group_do_not_clash(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert verifier.verify(claim, [passage]).label != "contradicted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Everyone can vote.", "Only members can vote."),
        ("All members are insured against accidents.", "Only senior members are insured against accidents."),
        ("Every user can delete the log.", "Only administrators can delete the log."),
        ("All students may enter.", "Only teachers may enter."),
        ("All guests get the discount.", "Only staff get the discount."),
        ("Every room has a safe.", "Some rooms have a safe."),
        ("All members voted for it.", "Few members voted for it."),
        ("Any guest may use the pool.", "Only members may use the pool."),
    ],
)
def test_a_group_and_a_part_of_it_or_another_clash(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert verifier.verify(claim, [passage]).label == "contradicted"
