"""Steps that the evidence warns of."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier


@pytest.mark.parametrize(
    ("claim", "passage", "is_supported"),
    [
        ("Eat the berries.", "The berries are poisonous and must not be eaten.", False),
        ("Eat the berries.", "Avoid eating the berries.", False),
        ("Delete the file.", "Avoid deleting the file.", False),
        ("Delete the file.", "Deleting the file is forbidden.", False),
        ("Take aspirin.", "Patients should not take aspirin.", False),
        ("Delete the file.", "Delete the file, then restart.", True),
        ("Click Delete.", "Open Settings and click Delete.", True),
        ("Avoid the berries.", "Avoid the berries.", True),
    ],
)
def test_a_step_is_not_borne_out_by_a_warning(claim: str, passage: str, is_supported: bool) -> None:
    assert (LexicalVerifier().verify(claim, [passage]).label == "supported") == is_supported
