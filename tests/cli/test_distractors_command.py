from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema

from factloop.schemas import json_schema
from tests.cli.command import Command, Result
from tests.simulator import MODEL, Simulator
from tests.tools.names.dbpedia_servers import servers as servers

TEMPLE = ("--question", "Who built the first temple in Jerusalem?", "--response", "King Solomon built it.")
MONARCH = ("Agent", "Person", "Monarch")
TYPES = ",".join(f"DBpedia:{name}" for name in MONARCH)


def found_in(result: Result) -> Any:
    assert (result.code, result.err) == (0, "")
    return json.loads(result.out)


def sources(found: Any) -> set[str]:
    return {one["source"] for one in found["distractors"]}


def test_they_are_shown_and_written_without_a_model_or_a_key(factloop: Command, home: Path) -> None:
    shown = factloop("research", "distractors", *TEMPLE, "--n", 5, "--json", "found.json")
    assert (shown.code, shown.err) == (0, "")
    found = json.loads((home / "found.json").read_text(encoding="utf-8"))
    assert len(found["distractors"]) == 5
    for one in found["distractors"]:
        assert one["by"] in shown.out.replace("\n", " ")
    schema = json_schema("distractor_set")
    jsonschema.validate(found, schema)
    assert found_in(factloop("research", "distractors", *TEMPLE, "--n", 5, "--json", "-")) == found
    assert found_in(factloop("research", "distractors", *TEMPLE, "--n", 5, "--json", "-", "--seed", 1)) != found


MODEL_FLAGS = ("--distractors", "model", "--judge-model", MODEL)


def test_a_model_proposes_some_where_it_is_told_to(factloop: Command, sim: Simulator) -> None:
    """The simulator spells words backwards, which tells its proposals from all others."""
    found = found_in(factloop("research", "distractors", *TEMPLE, *MODEL_FLAGS, "--n", 12, "--json", "-"))
    proposed = [one["by"] for one in found["distractors"] if one["source"] == "model"]
    assert proposed
    assert found["usage"]["stages"]["substitutes"]["calls"] == sim.stats().stages["Substitutes"].answered == 1
    assert "1 reply reused from the cache" in " ".join(
        factloop("research", "distractors", *TEMPLE, *MODEL_FLAGS, "--n", 12).out.split()
    )
    known = [flag for answer in proposed for flag in ("--reference", answer)]
    barred = found_in(factloop("research", "distractors", *TEMPLE, *MODEL_FLAGS, *known, "--n", 12, "--json", "-"))
    assert sources(barred) == sources(found) - {"model"}
    assert sim.stats().stages["Substitutes"].answered == 1  # the answer of the first time was kept
