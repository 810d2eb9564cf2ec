"""Plain `pip install factloop` can check, guard and correct with a model; everything else says which extra it needs."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import factloop
from factloop.core.extras import install_command
from tests.simulator import MODEL, Simulator

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

OFFLINE = "a check without a model (--model)"
COMMANDS: Mapping[tuple[str, ...], tuple[str, str]] = {
    ("check", "answer.txt", "--docs", "sources"): (OFFLINE, "offline"),
    ("correct", "answer.txt", "--docs", "sources"): (OFFLINE, "offline"),
    ("check", "answer.txt", "--docs", "page.html"): ("page.html: reading HTML", "documents"),
    ("check", "answer.txt", "--docs", "page.pdf"): ("page.pdf: reading PDF", "documents"),
    ("check", "answer.txt", "--embeddings", "minilm"): (OFFLINE, "offline"),
    ("check", "answer.txt", "--docs", "sources", "--model", "openai:x", "--embeddings", "minilm"): (
        "an embedding model",
        "semantic",
    ),
    ("trust", "--question", "Who?", "--response", "Ada."): ("factloop trust", "trust"),
    ("research", "distractors", "--question", "Who?", "--response", "Ada."): ("factloop research distractors", "trust"),
    ("research", "audit", "rows.jsonl"): ("factloop research audit", "evaluation"),
    ("research", "compare", "a", "b"): ("factloop research compare", "evaluation"),
    ("research", "experiment", "plan.yaml"): ("factloop research experiment", "evaluation"),
    ("eval", "rows.jsonl"): ("factloop eval", "evaluation"),
    ("eval", "factscore", "--data", "facts"): ("factloop eval factscore", "evaluation"),
    ("eval", "mixedqa"): ("factloop eval mixedqa", "evaluation"),
    ("research", "cascade", "tune", "rows.jsonl", "--out", "c.json"): ("factloop research cascade tune", "evaluation"),
    ("research", "verify", "rows.jsonl", "--verifier", "baseline", "--out", "o.jsonl"): (
        "the verifier baseline",
        "offline",
    ),
    ("research", "verify", "rows.jsonl", "--verifier", "nli:here", "--out", "o.jsonl"): ("the judge nli", "semantic"),
    ("research", "verify", "rows.parquet", "--verifier", "llm:openai:x", "--out", "o.jsonl"): ("Parquet", "data"),
    ("research", "kb", "build", "--types", "types.nt", "--labels", "types.nt", "--out", "kb"): (
        "types.nt: reading RDF",
        "kb",
    ),
    ("serve",): ("the service", "serve"),
    ("mcp",): ("the MCP server", "mcp"),
}
"""What each asks for, and the extra that it lacks."""
MODULES = {
    "factloop.agents.trustscore.distractors.generate": ("TrustScore", "trust"),
    "factloop.evaluation.audit": ("an audit", "evaluation"),
    "factloop.evaluation.cascades": ("tuning a cascade", "evaluation"),
    "factloop.evaluation.comparing": ("a comparison", "evaluation"),
    "factloop.evaluation.debiasing": ("correcting scores by labels", "evaluation"),
    "factloop.evaluation.experiments": ("an experiment", "evaluation"),
    "factloop.evaluation.runs.run": ("a run over a data set", "evaluation"),
    "factloop.evaluation.statistics.kappa": ("statistics", "evaluation"),
    "factloop.evaluation.reproduction.registry": ("reproducing tables of the papers", "evaluation"),
    "factloop.integrations.mcp.server": ("the MCP server", "mcp"),
    "factloop.service.app": ("the service", "serve"),
    "factloop.service.store": ("the service", "serve"),
    "factloop.tools.embeddings.sentence": ("an embedding model", "semantic"),
    "factloop.trust.preparing": ("TrustScore", "trust"),
    "factloop.trust.scoring": ("TrustScore", "trust"),
}
OF_PYTEST = "factloop.integrations.pytest.plugin"
"""The module that pytest imports, and nothing else."""
HARNESSES = ("deepeval", "inspect_ai", "mlflow", "pydantic_evals", "ragas")
OF_HARNESSES = {f"factloop.integrations.harnesses.{name}" for name in HARNESSES}
"""Modules that a harness's user imports, who has it; no extra brings it."""


def line(feature: str, extra: str) -> str:
    return f'{feature} needs the "{extra}" extra; run: {install_command(extra)}'


def core() -> set[str]:
    """The distributions that factloop needs without extras, including indirect ones."""
    found = {"factloop"}
    waiting = [Requirement(text) for text in PROJECT["dependencies"]]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        extras = requirement.extras or {""}
        if name in found or not any(_applies(requirement, "")):
            continue
        found.add(name)
        for text in importlib.metadata.requires(name) or ():
            further = Requirement(text)
            if any(_applies(further, *extras)):
                waiting.append(further)
    return found


