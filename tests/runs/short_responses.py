"""Many short responses of the simulated world, of two systems."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from factloop.runs.items import RunItem
from tests.simulator import World


def short_items(world: World, n: int) -> Iterator[RunItem]:
    """Each a sentence of its own with facts in it, as far as the world has so many (some 400)."""
    facts = world.facts_of_sentence
    sentences = [
        (response.prompt, sentence)
        for response in world.responses
        for sentence in response.sentences
        if sentence in facts
    ]
    for number in range(n):
        prompt, sentence = sentences[number % len(sentences)]
        yield RunItem(
            id=f"r{number:04}",
            system=("one", "two")[number % 2],
            prompt_id=f"p{number // 2:04}",
            prompt=prompt,
            response=sentence,
        )


def write_items(path: Path, items: Iterator[RunItem]) -> Path:
    rows = (
        {"id": one.id, "system": one.system, "prompt_id": one.prompt_id, "prompt": one.prompt, "response": one.response}
        for one in items
    )
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path
