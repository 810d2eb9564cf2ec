"""What a clause leaves out that ends in *does not* or *is not*."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.ellipses import without_ellipses
from factloop.tools.verifiers.lexical import LexicalVerifier

CAMERA = "The R100 has a camera, but the R200 does not."
NO_CAMERA = "The R100 has no camera, but the R200 does."
GARDEN = "Cats are allowed in the garden, but dogs are not."
SAUNA = "Adults can use the sauna, while children cannot."
BUS = "The blue bus stopped at the mill, but the red bus did not."
PLAN = "The Pro plan includes support, whereas the Basic plan does not."


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The R100 has a camera.", CAMERA),
        ("The R200 has no camera.", CAMERA),
        ("The R200 does not have a camera.", CAMERA),
        ("The R200 has a camera.", NO_CAMERA),
        ("Dogs are not allowed in the garden.", GARDEN),
        ("Children cannot use the sauna.", SAUNA),
        ("The red bus did not stop at the mill.", BUS),
        ("The Basic plan does not include support.", PLAN),
        ("Tom does not eat meat.", "Anna eats meat, but Tom doesn't."),
        ("Rabbits do not eat meat.", "Cats eat meat; rabbits do not."),
    ],
)
def test_what_is_left_out_bears_a_claim_out(claim: str, passage: str) -> None:
    read = LexicalVerifier().verify(claim, [f"The shop is shut. {passage} It rains."])
    assert read.label == "supported"
    assert read.quote == passage
    assert passage in read.rationale


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The R200 has a camera.", CAMERA),
        ("The R100 has no camera.", CAMERA),
        ("The R200 has no camera.", NO_CAMERA),
        ("Dogs are allowed in the garden.", GARDEN),
        ("Cats are not allowed in the garden.", GARDEN),
        ("Children can use the sauna.", SAUNA),
        ("The red bus stopped at the mill.", BUS),
        ("The Basic plan includes support.", PLAN),
        ("Tom eats meat.", "Anna eats meat, but Tom doesn't."),
    ],
)
def test_what_is_left_out_is_denied(claim: str, passage: str) -> None:
    read = LexicalVerifier().verify(claim, [f"The shop is shut. {passage}"])
    assert read.label == "contradicted"
    assert read.quote == passage


@pytest.mark.parametrize(
    "passage",
    [
        "The R100 has a camera, but it does not.",
        "She wanted to win, but she did not.",
        "Anna, who lives in Rome, eats meat, but Tom does not.",
        "He said that it works, but experts do not.",
        "The R100 has no camera, and the R200 has not.",
        "Bees sting but wasps do.",
        "Is it open? It is not.",
        "The R100 does not have a camera, and the R200 does not.",
    ],
)
def test_what_is_not_sure_stays_as_it_is(passage: str) -> None:
    assert without_ellipses([passage]) == ([passage], {})


@pytest.mark.parametrize(
    ("passage", "turned"),
    [
        (CAMERA, "The R200 has a camera, but the R100 does not."),
        (GARDEN, "Dogs are allowed in the garden, but cats are not."),
        (PLAN, "The Basic plan includes support, whereas the Pro plan does not."),
        (SAUNA, "Children can use the sauna, while adults cannot."),
    ],
)
def test_a_claim_with_an_ellipsis_holds_where_both_clauses_do(passage: str, turned: str) -> None:
    assert LexicalVerifier().verify(passage, [passage]).label == "supported"
    assert LexicalVerifier().verify(turned, [passage]).label == "contradicted"
