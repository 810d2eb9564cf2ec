"""All, only and most of one group or of two, and comparisons with *as ... as*: what clashes, and what does not."""

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


TWO = "The flood carried away two arches."


@pytest.mark.parametrize(
    ("claim", "passage", "is_said"),
    [
        ("The flood carried away all arches.", TWO, False),
        ("Every arch was carried away by the flood.", TWO, False),
        ("The flood carried away two arches.", TWO, True),
        ("Nearly all ministers voted for the budget.", "All but two of the ministers voted for the budget.", True),
        ("The flood carried away all arches.", "The flood carried away the two arches.", True),
        ("The flood carried away all arches.", "The flood carried away both arches.", True),
        ("All shops are open on Sundays.", "Our 12 shops are open on Sundays.", True),
    ],
)
def test_a_number_of_things_may_be_a_part_of_all(
    verifier: LexicalVerifier, claim: str, passage: str, is_said: bool
) -> None:
    assert verifier.verify(claim, [passage]).label == ("supported" if is_said else "insufficient")


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The oak is as tall as the church.", "The church is as tall as the oak."),
        ("The bridge is twice as long as the tunnel.", "The tunnel is half as long as the bridge."),
        ("Tin is not as cheap as lead.", "Lead is cheaper than tin."),
        ("The red car is not as fast as the blue car.", "The blue car is faster than the red car."),
        ("The village is smaller than the town.", "The village is not as large as the town."),
        ("The lake is as deep as the bay.", "The bay is no deeper than the lake, and no shallower."),
        ("The red car is fast.", "The red car is not as fast as the blue car."),
        ("The ridge is three times as long as the valley.", "The ridge is longer than the valley."),
        ("Iron is as strong as oak.", "Oak is not as strong as iron."),
    ],
)
def test_a_comparison_with_as_is_not_denied_by_its_like(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert verifier.verify(claim, [passage]).label != "contradicted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The bridge is longer than the tunnel.", "The bridge is as long as the tunnel."),
        ("The bridge is as long as the tunnel.", "The bridge is not as long as the tunnel."),
        ("The bridge is not as long as the tunnel.", "The bridge is as long as the tunnel."),
        ("Tin is cheaper than lead.", "Tin is not as cheap as lead."),
        ("Tin is not as cheap as lead.", "Tin is cheaper than lead."),
        ("The village is larger than the town.", "The village is not as large as the town."),
        ("The kiln is as hot as the oven.", "The oven is hotter than the kiln."),
        ("The tower was opened.", "The tower, as tall as a church, was not opened."),
        ("The tunnel is twice as long as the bridge.", "The tunnel is not twice as long as the bridge."),
    ],
)
def test_another_comparison_of_the_same_two_is_contradicted(
    verifier: LexicalVerifier, claim: str, passage: str
) -> None:
    assert verifier.verify(claim, [passage]).label == "contradicted"


def test_what_is_taller_is_not_called_as_tall_nor_denied_to_be(verifier: LexicalVerifier) -> None:
    read = verifier.verify("The bridge is as long as the tunnel.", ["The bridge is longer than the tunnel."])
    assert read.label == "insufficient"
