from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from factloop.evaluation.experiments.plan import ExperimentPlan
from factloop.prompts.registry import packaged_prompts
from tests.simulator import MODEL, World
from tests.simulator.grammar import read_claim
from tests.simulator.world import GoldFact

_PRONOUN = re.compile(r"\b(?:[Ss]he|[Hh]e|[Ii]t)\b")


def facts_of(world: World, n: int) -> list[GoldFact]:
    facts = (fact for fact in world.one_response(43).facts if fact.label != "irrelevant")
    return list({fact.self_contained: fact for fact in facts}.values())[:n]


def document_of(fact: GoldFact) -> str:
    """The passage that settles a fact, with pronouns replaced by the name: a claim's document has no title."""
    read = read_claim(fact.self_contained)
    assert read is not None
    return _PRONOUN.sub(read[0], fact.gold.text)


def write_claims(path: Path, facts: list[GoldFact], *, documents: bool = True, **fields: Any) -> Path:
    rows = [
        {
            "id": f"f{number}",
            "claim": fact.self_contained,
            "label": int(fact.label == "supported"),
            **({"document": document_of(fact)} if documents else {}),
            **fields,
        }
        for number, fact in enumerate(facts)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def write_variant(folder: Path) -> Path:
    packaged = packaged_prompts()["safe/assessment"]
    text = packaged.path.read_text(encoding="utf-8").replace("# user\n", "Take the claim apart.\n# user\n", 1)
    changed = text.replace(f"version: {packaged.version}\n", f"version: {packaged.version + 1}\n", 1)
    (folder / "safe").mkdir(parents=True)
    (folder / "safe" / "assessment.md").write_text(changed, encoding="utf-8")
    return folder


def make_plan(folder: Path, variants: Mapping[str, Mapping[str, Any]], **fields: Any) -> ExperimentPlan:
    settings = {"model": MODEL, **fields.pop("settings", {})}
    values = {"name": "small", "data": "claims.jsonl", "settings": settings, "variants": variants, **fields}
    return ExperimentPlan.model_validate({**values, "folder": folder})
