"""Small experiments on claims of the simulator's world."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from factloop.experimenting.plan import ExperimentPlan
from factloop.prompts.registry import PACKAGED
from tests.simulator import MODEL, World
from tests.simulator.world import GoldFact


def facts_of(world: World, n: int) -> list[GoldFact]:
    """Different facts of one response, of either label."""
    facts = (fact for fact in world.one_response(43).facts if fact.label != "irrelevant")
    return list({fact.self_contained: fact for fact in facts}.values())[:n]


def write_claims(path: Path, facts: list[GoldFact], *, documents: bool = True, **fields: Any) -> Path:
    """The facts as labelled claims, each with the passage that settles it."""
    rows = [
        {
            "id": f"f{number}",
            "claim": fact.self_contained,
            "label": int(fact.label == "supported"),
            **({"document": fact.gold.text} if documents else {}),
            **fields,
        }
        for number, fact in enumerate(facts)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def write_variant(folder: Path, name: str = "assessment", said: str = "Take the claim apart.") -> Path:
    """A folder with one prompt that says a little more than the packaged one."""
    text = (PACKAGED / "safe" / f"{name}.md").read_text(encoding="utf-8")
    changed = text.replace("# user\n", f"{said}\n# user\n", 1).replace("version: 1\n", "version: 2\n")
    (folder / "safe").mkdir(parents=True)
    (folder / "safe" / f"{name}.md").write_text(changed, encoding="utf-8")
    return folder


def make_plan(folder: Path, variants: Mapping[str, Mapping[str, Any]], **fields: Any) -> ExperimentPlan:
    """A plan for the simulated model over `claims.jsonl` of the folder."""
    settings = {"model": MODEL, **fields.pop("settings", {})}
    values = {"name": "small", "data": "claims.jsonl", "settings": settings, "variants": variants, **fields}
    return ExperimentPlan.model_validate({**values, "folder": folder})
