"""Addresses are compared whole."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.addresses import missing_address
from factloop.tools.verifiers.lexical import LexicalVerifier


@pytest.mark.parametrize(
    ("claim", "passage", "is_supported"),
    [
        ("Contact support@example.com.", "You can contact support at help@example.com.", False),
        ("Contact help@example.com.", "You can contact help@example.com.", True),
        ("Visit www.acme.com.", "Visit www.acme.org.", False),
        ("Visit www.acme.com.", "Visit https://acme.com/ today.", True),
    ],
)
def test_another_address_bears_nothing_out(claim: str, passage: str, is_supported: bool) -> None:
    read = LexicalVerifier().verify(claim, [passage])
    assert (read.label == "supported") == is_supported


def test_a_claim_without_an_address_lacks_none() -> None:
    assert missing_address("Acme was founded in 1999 @ Ulm.", []) == ""
