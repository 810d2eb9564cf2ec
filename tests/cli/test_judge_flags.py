from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from factloop import FactualityReport
from factloop.cli import preparing
from factloop.cli.check import LONGEST_UNASKED, Check, with_leave
from factloop.cli.preparing import with_leave_to_fetch
from factloop.core.errors import ConfigError, DataError
from factloop.setup.settings import CheckSettings
from tests.checking.test_judges import judge_that_says
from tests.cli.command import Command
from tests.extras import needs

pytestmark = [needs("transformers", "semantic"), pytest.mark.torch]

SUPPORTS, REFUTES = (0.0, 9.0, 0.0), (9.0, 0.0, 0.0)


@pytest.fixture
def judge(tmp_path: Path) -> str:
    return judge_that_says(tmp_path / "tiny", *SUPPORTS)


def test_every_command_that_checks_takes_it(factloop: Command, answer: Path, docs: Path, judge: str) -> None:
    named = ("--judge", judge, "--docs", docs)
    report = FactualityReport.model_validate_json(factloop("check", answer, *named, "--json", "-").out)
    assert report.counts.supported == 2
    responses = Path("responses.jsonl")
    responses.write_text(json.dumps({"id": "1", "prompt": "Who?", "response": answer.read_text()}) + "\n")
    run = json.loads(factloop("eval", responses, *named, "--json", "-").out)
    assert run["fingerprint"]["verifier"]["verifier"].startswith("nli:tiny (sha256 ")
    corrected = json.loads(factloop("correct", answer, *named, "--json", "-").out)
    assert corrected["before"]["counts"]["supported"] == 2
    rows = Path("rows.jsonl")
    rows.write_text(json.dumps({"id": "1", "claim": "Ada paints.", "document": "Ada paints.", "label": 1}) + "\n")
    assert factloop("research", "verify", rows, "--verifier", judge, "--out", "scores.jsonl", "--quiet").code == 0
    assert '"nli:tiny":0.99' in Path("scores.jsonl").read_text()


@pytest.mark.parametrize(("biases", "code", "grade"), [(SUPPORTS, 2, "not_usable"), (REFUTES, 2, "not_usable")])
def test_doctor_asks_twenty_claims_of_known_truth(
    factloop: Command, tmp_path: Path, biases: tuple[float, ...], code: int, grade: str
) -> None:
    judge = judge_that_says(tmp_path / "tiny", *biases)
    result = factloop("doctor", "--controls", "--judge", judge, "--json", "-")
    assert result.code == code
    parts = {one["part"]: one for one in json.loads(result.out)["parts"]}
    assert parts["model"]["state"] == "works"
    assert parts["model"]["how"][0].startswith("nli:tiny (sha256 ")
    found = parts["controls"]["controls"]
    assert found["grade"] == grade
    assert (found["n_true"], found["n_false"], found["n_unscored"]) == (10, 10, 0)
    right = (10, 0) if biases is SUPPORTS else (0, 10)
    assert (found["n_true_supported"], found["n_false_refused"]) == right
    assert "another judge (docs/judges.md)" in parts["controls"]["advice"]


def test_weights_that_are_not_here_are_not_fetched_unasked(factloop: Command, answer: Path, docs: Path) -> None:
    for command in (("check", answer), ("correct", answer), ("doctor",)):
        result = factloop(*command, "--docs", docs, "--judge", "minicheck")
        assert result.code == 2
        assert "`--allow-download` to download lytang/MiniCheck-Flan-T5-Large once (3.1 GB" in result.complaint


class Terminal(Console):
    def __init__(self, answer: str) -> None:
        super().__init__(force_terminal=True)
        self._answer = answer
        self.asked: list[str] = []

    def print(self, *objects: Any, **_: Any) -> None:
        self.asked.extend(map(str, objects))

    def input(self, prompt: Any = "", **_: Any) -> str:
        self.asked.append(str(prompt))
        return self._answer


@pytest.mark.parametrize(("answer", "allowed"), [("y", True), ("Yes ", True), ("", False), ("n", False)])
def test_at_a_terminal_it_is_asked_once_with_the_size(
    answer: str, allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    terminal, settings = Terminal(answer), CheckSettings(judge="hhem")
    monkeypatch.setattr(preparing, "messages_console", lambda: terminal)
    if allowed:
        leave = with_leave_to_fetch(settings)
        assert leave.allow_download
        with_leave_to_fetch(leave)
    else:
        with pytest.raises(ConfigError, match="--allow-download"):
            with_leave_to_fetch(settings)
    assert "0.4 GB, licence Apache-2.0" in " ".join(terminal.asked)
    assert sum("[y/N]" in one for one in terminal.asked) == 1


LIMITED = CheckSettings(model="openai:gpt-4o-mini", deadline_s=9)


@pytest.mark.parametrize(("answer", "yes", "goes_on"), [("y", False, True), ("", False, False), (None, True, True)])
def test_a_very_long_text_needs_leave(
    answer: str | None, yes: bool, goes_on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: answer is not None)
    monkeypatch.setattr(preparing, "messages_console", lambda: Terminal(answer or ""))
    given, text = Check(answer="a.md", yes=yes), "Ada paints. " * 50_000
    settings = CheckSettings(model="openai:gpt-4o-mini", search=("serper",))
    said = r"^a\.md: the text has 600,000 characters, .* model calls, about .* USD.*--yes"
    with nullcontext() if goes_on else pytest.raises(DataError, match=said):
        assert with_leave(given, settings, text) is settings
    assert with_leave(given, LIMITED, text) is LIMITED
    assert with_leave(given, settings, text[:LONGEST_UNASKED]) is settings
