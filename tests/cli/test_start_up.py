"""A path that leads nowhere is refused before heavy packages are imported: by what is imported, as times vary."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"langchain_core", "langgraph", "numpy", "openai", "torch", "transformers"}
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
DOCUMENTS = f"factloop: {NOWHERE}: there is no such file or folder\n"
ROWS = f"factloop: {NOWHERE}: cannot be read (No such file or directory)\n"
REFUSED = {
    "check": (("check", NOWHERE), f"factloop: {NOWHERE}: no such file\n"),
    "check, its documents": (("check", "answer.md", "--docs", NOWHERE), DOCUMENTS),
    "correct": (("correct", NOWHERE, "--docs", "answer.md"), f"factloop: {NOWHERE}: no such file\n"),
    "trust": (("trust", NOWHERE, "--subject-model", "openai:m"), ROWS),
    "trust, its corpus": (("trust", "answer.md", "--corpus", NOWHERE), DOCUMENTS),
    "eval": (("eval", NOWHERE, "--docs", "answer.md"), ROWS),
    "eval factscore": (("eval", "factscore", "--data", NOWHERE), ROWS),
    "experiment": (("research", "experiment", NOWHERE), ROWS),
    "verify": (("research", "verify", NOWHERE, "--verifier", "baseline", "--out", "o.jsonl"), ROWS),
}

pytestmark = pytest.mark.process


def imported(folder: Path, *arguments: str) -> tuple[int, set[str], str]:
    """The exit code of a command in a process of its own, the packages that it imported, and what it complained of."""
    command = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100, check=True)
    code, packages = json.loads(done.stdout.splitlines()[-1])
    return code, set(packages), done.stderr


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_path_is_refused_at_once(tmp_path: Path, case: str) -> None:
    arguments, complaint = REFUSED[case]
    (tmp_path / "answer.md").write_text("Rome is in Italy.\n", encoding="utf-8")
    code, packages, said = imported(tmp_path, *arguments)
    assert (code, said) == (2, complaint)
    assert not packages & HEAVY


def test_a_wrong_path_of_a_model_is_refused_without_its_libraries(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text("Rome is in Italy.\n", encoding="utf-8")
    (tmp_path / "source.md").write_text("Rome is the capital of Italy.\n", encoding="utf-8")
    flags = ("--docs", "source.md", "--embeddings", "./nowhere", "--no-cache")
    code, packages, said = imported(tmp_path, "check", "answer.md", *flags)
    assert code == 2
    assert said.startswith("factloop: no usable model at './nowhere': give its folder")
    assert not packages & {"torch", "transformers", "sentence_transformers"}


def test_distractors_bring_in_no_library_that_they_do_not_use(tmp_path: Path) -> None:
    asked = ("--question", "Who built the first temple?", "--response", "King Solomon built it.", "--n", "5")
    code, packages, said = imported(tmp_path, "research", "distractors", *asked)
    assert (code, said) == (0, "")
    assert not packages & {"nltk", "scipy", "sklearn", "textblob", "pandas"}


def test_a_check_without_a_model_and_a_page_imports_no_clients(tmp_path: Path) -> None:
    """OpenAI's client took half of the time that a check of a page takes."""
    (tmp_path / "answer.md").write_text("Rome is in Italy.\n", encoding="utf-8")
    (tmp_path / "source.md").write_text("Rome is the capital of Italy.\n", encoding="utf-8")
    code, packages, _ = imported(tmp_path, "check", "answer.md", "--docs", "source.md", "--no-cache")
    assert code == 0
    assert not packages & {"openai", "langchain_openai", "sentence_transformers", "matplotlib"}
