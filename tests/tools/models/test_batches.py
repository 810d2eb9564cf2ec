from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from factloop.core.errors import ConfigError, ToolError
from factloop.prompts.registry import PromptRegistry
from factloop.setup.chat_model import build_model
from factloop.setup.session import open_session
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.models.batches import AnthropicBatches, Batches, OpenAIBatches, Outcome
from tests.simulator import Simulator

HEADERS = {"x-api-key": "sk-ant-0123456789", "anthropic-version": "2023-06-01"}


class Asking:
    def __init__(self, sim: Simulator, client: httpx2.AsyncClient, path: Path, patience_s: float) -> None:
        self.batches = Batches(path, after_s=0.05, patience_s=patience_s)
        request = httpx2.Request("POST", f"{sim.base_url}/messages?beta=true", headers=HEADERS)
        self._provider = AnthropicBatches("anthropic:sim", client, request, "/messages")

    async def ask(self, *questions: str) -> list[Outcome]:
        bodies = [
            {"model": "sim", "max_tokens": 64, "messages": [{"role": "user", "content": said}]} for said in questions
        ]
        return await asyncio.gather(*(self.batches.ask(self._provider, "", body) for body in bodies))


@asynccontextmanager
async def asking(sim: Simulator, path: Path, patience_s: float = 10.0) -> AsyncIterator[Asking]:
    async with httpx2.AsyncClient() as client:
        process = Asking(sim, client, path, patience_s)
        yield process
        await process.batches.aclose()


async def test_each_request_has_the_outcome_of_its_line(sim: Simulator, tmp_path: Path) -> None:
    sim.set(batch_s=0.2, batch_expires=1, batch_errors=1)
    async with asking(sim, tmp_path / "batches.jsonl") as process:
        found = await process.ask("Who is it?", "What is it?", "Where is it?", "Where is it?")
        assert [status for status, _ in found] == [503, 500, 200, 200]  # the first expired, the second failed
        assert (found[1][1]["error"]["type"], found[2][1]["type"]) == ("api_error", "message")
        again = await process.ask("Who is it?", "What is it?")
    assert [status for status, _ in again] == [200, 200]
    assert [len(batch) for batch in sim.batches()] == [3, 2]


async def test_what_was_submitted_is_not_submitted_again(sim: Simulator, tmp_path: Path) -> None:
    path = tmp_path / "batches.jsonl"
    async with asking(sim, path) as process:
        first = await process.ask("Who is it?", "What is it?")
    async with asking(sim, path) as process:  # killed before it kept the answers
        assert await process.ask("What is it?", "Who is it?") == first[::-1]
    sim.set(batch_answers_lost=True)
    async with asking(sim, path) as process:  # the submission seems to fail, and is found among the provider's batches
        ((status, _),) = await process.ask("Where is it?")
    assert (status, [len(batch) for batch in sim.batches()]) == (200, [2, 1])


async def test_a_provider_that_cannot_be_asked_is_given_up_and_its_batch_is_not(sim: Simulator, tmp_path: Path) -> None:
    path = tmp_path / "batches.jsonl"
    sim.set(batch_looks_fail=10**6)
    async with asking(sim, path, patience_s=0.3) as process:
        with pytest.raises(ToolError, match="HTTP 500 at /messages/batches/msgbatch_0") as failed:
            await process.ask("Who is it?")
        assert not failed.value.retryable  # its batch may be answered yet
        sim.set(batch_looks_fail=0)
        ((status, _),) = await process.ask("Who is it?")
    assert (status, len(sim.batches())) == (200, 1)


async def test_a_batch_for_which_others_leave_no_room_waits_for_them(sim: Simulator, tmp_path: Path) -> None:
    """It is halved if it has too many requests itself."""
    sim.set(batch_s=1.0, batch_most=3)
    async with httpx2.AsyncClient() as client:
        batches = Batches(tmp_path / "batches.jsonl", after_s=0.05, patience_s=10.0)
        request = httpx2.Request("POST", f"{sim.base_url}/chat/completions")
        provider = OpenAIBatches("openai:sim", client, request, "/chat/completions")

        def ask(*questions: str) -> asyncio.Future[list[Outcome]]:
            bodies = [{"model": "sim", "messages": [{"role": "user", "content": said}]} for said in questions]
            return asyncio.gather(*(batches.ask(provider, "", body) for body in bodies))

        first = ask("Who is it?", "What is it?", "Where is it?")
        await asyncio.sleep(0.3)
        found = await ask("Why is it?", "How is it?") + await first
        found += await ask("1?", "2?", "3?", "4?")
        await batches.aclose()
    assert {status for status, _ in found} == {200}
    assert [len(batch) for batch in sim.batches()] == [3, 2, 2, 4, 2, 2]


async def test_a_damaged_memory_and_a_provider_without_batches(sim: Simulator, tmp_path: Path) -> None:
    path = tmp_path / "batches.jsonl"
    path.write_bytes(b'{"mark":"m","names":["a"],"since":1.0}\n{"mark":"m","i')  # cut off by a kill
    sim.set(has_batches=False)
    async with asking(sim, path) as process:
        with pytest.raises(ConfigError, match=r"HTTP 404 .*may not support batches, so try again without `--batch`"):
            await process.ask("Who is it?")


LONG_AGO = b'{"mark":"m","names":["a"],"since":'


@pytest.mark.parametrize("line", [LONG_AGO + b'"x"}', LONG_AGO + b"9" * 400 + b"}", b'{"mark":"unknown","id":"i"}'])
def test_a_memory_of_another_shape_is_one_clear_error(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "batches.jsonl").write_bytes(b"[" * 100_000 + b"\n" + line)
    with pytest.raises(ConfigError, match=r"cannot read .*batches\.jsonl .*; use another run directory"):
        Batches(tmp_path / "batches.jsonl", after_s=0.0, patience_s=0.0)


async def test_langchains_model_of_anthropic(sim: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langchain_anthropic")
    monkeypatch.setenv("ANTHROPIC_API_KEY", HEADERS["x-api-key"])
    monkeypatch.setenv("ANTHROPIC_API_URL", sim.base_url.removesuffix("/v1"))
    settings = CheckSettings(batch=True, batch_after_s=0.05)
    prompts = PromptRegistry.load()
    chat = build_model(settings, "anthropic:sim", base_url=None, temperature=None)
    session = open_session(settings, prompts, [chat], keeps=False, journal=tmp_path / "journal.sqlite")
    meter = UsageMeter()
    answer = await session.model(chat).ask_freely("Who is it?", stage="ask", meter=meter)
    await session.aclose()
    assert answer.text
    assert (meter.snapshot(0.0).calls, [len(batch) for batch in sim.batches()], sim.stats().live) == (1, [1], 0)
