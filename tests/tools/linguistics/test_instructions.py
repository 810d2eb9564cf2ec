"""Instructions that say what is done are claims; requests about the answer are none."""

from __future__ import annotations

import pytest

from factloop.tools.linguistics.claims import split_claims
from factloop.tools.linguistics.outline import Part
from factloop.tools.linguistics.silence import silence_of


@pytest.mark.parametrize(
    "step",
    [
        "Open Billing.", "Choose Export.", "Click Delete.", "Press Reset.", "Select Security.", "Go to Settings.",
        "Add bleach.", "Restart the router.", "Avoid alcohol.", "Take aspirin.", "Turn off the power.",
    ],
)  # fmt: skip
def test_a_step_is_a_claim(step: str) -> None:
    assert split_claims(step) == [step]


@pytest.mark.parametrize("step", ["Choose Export", "Open the app", "Click on the gear icon"])
def test_a_step_may_lack_its_full_stop(step: str) -> None:
    assert split_claims(step) == [f"{step}."]


@pytest.mark.parametrize(
    "text",
    [
        "List three towns in the hills.", "Consider a refund.", "Note the date.", "Be careful.", "Enjoy your meal.",
        "Bake it.", "Wait.", "Save.", "Log in.", "Scroll down.", "Follow these steps:", "Open source",
        "Early life.",
    ],
)  # fmt: skip
def test_what_names_nothing_to_be_done_is_none(text: str) -> None:
    assert split_claims(text) == []


@pytest.mark.parametrize("title", ["Add a user", "Choose a plan", "Restart the router", "Click Delete"])
def test_a_heading_that_tells_what_is_done_below_it_states_nothing(title: str) -> None:
    assert silence_of(Part(title, 0, len(title), "heading")) == "heading"
