"""Denials: by a word that denies what it stands before, by the limit of a group, and of several things at once."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.base import Label
from factloop.tools.verifiers.lexical import LexicalVerifier

LOCK = "After five failed attempts the account is locked for one hour."
NEITHER = "Neither the Falcon nor the Merlin is sold with pedals."
BOTH = "The house and the garden are closed in winter."


@pytest.fixture(scope="module")
def verifier() -> LexicalVerifier:
    return LexicalVerifier()


@pytest.mark.parametrize(
    ("claim", "passage", "label"),
    [
        ("The account is never locked.", LOCK, "contradicted"),
        ("The account is locked for one hour.", LOCK, "supported"),
        ("The Falcon is sold with pedals.", NEITHER, "contradicted"),
        ("The Merlin is sold with pedals.", NEITHER, "contradicted"),
        ("The Falcon is not sold with pedals.", NEITHER, "supported"),
        ("The house is open in winter.", BOTH, "contradicted"),
        ("The garden is open in winter.", BOTH, "contradicted"),
        ("The house is open in winter.", "The house and garden wall is closed in winter.", "insufficient"),
    ],
)
def test_what_a_denial_is_of(verifier: LexicalVerifier, claim: str, passage: str, label: Label) -> None:
    assert verifier.verify(claim, [passage]).label == label


NOBODY = "Nobody under 16 may hire an e-bike."
CHILDREN = "Children under 16 may not hire an e-bike."


@pytest.mark.parametrize("passage", [NOBODY, CHILDREN, "No one under 16 may hire an e-bike."])
def test_whom_a_limit_shuts_out_may_not(verifier: LexicalVerifier, passage: str) -> None:
    assert verifier.verify("Children under 16 may hire an e-bike.", [passage]).label != "supported"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (CHILDREN, NOBODY),
        (CHILDREN, "No children under 16 may hire an e-bike."),
        ("You must be at least 16 to hire an e-bike.", NOBODY),
        ("No bag over 20 kg may be carried.", "Bags over 20 kg must not be carried."),
    ],
)
def test_a_limit_by_a_denial_is_the_same_limit(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert verifier.verify(claim, [passage]).label == "supported"


def test_a_limit_hides_no_denial(verifier: LexicalVerifier) -> None:
    read = verifier.verify("Bags up to 20 kg may not be carried.", ["Bags up to 20 kg may be carried."])
    assert read.label == "contradicted"
