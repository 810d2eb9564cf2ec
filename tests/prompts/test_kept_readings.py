"""The readings that the guides quote are of the present prompts, and hold no text of the data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.readings.asking import CONDITIONS, SIZES
from factloop.prompts.registry import PromptRegistry

KEPT = Path(__file__).parents[2] / "benchmarks" / "readings"


SEEDS = (2, 5)
"""Seeds of the samples that the guides quote."""


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_kept_readings_are_of_the_present_prompts(condition: str, seed: int) -> None:
    kept = json.loads((KEPT / f"{condition}-{seed}.json").read_text(encoding="utf-8"))
    assert (kept["condition"], kept["seed"]) == (condition, seed)
    assert kept["prompts"] == PromptRegistry.load().hashes(set(kept["prompts"]))
    assert len(kept["verdicts"]) == SIZES[condition]
    assert not any(
        " " in text for name, verdict in kept["verdicts"].items() for text in (name, verdict.replace("left out", ""))
    )
