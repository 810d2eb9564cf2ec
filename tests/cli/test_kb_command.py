"""`factloop research kb build`: dumps in, one table out, which the distractors then come from."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.cli.command import Command

TYPE, LABEL = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "http://www.w3.org/2000/01/rdf-schema#label"
NAMES = (
    "Glimmerfall",
    "Ostrava Deep",
    'Quill "Sharp" Bay',
    "Brace } Cove",
    "Back\\slash Sound",
    "Tarn Vexley",
    "Unnamed",
)


def ntriples(names: tuple[str, ...]) -> tuple[str, str]:
    types, labels = [], []
    for number, name in enumerate(names):
        subject = f"<http://dbpedia.org/resource/N{number}>"
        types.append(f"{subject} <{TYPE}> <http://dbpedia.org/ontology/Lighthouse> .")
        if name != "Unnamed":
            said = name.replace("\\", "\\\\").replace('"', '\\"')
            labels.append(f'{subject} <{LABEL}> "{said}"@en .')
    return "\n".join(types) + "\n", "\n".join(labels) + "\n"


@pytest.fixture(params=["nt", "nt.gz", "ttl"])
def dumps(request: pytest.FixtureRequest, home: Path) -> tuple[Path, Path]:
    texts = ntriples(NAMES)
    if request.param == "ttl":
        prefixes = "@prefix dbo: <http://dbpedia.org/ontology/> .\n"
        texts = (prefixes + texts[0].replace("<http://dbpedia.org/ontology/Lighthouse>", "dbo:Lighthouse"), texts[1])
    paths = (home / f"types.{request.param}", home / f"labels.{request.param}")
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return paths


def test_a_table_from_dumps_gives_distractors_of_the_same_type(
    factloop: Command, dumps: tuple[Path, Path], home: Path
) -> None:
    types, labels = dumps
    built = factloop("research", "kb", "build", "--types", types, "--labels", labels, "--out", "lights.kb")
    assert (built.code, built.err) == (0, "")
    assert built.out == "lights.kb: 6 entities of 1 type, 6 names; 1 without a label were left out\n"
    found = factloop(
        "research", "distractors", "--question", "Which light was it?", "--response", "It was Glimmerfall.", "--n", 5,
        "--kb", "lights.kb", "--json", "-",
    )  # fmt: skip
    assert found.code == 0
    made = json.loads(found.out)["distractors"]
    assert {one["by"] for one in made} == set(NAMES) - {"Glimmerfall", "Unnamed"}
    assert {(one["source"], one["level"], one["replaced"]) for one in made} == {
        ("knowledge_base", "entity", "Glimmerfall")
    }
    assert sorted(path.name for path in home.iterdir()) == sorted([types.name, labels.name, "lights.kb"])
