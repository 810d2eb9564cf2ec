"""Outputs that are allowed next to inputs. `test_wrong_input` has those that are refused."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cli.command import Command

CHECK = ("check", "answer.md", "--docs", "docs")


@pytest.fixture(autouse=True)
def folder(home: Path, answer: Path, docs: Path) -> Path:
    assert (answer.is_file(), docs.is_dir()) == (True, True)
    return home


@pytest.mark.parametrize(
    "arguments",
    [
        (*CHECK, "--json", "factloop.toml"),
        (*CHECK, "--run-dir", "kept", "--html", "./factloop.toml"),
        ("correct", "answer.md", "--docs", "docs", "--out", "factloop.toml"),
        ("research", "distractors", "--question", "Who?", "--response", "Ada", "--json", "factloop.toml"),
        ("doctor", "--json", "factloop.toml"),
        ("cache", "show", "--json", "factloop.toml"),
        ("prompts", "lint", "--json", "factloop.toml"),
        ("research", "data", "list", "--json", "factloop.toml"),
    ],
)
def test_the_settings_are_not_written_over(factloop: Command, folder: Path, arguments: tuple[str, ...]) -> None:
    (folder / "factloop.toml").write_text("k = 3\n", encoding="utf-8")
    result = factloop(*arguments)
    assert (result.code, "would overwrite factloop.toml" in result.complaint) == (2, True), result.complaint
    assert (folder / "factloop.toml").read_text(encoding="utf-8") == "k = 3\n"


@pytest.mark.parametrize(
    ("arguments", "made"),
    [
        ((*CHECK, "--html", "docs.html"), "docs.html"),
        (("check", "answer.md", "--docs", "docs/*.txt", "--json", "docs/report.json"), "docs/report.json"),
        ((*CHECK, "--set", "cache_dir=docs/.cache"), "docs/.cache"),
    ],
)
def test_what_no_later_run_would_read_is_written(
    factloop: Command, folder: Path, arguments: tuple[str, ...], made: str
) -> None:
    result = factloop(*arguments, "--quiet")
    assert (result.code, (folder / made).exists()) == (0, True), result.err


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs /dev/fd")
@pytest.mark.parametrize("flag", ["--json", "--html"])
def test_an_open_pipe_takes_a_report(factloop: Command, flag: str) -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as pipe, ThreadPoolExecutor() as reader:
        taken = reader.submit(pipe.read)
        result = factloop(*CHECK, flag, f"/dev/fd/{writing}", "--quiet")
        os.close(writing)
    assert (result.code, result.err) == (0, "")
    assert len(taken.result()) > 1000
