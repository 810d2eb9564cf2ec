"""The readings that the guides quote are of the present prompts, and hold no text of the data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.readings.asking import CONDITIONS, SIZES, Question, meanings_of
from factloop.agents.safe.schemas import GroundedFacts
from factloop.prompts.registry import PromptRegistry, RenderedPrompt

KEPT = Path(__file__).parents[2] / "benchmarks" / "readings"

SEEDS = (2, 5)
"""Seeds of the samples that the guides quote; the windows are no sample."""
READINGS = [(one, seed) for one in CONDITIONS for seed in (SEEDS if one != "windows" else (0,))]


@pytest.mark.parametrize(("condition", "seed"), READINGS)
def test_kept_readings_are_of_the_present_prompts(condition: str, seed: int) -> None:
    kept = json.loads((KEPT / f"{condition}-{seed}.json").read_text(encoding="utf-8"))
    assert (kept["condition"], kept["seed"]) == (condition, seed)
    assert kept["prompts"] == PromptRegistry.load().hashes(set(kept["prompts"]))
    assert len(kept["verdicts"]) == SIZES[condition]
    assert not any(
        " " in text for name, verdict in kept["verdicts"].items() for text in (name, verdict.replace("left out", ""))
    )


def test_a_fact_of_a_window_has_the_verdict_on_the_fact_that_is_nearest_in_words() -> None:
    facts = {"a": "Ada Brisk was born in Ulm.", "b": "Ada Brisk was born in 1931.", "c": "The tower is red."}
    question = Question(tuple(facts), RenderedPrompt("p", "", ""), GroundedFacts, facts)
    said = [("Ada Brisk was born in Ulm.", "supported"), ("In 1931 Ada Brisk was born.", "contradicted")]
    entries = [{"sentence": 1, "fact": fact, "verdict": verdict, "passages": [1]} for fact, verdict in said]
    reply = {"facts": entries, "without_fact": [], "off_topic": []}
    assert meanings_of(reply, question) == {"a": "supported", "b": "contradicted", "c": None}
    assert meanings_of({"facts": "none"}, question) == {"a": None, "b": None, "c": None}
