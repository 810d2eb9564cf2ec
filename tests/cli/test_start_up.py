"""What a command imports, as times vary: little for help, and nothing heavy before a path that leads nowhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"faker", "langchain_core", "langgraph", "numpy", "openai", "spacy", "tantivy", "torch", "transformers"}
PROGRAM = """
import json, sys
from factloop.cli import main
sys.argv = ["factloop", *sys.argv[1:]]
try:
    main()
except SystemExit as ended:
    print(json.dumps([ended.code, sorted({name.partition(".")[0] for name in sys.modules})]))
"""
NOWHERE = "nowhere/a.md"
DOCUMENTS = f"factloop: {NOWHERE}: there is no such file or folder"
ROWS = f"factloop: {NOWHERE}: cannot be read (No such file or directory)"
ASKED = "--question Who? --response Solomon. --n 1"
CASES = {
    f"check {NOWHERE}": (2, HEAVY, f"factloop: {NOWHERE}: no such file"),
    f"check answer.md --docs {NOWHERE}": (2, HEAVY, DOCUMENTS),
    f"correct {NOWHERE} --docs answer.md": (2, HEAVY, f"factloop: {NOWHERE}: no such file"),
    f"trust {NOWHERE} --subject-model openai:m": (2, HEAVY, ROWS),
    f"trust answer.md --corpus {NOWHERE}": (2, HEAVY, DOCUMENTS),
    f"eval {NOWHERE} --docs answer.md": (2, HEAVY, ROWS),
    f"eval factscore --data {NOWHERE}": (2, HEAVY, ROWS),
    f"research experiment {NOWHERE}": (2, HEAVY, ROWS),
    f"research verify {NOWHERE} --verifier baseline --out o.jsonl": (2, HEAVY, ROWS),
    "check answer.md --docs source.md --embeddings ./nowhere --no-cache": (
        2, {"torch", "transformers", "sentence_transformers"}, "factloop: no usable model at './nowhere'",
    ),
    "check answer.md --docs source.md --no-cache": (
        0, {"openai", "langchain_openai", "sentence_transformers", "matplotlib"}, "",
    ),
    f"research distractors {ASKED}": (
        0, {"nltk", "scipy", "sklearn", "textblob", "pandas", "langgraph", "langchain_core", "openai"}, "",
    ),
    "--help": (0, HEAVY, ""),
    "trust --help": (0, HEAVY, ""),
    "eval mixedqa --help": (0, HEAVY, ""),
    "research kb --help": (0, HEAVY, ""),
}  # fmt: skip


@pytest.mark.process
@pytest.mark.parametrize("arguments", CASES)
def test_what_a_command_does_not_import(tmp_path: Path, arguments: str) -> None:
    code, unwanted, said = CASES[arguments]
    (tmp_path / "answer.md").write_text("Rome is in Italy.\n", encoding="utf-8")
    (tmp_path / "source.md").write_text("Rome is the capital of Italy.\n", encoding="utf-8")
    command = [sys.executable, "-c", PROGRAM, *arguments.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=True)
    ended, packages = json.loads(done.stdout.splitlines()[-1])
    assert (ended, done.stderr[: len(said)], done.stderr.count("\n")) == (code, said, bool(said))
    assert unwanted.isdisjoint(packages)
