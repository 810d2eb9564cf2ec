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
from tests.rights import open_to_others
from tests.simulator import MODEL, Simulator

ONE = ("--question", "Who built Rome?", "--response", "Romulus built Rome in 1848.", "--max-checks", "1")
GENERATE = ("research", "generate")
RUNS = {
    "check": ("check", "answer.md", "--model", MODEL, "--docs", "docs"),
    "correct": ("correct", "answer.md", "--model", MODEL, "--docs", "docs"),
    "eval": ("eval", "responses.jsonl", "--docs", "docs", "--resamples", "0"),
    "trust": ("trust", *ONE, "--subject-model", MODEL, "--corpus", "docs"),
    "experiment": ("research", "experiment", "plan.yaml", "--resamples", "0"),
}
COMMANDS = {
    **RUNS,
    "check offline": ("check", "answer.md", "--docs", "docs"),
    "longfact": (*GENERATE, "longfact", "--model", MODEL, "--data", "responses.jsonl", "--out", "out.jsonl"),
    "prompts": (*GENERATE, "prompts", "--model", MODEL, "--topic", "mycology", "--n", "2", "--out", "p.jsonl"),
}


@pytest.fixture
def cache(
    sim: Simulator, home: Path, answer: Path, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """The cache folder, the only writable one, next to the commands' input."""
    assert docs.is_dir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    row = {"prompt": "Who was Ada?", "response": answer.read_text(), "system": "one"}
    (home / "responses.jsonl").write_text(f"{json.dumps(row)}\n")
    write_claims(home / "claims.jsonl", facts_of(sim.world, 2), documents=False)
    plan = f'settings: {{model: "{MODEL}", docs: [docs]}}\nvariants: {{packaged: {{}}}}\n'
    (home / "plan.yaml").write_text(f"name: small\ndata: claims.jsonl\n{plan}")
    yield Path(os.environ["FACTLOOP_CACHE_DIR"])
    assert not (tmp_path / "user" / "factloop").exists()


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


@pytest.mark.parametrize("name", ["check", "trust", "experiment"])
def test_a_folder_that_cannot_be_used_is_one_line_and_the_run_goes_on(start: Start, cache: Path, name: str) -> None:
    cache.write_text("in the way")
    process = start(*COMMANDS[name], stdout=subprocess.PIPE)
    said, complained = process.communicate(timeout=WITHIN_S)
    (line,) = complained.splitlines()
    assert (process.returncode, bool(said), cache.read_text()) == (0, True, "in the way")
    assert line.startswith(f"cannot use {cache} as the cache folder (")


@pytest.mark.skipif(os.name != "posix", reason="rights of this kind")
@pytest.mark.usefixtures("widest_umask", "cache")
@pytest.mark.parametrize("name", RUNS)
def test_a_run_directory_is_private_and_a_named_output_is_not(factloop: Command, home: Path, name: str) -> None:
    command, run = (*RUNS[name], "--run-dir", "runs/a"), home / "runs" / "a"
    assert factloop(*command, "--json", "report.json", "--html", "report.html").code == 0
    assert (len(list(run.iterdir())) > 2, open_to_others(home / "runs")) == (True, [])
    assert {(home / file).stat().st_mode & 0o777 for file in ("report.json", "report.html")} == {0o666}
    for path in (run, *run.iterdir()):
        path.chmod(0o777)
    assert (factloop(*command).code, open_to_others(run)) == (0, [])
