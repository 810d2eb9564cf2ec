from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.readings.asking import CONDITIONS, SIZES, Question, meanings_of, says_yes
from benchmarks.readings.items import WICE, wice_pairs
from factloop.agents.safe.schemas import GroundedFacts, WindowFacts
from factloop.agents.shown import as_shown
from factloop.prompts.registry import PromptRegistry, RenderedPrompt

KEPT = Path(__file__).parents[2] / "benchmarks" / "readings"

SEEDS = {"splits": (0,), "windows": (0,), "steering": (0,), "stance-rating": (21,), "stance-published": (21,)}
"""Of the samples that the guides quote, where these are not 21 and 22; splits, windows and steering are no samples."""
READINGS = [(one, seed) for one in CONDITIONS for seed in SEEDS.get(one, (21, 22))]


@pytest.mark.parametrize(("condition", "seed"), READINGS)
def test_kept_readings_are_of_the_present_prompts(condition: str, seed: int) -> None:
    kept = json.loads((KEPT / f"{condition}-{seed}.json").read_text(encoding="utf-8"))
    assert (kept["condition"], kept["seed"]) == (condition, seed)
    assert kept["prompts"] == PromptRegistry.load().hashes(set(kept["prompts"]))
    assert len(kept["verdicts"]) == SIZES[condition]
    assert not any(
        " " in text
        for name, verdict in kept["verdicts"].items()
        for text in (name, (verdict or "").replace("left out", ""))
    )


def test_a_fact_of_a_window_has_the_verdict_on_the_fact_that_is_nearest_in_words() -> None:
    facts = {"a": "Ada Brisk was born in Ulm.", "b": "Ada Brisk was born in 1931.", "c": "The tower is red."}
    question = Question(tuple(facts), RenderedPrompt("p", "", ""), GroundedFacts, facts)
    said = [("Ada Brisk was born in Ulm.", "supported"), ("In 1931 Ada Brisk was born.", "contradicted")]
    entries = [{"sentence": 1, "fact": fact, "verdict": verdict, "passages": [1]} for fact, verdict in said]
    reply = {"facts": entries, "without_fact": [], "off_topic": []}
    assert meanings_of(reply, question) == {"a": "supported", "b": "contradicted", "c": None}
    assert meanings_of({"facts": "none"}, question) == {"a": None, "b": None, "c": None}


def test_a_fact_of_a_split_has_the_status_of_the_fact_that_is_nearest_in_words() -> None:
    facts = {"a": "Ada Brisk was born in Ulm.", "b": "Ada Brisk died in 1931.", "c": "The tower is red."}
    question = Question(tuple(facts), RenderedPrompt("p", "", ""), WindowFacts, facts)
    said = [(1, "Ada Brisk was born in Ulm.", "check"), (2, "Ada Brisk died in 1931.", "irrelevant")]
    entries = [{"sentence": number, "fact": fact, "status": status, "query": ""} for number, fact, status in said]
    found = meanings_of({"facts": entries, "without_fact": []}, question)
    assert found == {"a": "check", "b": "irrelevant", "c": None}
    assert [says_yes(one) for one in found.values()] == [True, False, False]


def test_a_claim_of_wice_is_judged_by_what_a_search_of_its_article_finds(tmp_path: Path) -> None:
    about = ["(meta data) TITLE: The Orrin Courier", "(meta data) PUBLISHED DATETIME: 2016-08-24T10:00:00Z"]
    lines = [*about, "(meta data) PUBLISHER: Orrin Press", "The viaduct opened on Monday.", "It has nine arches."]
    row = {"id": "dev1", "title": "Orrin", "section": "", "claim": "The viaduct opened.", "evidence": lines}
    rows = [row | {"label": "supported"}, row | {"id": "dev2", "label": "not_supported"}]
    (tmp_path / WICE).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    pairs = wice_pairs(tmp_path, 2, seed=0)
    assert {pair.id: pair.gold for pair in pairs} == {"dev1": True, "dev2": False}
    (passage,) = pairs[0].case.evidence
    assert as_shown(passage) == "The Orrin Courier (2016-08-24)\nThe viaduct opened on Monday. It has nine arches."
