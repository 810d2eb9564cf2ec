from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Command
from tests.simulator import MODEL, Simulator

ANSWER = "Trigreth Ribeix was born in the town of Jizein. Trigreth Ribeix received the Jezeilt Prize in 1709."


def as_json(path: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(path.read_text())
    return report


@pytest.fixture
def answer(home: Path) -> Path:
    path = home / "answer.txt"
    path.write_text(ANSWER)
    return path


def test_a_check_is_recorded_and_replayed(
    factloop: Command, sim: Simulator, home: Path, answer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = ("check", answer, "--model", MODEL, "--search", "serper", "--recording", home / "x.jsonl")
    live = factloop(*flags, "--base-url", sim.base_url, "--recording-mode", "record", "--json", home / "a.json")
    assert live.code == 0
    for name in sim.environment:
        monkeypatch.delenv(name)
    assert factloop(*flags, "--json", home / "b.json").code == 0
    assert as_json(home / "a.json")["claims"] == as_json(home / "b.json")["claims"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("research", "generate", "prompts", "--model", MODEL, "--topic", "history", "--out", "out.jsonl"),
        ("eval", "responses.jsonl", "--model", MODEL, "--search", "serper", "--run-dir", "run"),
    ],
)
def test_a_run_that_cannot_be_replayed_asks_nobody_live(
    factloop: Command, sim: Simulator, home: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    (home / "responses.jsonl").write_text(json.dumps({"id": "1", "prompt": "p", "response": ANSWER}) + "\n")
    monkeypatch.setenv("FACTLOOP_RECORDING", "x.jsonl")
    monkeypatch.setenv("FACTLOOP_BASE_URL", sim.base_url)
    refused = factloop(*arguments)
    assert refused.code == 2
    assert "recording" in refused.complaint
    assert sim.stats().model.requests == 0
