"""A configuration error is one line and exit code 2; any other failure leaves claims unscored, with exit code 3."""

from __future__ import annotations

from pathlib import Path

import pytest

from factloop import FactualityReport
from factloop.core.records import UnscoredReason
from tests.cli.command import Command
from tests.simulator import MODEL, SEARCH, Faults, Simulator
from tests.tools.fake_server import FakeServer, Reply
from tests.tools.fake_server import server as server

pytestmark = pytest.mark.usefixtures("answer", "docs", "brisk")
WITH_MODEL = ("check", "answer.md", "--model", MODEL, "--search", "serper")
NOBODY = "http://127.0.0.1:9"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            ("check", "answer.md", "--model", "openai:other", "--docs", "docs"),
            "check the API key, the base URL and, for a model, its name",
        ),
        ((*WITH_MODEL, "--base-url", f"{NOBODY}/v1"), "is the server running, and is its URL correct?"),
        (
            ("trust", "--question", "Who?", "--response", "Ada built it in 1848.", "--subject-model", "openai:other"),
            "404",
        ),
    ],
)
def test_a_wrong_set_up_is_told_by_its_server(
    factloop: Command, sim: Simulator, command: tuple[str, ...], said: str
) -> None:
    result = factloop(*command)
    assert (result.code, said in result.complaint, sim.stats().model.answered) == (2, True, 0)


def test_a_wrong_key_is_told_and_not_shown(factloop: Command, sim: Simulator) -> None:
    sim.set(api_key="another")
    result = factloop(*WITH_MODEL)
    assert (result.code, "the key" in result.complaint, "simulated" in result.complaint) == (2, True, False)


def report_in(home: Path) -> FactualityReport:
    return FactualityReport.model_validate_json((home / "report.json").read_bytes())


def test_a_search_that_is_not_there_costs_no_model_call(
    factloop: Command, sim: Simulator, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACTLOOP_SERPER_URL", NOBODY)
    result = factloop(*WITH_MODEL, "--json", "report.json", "--quiet")
    refused = "serper: connection refused at 127.0.0.1:9: is the server running, and is its URL correct?"
    assert (result.code, result.complaint) == (3, f"factloop: no claim could be scored: {refused}")
    assert sim.stats().model.requests == 0
    assert {claim.judgement.rationale for claim in report_in(home).claims} == {refused}
    assert report_in(home).counts.unscored == report_in(home).counts.total == 2


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(status=403, body=b'{"message": "Unauthorized.", "statusCode": 403}'), 2),
        (Reply(status=429), 3),
        (Reply(status=500), 3),
        (Reply(body=b"<html>Welcome"), 3),
    ],
)
def test_a_search_that_fails_from_the_start_costs_no_model_call(
    factloop: Command, server: FakeServer, sim: Simulator, monkeypatch: pytest.MonkeyPatch, reply: Reply, code: int
) -> None:
    monkeypatch.setenv("FACTLOOP_SERPER_URL", server.url)
    server.will(reply)
    result = factloop(*WITH_MODEL, "--quiet", "--set", "patience_s=0.3")
    assert (result.code, "serper: " in result.complaint, sim.stats().model.requests) == (code, True, 0)


def test_a_search_that_dies_later_ends_the_run(factloop: Command, sim: Simulator, home: Path) -> None:
    sim.set(stage_faults={SEARCH: Faults(error_429=1.0)}, retry_after="none")
    result = factloop(*WITH_MODEL, "--set", "patience_s=0.3", "--json", "report.json", "--quiet")
    assert (result.code, "has not accepted a request for 0.3 s" in result.complaint) == (3, True)
    assert {claim.judgement.unscored_reason for claim in report_in(home).claims} == {UnscoredReason.TOOL_FAILURE}


def test_claims_that_are_irrelevant_do_not_make_a_dead_search_a_success(
    factloop: Command, sim: Simulator, home: Path
) -> None:
    sim.set(stage_faults={SEARCH: Faults(error_500=1.0)})
    response = sim.world.responses[3]
    (home / "answer.md").write_text(response.text, encoding="utf-8")
    result = factloop(*WITH_MODEL, "--question", response.prompt, "--json", "report.json", "--quiet")
    counts = report_in(home).counts
    assert (result.code, counts.scored, counts.irrelevant > 0) == (3, 0, True)
