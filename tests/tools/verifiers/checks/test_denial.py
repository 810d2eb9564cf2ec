"""Denials: by a word that denies what it stands before, and of several things at once."""

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
