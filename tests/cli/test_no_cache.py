"""`--no-cache`: nothing is written to the cache folder. And a folder that cannot be used, which is a warning."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.cli.processes import WITHIN_S, Start
from tests.evaluation.experiments.small_plans import facts_of, write_claims
from tests.simulator import MODEL, Simulator

ONE = ("--question", "Who built Rome?", "--response", "Romulus built Rome in 1848.")
VECTORS = "3 2\nRome 1 0\nRomulus 0 1\nParis 1 1\n"
PLAN = f"""\
name: small
data: claims.jsonl
settings: {{model: "{MODEL}", docs: [docs]}}
variants: {{packaged: {{}}}}
"""
COMMANDS = {
    "check": ("check", "answer.md", "--model", MODEL, "--docs", "docs"),
    "check offline": ("check", "answer.md", "--docs", "docs"),
    "correct": ("correct", "answer.md", "--model", MODEL, "--docs", "docs"),
    "eval": ("eval", "responses.jsonl", "--docs", "docs", "--resamples", "0"),
    "trust": ("trust", *ONE, "--subject-model", MODEL, "--corpus", "docs", "--set", "vectors=vectors.txt"),
    "trust, with a model": ("trust", *ONE, "--subject-model", MODEL, "--max-checks", "1"),
    "distractors": ("research", "distractors", *ONE, "--n", "2", "--set", "vectors=vectors.txt"),
    "experiment": ("research", "experiment", "plan.yaml", "--resamples", "0"),
    "generate longfact": (
        "research", "generate", "longfact", "--model", MODEL, "--data", "responses.jsonl", "--out", "out.jsonl",
    ),
    "generate prompts": (
        "research", "generate", "prompts", "--model", MODEL, "--topic", "mycology", "--n", "2", "--out", "p.jsonl",
    ),
}  # fmt: skip


@pytest.fixture
def cache(
    sim: Simulator, home: Path, answer: Path, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """The cache folder, which is the only one that may be written to; beside it what the commands read."""
    assert docs.is_dir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    (home / "vectors.txt").write_text(VECTORS)
    rows = [{"prompt": "Who was Ada?", "response": answer.read_text(), "system": "one"}]
    (home / "responses.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    write_claims(home / "claims.jsonl", facts_of(sim.world, 2), documents=False)
    (home / "plan.yaml").write_text(PLAN)
    yield Path(os.environ["FACTLOOP_CACHE_DIR"])
    assert not (tmp_path / "user").exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_without_a_cache_nothing_is_written_there(factloop: Command, cache: Path, home: Path, name: str) -> None:
    assert factloop(*COMMANDS[name], "--no-cache").code == 0
    assert not cache.exists()
    for made in ("out.jsonl", "p.jsonl"):
        (home / made).unlink(missing_ok=True)
    assert factloop(*COMMANDS[name]).code == 0
    assert cache.is_dir()  # with one there is something


@pytest.mark.parametrize("flags", [("--no-cache",), ()])
def test_nor_by_what_serves(start: Start, cache: Path, flags: tuple[str, ...]) -> None:
    agents = start("mcp", "--docs", "docs", *flags, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    agents.communicate("", timeout=WITHIN_S)
    assert agents.returncode == 0
    service = start("serve", "--docs", "docs", "--documents", "lives=docs", "--folder", "service", "--port", 0, *flags)
    assert service.stderr is not None
    assert "Ctrl-C" in service.stderr.readline()
    assert cache.exists() == (flags == ())


@pytest.mark.parametrize("name", ["check", "trust", "distractors", "experiment"])
def test_a_folder_that_cannot_be_used_is_one_line_and_the_run_goes_on(start: Start, cache: Path, name: str) -> None:
    cache.write_text("in the way")
    process = start(*COMMANDS[name], stdout=subprocess.PIPE)
    said, complained = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 0
    assert said
    (line,) = complained.splitlines()
    assert line.startswith(f"{cache}: cannot be used as the cache folder (")
    assert cache.read_text() == "in the way"
