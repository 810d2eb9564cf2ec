from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from factloop.evaluation.runs.items import RunItem
from tests.simulator import GoldFact, World


def short_facts(world: World) -> Mapping[str, tuple[str, Sequence[GoldFact]]]:
    """Some 300 self-contained sentences, each with its question and its facts.

    A sentence names the subject of its question.
    """
    found: dict[str, tuple[str, Sequence[GoldFact]]] = {}
    for response in world.responses:
        for sentence in response.sentences:
            facts = [fact for fact in response.facts if fact.sentence == sentence and fact.subject == response.subject]
            if facts:
                found.setdefault(_told(facts), (response.prompt, facts))
    return found


def _told(facts: Sequence[GoldFact]) -> str:
    *before, last = (fact.self_contained.removeprefix(f"{fact.subject} ").rstrip(".") for fact in facts)
    return f"{facts[0].subject} {', '.join(before)} and {last}." if before else f"{facts[0].subject} {last}."


def short_items(world: World, n: int) -> Iterator[RunItem]:
    """One-sentence items, two to a prompt; they repeat after some 300."""
    of_prompt: dict[str, list[tuple[str, tuple[str, Sequence[GoldFact]]]]] = {}
    for told in short_facts(world).items():
        of_prompt.setdefault(told[1][0], []).append(told)
    sentences = [told for found in of_prompt.values() for told in found[: len(found) // 2 * 2]]
    for number in range(n):
        sentence, (prompt, _) = sentences[number % len(sentences)]
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
