from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from tests.simulator import GoldFact, World
from tests.simulator.queries import next_query
from tests.simulator.search import SearchEngine


def world_rows(world: World, n: int) -> list[dict[str, Any]]:
    """`n` rows in the user's format; a third of the facts are false."""
    engine = SearchEngine(world)
    facts = (
        (number, response, fact)
        for number, response in enumerate(world.responses)
        for fact in response.facts
        if fact.label != "irrelevant"
    )
    return [
        {
            "system": f"system-{number % 2}",
            "response_id": f"r{number}",
            "claim_id": str(place),
            "claim": fact.self_contained,
            "document": _found(engine, fact),
            "label": int(fact.label == "supported"),
        }
        for place, (number, response, fact) in enumerate(islice(facts, n))
    ]


def _found(engine: SearchEngine, fact: GoldFact) -> str:
    return "\n".join(passage.page for passage in engine.search(next_query(fact.self_contained, ()), 3))


def write_rows(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
