from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import ToolError
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.circuit import Circuit
from factloop.tools.calls.endpoint import Endpoint
from factloop.tools.calls.json_client import JsonAnswer
from factloop.tools.calls.retry import RetryPolicy
from tests.tools.fake_server import FakeServer, ReceivedRequest, Reply


def value_of(answer: JsonAnswer) -> Any:
    if "a" not in answer.value:
        raise ToolError("probe: another shape", tool="probe")
    return answer.value["a"]


def endpoint(server: FakeServer, cache: CallCache | None = None, concurrency: int = 4) -> Endpoint:
    return Endpoint(
        tool="probe",
        url=server.url.replace("//", "//me:pw@"),
        timeout_s=5.0,
        cache=cache,
        retry=RetryPolicy(attempts=2, timeout_attempts=1, base_s=0.01, patience_s=1.0),
        concurrency=concurrency,
    )


async def test_identical_questions_that_overlap_are_asked_once(server: FakeServer) -> None:
    server.will(Reply(body=b'{"a": [1]}', drip_s=0.02))
    probe = endpoint(server)
    asked = (probe.ask("GET", {"q": name}, value_of) for name in "xyxxy")
    assert await asyncio.gather(*asked) == [[1]] * 5
    assert sorted(request.params["q"] for request in server.received) == ["x", "y"]
    await probe.aclose()


async def test_a_cancelled_question_takes_nobody_along(server: FakeServer) -> None:
    server.will(Reply(body=b'{"a": 1}', drip_s=0.03))
    probe = endpoint(server)
    first, second = (asyncio.create_task(probe.ask("GET", {"q": "x"}, value_of)) for _ in range(2))
    await asyncio.sleep(0.05)
    first.cancel()
    assert await second == 1
    assert first.cancelled()
    await probe.aclose()


async def test_answers_are_kept_and_failures_are_not(server: FakeServer, tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "cache.sqlite")
    server.will_answer({"b": 1}, {"a": 2})
    probe = endpoint(server, cache)
    with pytest.raises(ToolError, match="another shape"):
        await probe.ask("POST", {"q": "x"}, value_of)
    assert [await probe.ask("POST", {"q": "x"}, value_of) for _ in range(2)] == [2, 2]
    await probe.aclose()
    again = endpoint(server, cache)
    assert await again.ask("POST", {"q": "x"}, value_of) == 2
    assert again.identity == server.url
    await again.aclose()
    cache.close()
    assert "pw" not in (tmp_path / "cache.sqlite").read_bytes().decode("latin-1")
    assert [request.payload for request in server.received] == [{"q": "x"}, {"q": "x"}]


async def test_no_more_at_once_than_allowed(server: FakeServer) -> None:
    under_way, most = 0, 0

    def respond(_: ReceivedRequest) -> Reply:
        nonlocal under_way, most
        under_way, most = under_way + 1, max(most, under_way + 1)
        time.sleep(0.02)
        under_way -= 1
        return Reply(body=b'{"a": 1}')

    server.respond = respond
    probe = endpoint(server, concurrency=3)
    await asyncio.gather(*(probe.ask("GET", {"q": str(number)}, value_of) for number in range(12)))
    assert most == 3
    await probe.aclose()


async def test_closing_leaves_it_usable(server: FakeServer) -> None:
    server.will_answer({"a": 1})
    probe = endpoint(server)
    await probe.aclose()
    assert await probe.ask("GET", {}, value_of) == 1
    await probe.aclose()
    await probe.aclose()


async def test_passing_trouble_is_not_seen(server: FakeServer) -> None:
    busy = Reply(status=429, headers=(("Retry-After", "0.05"),))
    server.will(Reply(status=503), busy, busy, Reply(body=b'{"a": 1}'))
    probe = endpoint(server)
    assert await probe.ask("GET", {}, value_of) == 1
    await probe.aclose()


def test_after_a_rest_one_request_tries_and_its_success_ends_it() -> None:
    now = 0.0
    circuit = Circuit(tool="probe", failures=2, rest_s=10.0, clock=lambda: now)
    broken = ToolError("no connection", tool="probe")
    circuit.failed(broken)
    circuit.succeeded()
    circuit.failed(broken)
    circuit.admit()  # never two in a row so far
    circuit.failed(broken)
    with pytest.raises(ToolError, match=r"not asked again for now \(no connection\)") as caught:
        circuit.check()
    assert not caught.value.retryable
    now = 10.0
    circuit.check()
    circuit.admit()
    with pytest.raises(ToolError):
        circuit.admit()  # the second waits for what the first finds
    now = 20.0
    circuit.admit()
    circuit.succeeded()
    circuit.admit()
    circuit.admit()
