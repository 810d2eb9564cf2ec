"""Wrong input and wrong set-up: one line that names it, exit code 2, nothing spent, nothing overwritten."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from factloop import FactualityReport
from factloop.core.records import UnscoredReason
from tests.cli.command import Command
from tests.simulator import MODEL, SEARCH, Faults, Simulator
from tests.tools.fake_server import FakeServer, Reply
from tests.tools.fake_server import server as server

WITH_MODEL = ("--model", MODEL, "--search", "serper")


@pytest.fixture(autouse=True)
def bad_files(home: Path, answer: Path) -> None:
    """All that the table below names."""
    assert answer.exists()
    files = {
        "source.txt": b"Rome is in Italy.",
        "mine.txt": b"My own words.",
        "binary.md": bytes(range(256)) * 20,
        "latin-1.md": "Où est la forêt ?".encode("latin-1"),
        "bad_pdf/broken.pdf": b"%PDF-1.7 and then nothing of the kind",
        "bad_jsonl/rows.jsonl": b'{"text": "fine"}\n{"text": \n',
        "bad_txt/latin-1.txt": "Où est la forêt ?".encode("latin-1"),
        "bad_prompts/mine.md": b"no front matter",
    }
    for name, content in files.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_bytes(content)
    (home / "empty").mkdir()
    (home / "other_run").mkdir()
    (home / "other_run" / "notes.txt").write_text("mine")


LONG = "n" * 300
"""More bytes than a file name may have."""

BAD = {
    "missing file": (("nope.md",), ("nope.md", "no such file")),
    "folder": (("empty",), ("empty", "is a folder")),
    "binary": (("binary.md",), ("binary.md", "binary")),
    "latin-1": (("latin-1.md",), ("latin-1.md", "UTF-8", "iconv")),
    "NUL in the name": (("no\0pe.md",), ("cannot be read",)),
    "broken pdf": (("answer.md", "--docs", "bad_pdf"), ("broken.pdf",)),
    "empty docs": (("answer.md", "--docs", "empty"), ("empty",)),
    "missing docs": (("answer.md", "--docs", "nowhere"), ("nowhere",)),
    "malformed jsonl": (("answer.md", "--docs", "bad_jsonl"), ("rows.jsonl: line 2",)),
    "docs in latin-1": (("answer.md", "--docs", "bad_txt"), ("latin-1.txt",)),
    "text among the documents": (("answer.md", "--docs", "."), ("answer.md", "support itself")),
    "empty docs path": (("answer.md", "--docs", ""), ("an empty path",)),
    "k 0": (("answer.md", "--k", "0"), ("command line", "k = 0", "greater than or equal to 1")),
    "negative budget": (("answer.md", *WITH_MODEL, "--budget-usd", "-1"), ("budget_usd = -1",)),
    "negative calls": (("answer.md", *WITH_MODEL, "--max-calls", "-1"), ("max_calls = -1",)),
    "budget without a price": (("answer.md", *WITH_MODEL, "--budget-usd", "1"), ("--price-in",)),
    "half a price": (("answer.md", *WITH_MODEL, "--price-in", "1"), ("--price-in", "--price-out")),
    "plan": (("answer.md", "--plan", "quick"), ("plan = 'quick'", "'paper', 'fused' or 'grounded'")),
    "unknown search": (("answer.md", "--search", "bing"), ("'bing'", "serper, wikipedia, searxng")),
    "unknown provider": (("answer.md", "--model", "nobody:x", "--search", "serper"), ("nobody",)),
    "model without a source": (("answer.md", "--model", MODEL), ("--docs", "--search")),
    "base URL of nothing": (
        ("answer.md", *WITH_MODEL, "--base-url", "not a url"),
        ("command line: base_url = 'not a url'", "http:// or https://"),
    ),
    "base URL half in brackets": (
        ("answer.md", *WITH_MODEL, "--base-url", "http://[::1"),
        ("base_url = 'http://[::1'",),
    ),
    "base URL of a file": (("answer.md", *WITH_MODEL, "--base-url", "file:///etc/hosts"), ("http:// or https://",)),
    "base URL without a model": (("answer.md", "--base-url", "http://127.0.0.1:1/v1"), ("--model",)),
    "prompts": (("answer.md", *WITH_MODEL, "--prompts", "bad_prompts"), ("mine.md", "front matter")),
    "fail-under": (("answer.md", "--fail-under", "2"), ("--fail-under 2", "less than or equal to 1")),
    "output in no folder": (("answer.md", "--json", "no/where.json"), ("no/where.json", "does not exist")),
    "recording mode alone": (
        ("answer.md", "--docs", "source.txt", "--recording-mode", "replay"),
        ("recording_mode is set, and no recording", "--recording FILE"),
    ),
    "recording missing": (
        ("answer.md", "--docs", "source.txt", "--recording", "nosuch.json"),
        ("nosuch.json: there is no such recording", "--recording-mode new"),
    ),
    "output is a folder": (
        ("answer.md", "--html", "empty"),
        ("empty: cannot be written, it is a folder; name a file",),
    ),
    "output is the input": (("answer.md", "--json", "answer.md"), ("answer.md", "would overwrite")),
    "output is a document": (
        ("answer.md", "--docs", "mine.txt", "--html", "./mine.txt"),
        ("would overwrite mine.txt",),
    ),
    "output is there and the input is not": (("nope.md", "--json", "mine.txt"), ("nope.md", "no such file")),
    "NUL in the name of the output": (("answer.md", "--json", "no\0pe.json"), ("cannot be written",)),
    "long name of the text": ((LONG,), (LONG, "name too long")),
    "long name of the output": (("answer.md", "--json", LONG), (LONG, "name too long")),
    "long name of the page": (("answer.md", "--html", LONG), (LONG, "name too long")),
    "long name of a folder": (("answer.md", "--html", f"{LONG}/x"), (LONG, "name too long")),
    "long name of documents": (("answer.md", "--docs", LONG), (LONG, "name too long")),
    "long name of prompts": (("answer.md", *WITH_MODEL, "--prompts", LONG), (LONG, "name too long")),
    "long name of a run": (("answer.md", "--run-dir", LONG), (LONG, "name too long")),
    "two outputs in one": (("answer.md", "--json", "x", "--html", "x"), ("x: two outputs",)),
    "two on standard output": (("answer.md", "--json", "-", "--html", "-"), ("two outputs",)),
    "foreign run directory": (("answer.md", "--run-dir", "other_run"), ("other_run", "not a run directory")),
    "run directory is a file": (("answer.md", "--run-dir", "binary.md"), ("binary.md", "run directory")),
    "half a character": (("answer.md", "--prompt", "half \udcff"), ("prompt: half a character",)),
}


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("arguments", "named"), BAD.values(), ids=BAD.keys())
def test_it_is_named_in_one_line_and_nothing_is_spent(
    factloop: Command, sim: Simulator, home: Path, arguments: tuple[str, ...], named: tuple[str, ...]
) -> None:
    before = files_of(home)
    result = factloop("check", *arguments)
    assert result.code == 2
    assert result.complaint.startswith("factloop: ")
    for part in named:
        assert part in result.complaint
    assert result.out == ""
    assert sim.stats().stages == {}
    assert files_of(home) == before


def test_a_model_that_the_server_does_not_know(factloop: Command, sim: Simulator) -> None:
    result = factloop("check", "answer.md", "--model", "openai:other", "--search", "serper")
    assert result.code == 2
    for part in ("404", "`other` does not exist", "check the key, the name and the base URL"):
        assert part in result.complaint
    assert sim.stats().model.answered == 0


def test_a_key_that_the_server_does_not_take(factloop: Command, sim: Simulator) -> None:
    sim.set(api_key="another")
    result = factloop("check", "answer.md", *WITH_MODEL)
    assert (result.code, sim.stats().model.answered) == (2, 0)
    assert "check the key" in result.complaint
    assert "simulated" not in result.complaint


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "SERPER_API_KEY"])
def test_a_missing_key(factloop: Command, sim: Simulator, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv(name)
    monkeypatch.delenv("OPENAI_BASE_URL")
    result = factloop("check", "answer.md", *WITH_MODEL)
    assert result.code == 2
    assert name in result.complaint
    assert sim.stats().stages == {}


@pytest.mark.usefixtures("brisk")
def test_a_server_that_is_not_there(factloop: Command) -> None:
    flags = ("--model", MODEL, "--base-url", "http://127.0.0.1:9/v1", "--docs", "source.txt")
    result = factloop("check", "answer.md", *flags)
    assert result.code == 2
    assert "is the server running, and its URL right?" in result.complaint


@pytest.fixture
def search_server(server: FakeServer, sim: Simulator, monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    """In place of the simulated search."""
    monkeypatch.setenv("FACTLOOP_SERPER_URL", server.url)
    monkeypatch.setenv("SERPER_API_KEY", "key-of-serper")
    assert sim.serper_url != server.url
    return server


@pytest.mark.usefixtures("brisk")
def test_a_search_that_is_not_there_costs_no_model_call(
    factloop: Command, sim: Simulator, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACTLOOP_SERPER_URL", "http://127.0.0.1:9")
    result = factloop("check", "answer.md", *WITH_MODEL, "--json", "report.json", "--quiet")
    refused = "serper: connection refused at 127.0.0.1:9: is the server running, and its URL right?"
    assert (result.code, result.complaint) == (3, f"factloop: no claim could be scored: {refused}")
    assert sim.stats().model.requests == 0
    report = FactualityReport.model_validate_json((home / "report.json").read_bytes())
    assert [claim.text for claim in report.claims] == [claim.sentence for claim in report.claims]
    assert {claim.judgement.rationale for claim in report.claims} == {refused}
    assert (report.counts.unscored, report.counts.total) == (2, 2)


def test_a_wrong_search_key_costs_no_model_call(factloop: Command, search_server: FakeServer, sim: Simulator) -> None:
    search_server.will(Reply(status=403, body=b'{"message": "Unauthorized.", "statusCode": 403}'))
    result = factloop("check", "answer.md", *WITH_MODEL)
    assert result.code == 2
    assert "serper: status 403: the key in SERPER_API_KEY was refused: check" in result.complaint
    assert sim.stats().model.requests == 0


@pytest.mark.parametrize("reply", [Reply(status=429), Reply(status=500), Reply(body=b"<html>Welcome")])
def test_a_search_that_answers_nothing_from_the_start_costs_no_model_call(
    factloop: Command, search_server: FakeServer, sim: Simulator, reply: Reply
) -> None:
    search_server.will(reply)
    result = factloop("check", "answer.md", *WITH_MODEL, "--quiet", "--set", "patience_s=0.3")
    assert result.code == 3
    assert result.complaint.startswith("factloop: no claim could be scored: serper: ")
    assert sim.stats().model.requests == 0


@pytest.mark.usefixtures("brisk")
def test_a_search_that_dies_later_ends_the_run(factloop: Command, sim: Simulator, home: Path) -> None:
    sim.set(stage_faults={SEARCH: Faults(error_429=1.0)}, retry_after="none")
    result = factloop("check", "answer.md", *WITH_MODEL, "--set", "patience_s=0.3", "--json", "report.json", "--quiet")
    said = "factloop: no claim could be scored: serper: has accepted no request for 0.3 s (the last answer: status 429)"
    assert (result.code, result.complaint) == (3, said)
    report = FactualityReport.model_validate_json((home / "report.json").read_bytes())
    assert {claim.judgement.unscored_reason for claim in report.claims} == {UnscoredReason.TOOL_FAILURE}
    assert sim.stats().search.answered == 0


@pytest.mark.usefixtures("brisk")
def test_claims_that_are_irrelevant_do_not_make_a_dead_search_a_success(
    factloop: Command, sim: Simulator, home: Path
) -> None:
    sim.set(stage_faults={SEARCH: Faults(error_500=1.0)})
    response = sim.world.responses[3]
    (home / "long.md").write_text(response.text, encoding="utf-8")
    flags = ("--prompt", response.prompt, "--json", "report.json", "--quiet")
    result = factloop("check", "long.md", *WITH_MODEL, *flags)
    counts = FactualityReport.model_validate_json((home / "report.json").read_bytes()).counts
    assert counts.irrelevant > 0
    assert (result.code, counts.scored) == (3, 0)


@pytest.mark.parametrize("wrong", [("--search", "bing"), ("--docs", "nowhere")])
def test_an_estimate_sees_wrong_sources(factloop: Command, wrong: tuple[str, str]) -> None:
    result = factloop("check", "answer.md", "--model", MODEL, *wrong, "--dry-run")
    assert result.code == 2
    assert wrong[1] in result.complaint


def test_a_model_that_never_answers_in_full_leaves_claims_unscored_and_the_report_whole(
    factloop: Command, sim: Simulator
) -> None:
    sim.set(stage_faults=dict.fromkeys(("WindowFacts", "SentenceFacts"), Faults(truncated=1.0)))
    result = factloop("check", "answer.md", *WITH_MODEL, "--quiet", "--fail-if-unscored")
    assert result.code == 3
    told = f"factloop: no claim could be scored: {MODEL}: the reply was cut off at the token limit: allow longer ones"
    assert result.complaint.startswith(told)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"k = [", "cannot be read"),
        (b"\xff", "cannot be read"),
        (b"colour = 'red'", "there is no setting 'colour'"),
        (b"plan = 'quick'", "plan = 'quick'"),
        (b"[check]\nk = 1", "there is no setting 'check'"),
    ],
)
def test_a_bad_settings_file(factloop: Command, home: Path, content: bytes, named: str) -> None:
    (home / "factloop.toml").write_bytes(content)
    result = factloop("check", "answer.md")
    assert result.code == 2
    assert "factloop.toml" in result.complaint
    assert named in result.complaint


def test_a_run_directory_of_another_configuration(factloop: Command, home: Path, docs: Path) -> None:
    assert factloop("check", "answer.md", "--docs", docs, "--run-dir", "run", "-q").code == 0
    before = files_of(home / "run")
    result = factloop("check", "answer.md", "--docs", docs, "--run-dir", "run", "-q", "--plan", "paper")
    assert result.code == 2
    assert "another configuration (plan differ" in result.complaint
    assert files_of(home / "run") == before


def test_closed_standard_input(factloop: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    result = factloop("check", "-")
    assert (result.code, result.complaint.split(";")[0]) == (2, "factloop: standard input: is closed")


@pytest.mark.parametrize("arguments", [("--colour",), ("--k", "many"), ()])
def test_wrong_usage_is_explained_by_the_command_itself(factloop: Command, arguments: tuple[Any, ...]) -> None:
    result = factloop("check", *arguments)
    assert result.code == 2
    assert result.complaint.endswith("; see factloop check --help")


def test_an_argument_that_the_locale_cannot_read_says_how_to_set_it(factloop: Command, docs: Path) -> None:
    """As Python gives "Où ?" under LC_ALL=C: its bytes as lone surrogates."""
    Path("answer.md").write_text("Rome is in Italy.\n", encoding="utf-8")
    said = factloop("check", "answer.md", "--docs", docs, "--prompt", "O\udcc3\udcb9 ?").complaint
    assert said.endswith("at position 1; if the terminal gave it, set LC_ALL=C.UTF-8")


def test_a_complaint_shows_escapes_and_does_not_obey_them(factloop: Command) -> None:
    complaint = factloop("check", "\x1b[31mnope\n.md").complaint
    assert "␛[31mnope" in complaint
