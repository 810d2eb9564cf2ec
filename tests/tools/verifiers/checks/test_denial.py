"""Denials: by a word that denies what it stands before, and by one that does not."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.base import Label
from factloop.tools.verifiers.lexical import LexicalVerifier

LOCK = "After five failed attempts the account is locked for one hour."


@pytest.fixture(scope="module")
def verifier() -> LexicalVerifier:
    return LexicalVerifier()


@pytest.mark.parametrize(
    ("claim", "passage", "label"),
    [
        ("The account is never locked.", LOCK, "contradicted"),
        ("The account is locked for one hour.", LOCK, "supported"),
    ],
)
def test_what_a_denial_is_of(verifier: LexicalVerifier, claim: str, passage: str, label: Label) -> None:
    assert verifier.verify(claim, [passage]).label == label
