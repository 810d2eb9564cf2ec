"""Sides that were exchanged: of *took over from*, of a way, of a comparison by letters; rise and fall; two subjects."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier

LED = "It is led by Marta Oliveira, who took over from Dan Whitlock."
TRAIN = "The train runs from Leeds to York."
MODELS = "Model A is cheaper than Model B."
LETTERS = "A is faster than B."
LIGHTER = "The Mira is 20 % lighter than the Nova."
SALES = "Sales rose by 12 % in 2022 and fell by 3 % in 2023."
ACME = "Acme bought Brightly. Brightly was founded by Ana Ruiz."
BEFORE = "The firm has 80 staff. The train has a dining car. The office is in Porto."
AFTER = "The station has two halls. Figures are reported each spring. The frame is made of steel."


@pytest.fixture(scope="module")
def verifier() -> LexicalVerifier:
    return LexicalVerifier()


def pages(passage: str) -> list[str]:
    return [passage, f"{BEFORE} {passage} {AFTER}"]


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Dan Whitlock took over from Marta Oliveira.", LED),
        ("The train runs from York to Leeds.", TRAIN),
        ("Model B is cheaper than Model A.", MODELS),
        ("Model A is more expensive than Model B.", MODELS),
        ("B is faster than A.", LETTERS),
        ("A is slower than B.", LETTERS),
        ("The Nova is 20 % lighter than the Mira.", LIGHTER),
        ("Sales halved in 2023.", "Sales doubled in 2023."),
        ("Sales fell by 12 % in 2022.", SALES),
        ("Sales rose by 3 % in 2023.", SALES),
        ("Sales fell by 12 % in 2022.", "Sales rose by 12 % in 2022."),
        ("Acme was founded by Ana Ruiz.", ACME),
    ],
)
def test_exchanged_sides_bear_nothing_out(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert all(verifier.verify(claim, [page]).label != "supported" for page in pages(passage))


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Marta Oliveira took over from Dan Whitlock.", LED),
        ("The train runs from Leeds to York.", TRAIN),
        ("Model A is cheaper than Model B.", MODELS),
        ("Model B is more expensive than Model A.", MODELS),
        ("A is faster than B.", LETTERS),
        ("B is slower than A.", LETTERS),
        ("The Mira is 20 % lighter than the Nova.", LIGHTER),
        ("Sales doubled in 2023.", "Sales doubled in 2023."),
        ("Sales rose by 12 % in 2022.", SALES),
        ("Sales fell by 3 % in 2023.", SALES),
        ("Brightly was founded by Ana Ruiz.", ACME),
        ("Acme bought Brightly.", ACME),
    ],
)
def test_the_sides_of_the_evidence_do(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert all(verifier.verify(claim, [page]).label == "supported" for page in pages(passage))


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The train runs from York to Leeds.", "The train runs from Leeds to York and back."),
        ("The train runs from York to Leeds.", "The train runs both ways, from Leeds to York."),
        ("Brightly was founded by Ana Ruiz.", "Acme bought Brightly. It was founded by Ana Ruiz."),
        ("Ludwig van Beethoven was born in Bonn.", "Ludwig van Beethoven wrote songs. Beethoven was born in Bonn."),
    ],
)
def test_what_may_be_so_is_not_contradicted(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert all(verifier.verify(claim, [page]).label != "contradicted" for page in pages(passage))