def _applies(requirement: Requirement, *extras: str) -> Iterable[bool]:
    return (requirement.marker is None or requirement.marker.evaluate({"extra": extra}) for extra in extras)


@pytest.fixture(scope="module")
def elsewhere() -> dict[str, list[str]]:
    kept = core()
    packages = {
        package
        for package, distributions in importlib.metadata.packages_distributions().items()
        if not any(canonicalize_name(name) in kept for name in distributions)
    }
    names = {found.metadata["Name"] for found in importlib.metadata.distributions()}
    return {
        "packages": sorted(packages - {"tests", "benchmarks"}),
        "distributions": sorted(name for name in names if canonicalize_name(name) not in kept),
    }


def run(steps: str, elsewhere: Mapping[str, Sequence[str]], asked: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.light_core", steps],
        input=json.dumps({**elsewhere, "asked": asked}),
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(folder)},
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    answered: dict[str, Any] = json.loads(done.stdout)
    return answered


@pytest.mark.process
def test_a_model_checks_guards_and_corrects(
    sim: Simulator, elsewhere: Mapping[str, Sequence[str]], tmp_path: Path
) -> None:
    response = min(sim.world.responses, key=lambda response: len(response.facts))
    documents = tmp_path / "documents"
    documents.mkdir()
    own = (passage for passage in sim.world.passages if passage.title.startswith(response.subject))
    for number, passage in enumerate(own):
        (documents / f"{number}.txt").write_text(f"{passage.title}\n\n{passage.page}", encoding="utf-8")
    asked = {
        "model": MODEL,
        "base_url": sim.base_url,
        "answer": response.text,
        "prompt": response.prompt,
        "documents": str(documents),
    }
    done = run("working", elsewhere, asked, tmp_path)
    assert done["names"] == factloop.__all__
    assert min(done[step] for step in ("search", "documents", "chain")) > 0
    assert done["guard"]
    assert done["correction"] != response.text
    assert "supported" in done["tool"]
    assert done["help"]["code"] == 0
    diagnosis = json.loads((tmp_path / "doctor.json").read_text(encoding="utf-8"))
    assert (done["doctor"]["code"], done["doctor"]["err"], diagnosis["works"]) == (0, "", True)
    assert not any(
        extra["installed"] for extra in diagnosis["extras"] if extra["extra"] in {"offline", "trust", "serve"}
    )
    assert (done["check"]["code"], done["check"]["err"]) == (0, "")


@pytest.mark.process
def test_what_the_core_lacks_is_said_in_one_line(elsewhere: Mapping[str, Sequence[str]], tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    for name in ("answer.txt", "page.html", "page.pdf", "rows.jsonl", "rows.parquet", "types.nt", "sources/a.txt"):
        (tmp_path / name).write_text('{"claim": "Rome is in Italy.", "document": "Rome is the capital of Italy."}\n')
    done = run("missing", elsewhere, {"commands": [*COMMANDS], "modules": [*MODULES]}, tmp_path)
    lines = {arguments: f"factloop: {line(*lacking)}\n" for arguments, lacking in COMMANDS.items()}
    ended = dict(zip(COMMANDS, done["commands"], strict=True))
    assert {arguments: end["err"] for arguments, end in ended.items()} == lines
    assert all((end["code"], end["out"]) == (2, "") for end in ended.values())
    assert done["modules"] == {module: line(*lacking) for module, lacking in MODULES.items()}


@pytest.mark.process
def test_every_module_is_imported_or_says_which_extra_it_needs(
    elsewhere: Mapping[str, Sequence[str]], tmp_path: Path
) -> None:
    """Any other import error ends the program with a traceback that names the module."""
    at_the_top = ("agents", "tools", "prompts", "evaluation")
    paths = [Path("factloop") / path.relative_to(ROOT) for name in at_the_top for path in (ROOT / name).rglob("*.py")]
    paths += [path.relative_to(ROOT) for path in (ROOT / "factloop").rglob("*.py")]
    names = (".".join(path.with_suffix("").parts) for path in paths)
    modules = {name.removesuffix(".__init__") for name in names} - {"factloop.__main__", OF_PYTEST, *OF_HARNESSES}
    done = run("missing", elsewhere, {"commands": [], "modules": sorted(modules)}, tmp_path)
    assert MODULES.keys() <= done["modules"].keys()
    assert not {name for name, said in done["modules"].items() if '" extra; run: ' not in said}
    assert not {"factloop.checking.checker", "factloop.guarding.guard", "factloop.cli.app"} & done["modules"].keys()
