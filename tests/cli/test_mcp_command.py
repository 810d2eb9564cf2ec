from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from factloop.entrance.work_loop import FairLoop
from tests.cli.command import Command
from tests.cli.processes import processes_in
from tests.simulator import MODEL, Simulator

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "factloop", "mcp", "--no-cache"]


@pytest.mark.process
@pytest.mark.parametrize(("transport", "place"), [("stdio", "{docs}"), ("http", "documents")])
async def test_callers_elsewhere_are_not_told_where_documents_lie(
    home: Path, docs: Path, transport: str, place: str
) -> None:
    """A local agent may open the file; over HTTP the folder's path is replaced by a name."""
    own = ["--docs", str(docs), "--corpus", str(docs)]
    text = "Ada Lovelace was born in London."
    async with AsyncExitStack() as open_:
        client = await open_.enter_async_context(Client(open_.enter_context(_served(transport, own, home))))
        checked = (await client.call_tool("check_claim", {"claim": text})).structured_content
        scored = await client.call_tool("trust_score", {"question": "Where was she born?", "response": text})
    assert checked is not None
    folder = place.format(docs=docs)
    assert {Path(cited["source"]).parent.as_posix() for cited in checked["claims"][0]["cited"]} == {folder}
    assert not scored.is_error
    assert (str(docs) in f"{checked} {scored}") is (transport == "stdio")


@contextmanager
def _served(transport: str, flags: list[str], home: Path) -> Iterator[StdioServerParameters | str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if transport == "stdio":
        yield StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], *flags], env=environment, cwd=home)
        return
    with processes_in(home) as start:
        process = start("mcp", "--no-cache", *flags, "--transport", "http", "--port", "0")
        assert process.stderr is not None
        line = next(line for line in process.stderr if "serving MCP at" in line)
        yield line.split(" at ")[1].split()[0]


@pytest.mark.process
async def test_its_checks_and_scores_share_one_budget(home: Path, sim: Simulator) -> None:
    models = ["--model", MODEL, "--subject-model", MODEL, "--judge-model", MODEL, "--base-url", sim.base_url]
    started = StdioServerParameters(
        command=COMMAND[0],
        args=[*COMMAND[1:], *models, "--max-calls", "12"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=home,
    )
    async with Client(started) as client:
        reports = []
        for pair in sim.world.questions[:2]:
            documents = [pair.topic.article_sentence]
            asked = {"question": pair.question, "response": pair.answer, "documents": documents}
            await client.call_tool("check_claim", {"claim": documents[0], "documents": documents})
            reports.append((await client.call_tool("trust_score", asked)).structured_content)
    assert sim.stats().model.requests == 12
    assert reports[0] is not None
    assert (reports[0]["trust_bc_unscored"], reports[0]["trust_fc_unscored"]) == (None, None)
    assert reports[-1] is not None
    assert (reports[-1]["trust_bc_unscored"], reports[-1]["trust_fc_unscored"]) == ("budget", "budget")


def test_over_http_callers_take_turns_at_computing(factloop: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    loops: list[object] = []

    async def serve(*_: object) -> None:
        loops.append(type(asyncio.get_running_loop()))

    monkeypatch.setattr("factloop.cli.mcp._serve", serve)
    assert factloop("mcp", "--transport", "http").code == 0
    assert loops == [FairLoop]


@pytest.mark.process
def test_messages_that_cannot_be_read_are_answered_and_it_ends_with_its_input(home: Path) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    cut = {**ping, "params": {"text": "\ud83d"}}  # within an emoji
    unnamed = ([ping], {**ping, "params": json.dumps(ping)}, {**cut, "id": "\ud83d"}, {**cut, "method": None})
    named = {given: {**cut, "id": given} for given in ("a", "", 10**30)}
    done = subprocess.run(
        COMMAND,
        input="\n".join(("not json", *map(json.dumps, (*unnamed, *named.values())))),
        capture_output=True,
        text=True,
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [*[None] * 5, *named]
    assert "Traceback" not in done.stderr
