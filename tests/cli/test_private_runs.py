"""Run directories are their owner's alone, whatever the umask; outputs that the user names have the umask's rights."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.evaluation.experiments.small_plans import facts_of, write_claims
from tests.rights import open_to_others
from tests.simulator import MODEL, Simulator

pytestmark = [
    pytest.mark.usefixtures("widest_umask"),
    pytest.mark.skipif(os.name != "posix", reason="rights of this kind"),
]
ONE = ("--question", "Who built Rome?", "--response", "Romulus built Rome in 1848.", "--max-checks", "1")
PLAN = f"""\
name: small
data: claims.jsonl
settings: {{model: "{MODEL}"}}
variants: {{packaged: {{}}}}
"""
COMMANDS = {
    "check": ("check", "answer.md", "--model", MODEL, "--docs", "docs", "--run-dir", "runs/a"),
    "correct": ("correct", "answer.md", "--model", MODEL, "--docs", "docs", "--run-dir", "runs/a"),
    "eval": ("eval", "responses.jsonl", "--docs", "docs", "--resamples", "0", "--run-dir", "runs/a"),
    "trust": ("trust", *ONE, "--subject-model", MODEL, "--run-dir", "runs/a"),
    "experiment": ("research", "experiment", "plan.yaml", "--resamples", "0", "--run-dir", "runs/a"),
}


@pytest.fixture
def inputs(sim: Simulator, home: Path, answer: Path, docs: Path) -> Path:
    assert docs.is_dir()
    rows = [{"prompt": "Who was Ada Lovelace?", "response": answer.read_text(), "system": "one"}]
    (home / "responses.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    write_claims(home / "claims.jsonl", facts_of(sim.world, 2))
    (home / "plan.yaml").write_text(PLAN)
    return home


@pytest.mark.parametrize("name", COMMANDS)
def test_a_run_directory_is_private_and_a_named_output_is_not(factloop: Command, inputs: Path, name: str) -> None:
    output = ("--json", "report.json", "--html", "report.html")
    assert factloop(*COMMANDS[name], *output).code == 0
    assert len(list((inputs / "runs" / "a").iterdir())) > 2
    assert open_to_others(inputs / "runs") == []
    for file in ("report.json", "report.html"):
        assert (inputs / file).stat().st_mode & 0o777 == 0o666


def test_the_run_beside_predictions_is_private(factloop: Command, inputs: Path) -> None:
    (inputs / "pairs.jsonl").write_text('{"claim": "Rome is old.", "document": "Rome is old."}\n')
    assert factloop("research", "verify", "pairs.jsonl", "--verifier", f"llm:{MODEL}", "--out", "out.jsonl").code == 0
    assert (inputs / "out.jsonl.run" / "journal.sqlite").exists()
    assert open_to_others(inputs / "out.jsonl.run") == []
    assert (inputs / "out.jsonl").stat().st_mode & 0o777 == 0o666
