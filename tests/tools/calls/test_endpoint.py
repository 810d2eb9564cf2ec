from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import ToolError
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.endpoint import Circuit, Endpoint
from factloop.tools.calls.json_client import JsonAnswer
from factloop.tools.calls.retry import RetryPolicy
from tests.tools.fake_server import FakeServer, Reply


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
