"""Steps of which the evidence has but one word, with a true twin beside each."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier

RESET = "To reset a password, open Settings, choose Security and click Reset."


@pytest.fixture(scope="module")
def verifier() -> LexicalVerifier:
    return LexicalVerifier()


@pytest.mark.parametrize(
    ("step", "passage", "is_said"),
    [
        ("Add bleach.", "Mix the flour and the sugar. Add eggs. Bake for 20 minutes.", False),
        ("Add the eggs.", "Mix the flour and the sugar, then add the eggs and stir.", True),
        ("Take aspirin.", "Take ibuprofen with food. It helps.", False),
        ("Delete the app.", "Restart the app. Then wait a minute.", False),
        ("Remove the cover.", "Remove the battery. Keep the cover closed.", False),
        ("Remove the cover.", "Keep calm. Remove the cover with a coin.", True),
        ("Avoid alcohol.", "Alcohol may be drunk in small amounts.", False),
        ("Open Billing.", RESET, False),
        ("Open Settings.", RESET, True),
        ("Select Security.", RESET, True),
        ("Unplug the router.", "If the light is red, unplug the router for ten seconds.", True),
        ("Use coarse grounds and cold water for the brew.", "The brew needs coarse grounds and cold water.", True),
    ],
)
def test_a_step_is_said_where_one_sentence_has_deed_and_object(
    verifier: LexicalVerifier, step: str, passage: str, is_said: bool
) -> None:
    assert (verifier.verify(step, [passage]).label == "supported") is is_said
