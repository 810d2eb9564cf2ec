from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from factloop.core.errors import ConfigError, RecordingMissing, ToolError
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.endpoint import Endpoint
from factloop.tools.calls.json_client import JsonAnswer
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.calls.tape import Tape
from tests.tools.fake_server import FakeServer, Reply

TWICE = RetryPolicy(attempts=2, timeout_attempts=1, base_s=0.01, patience_s=0.2)


def value_of(answer: JsonAnswer) -> Any:
    if "a" not in answer.value:
        raise ToolError("probe: another shape", tool="probe")
    return answer.value["a"]


def endpoint(server: FakeServer, **options: Any) -> Endpoint:
    url = server.url.replace("//", "//me:hunter2@")
    return Endpoint(**{"tool": "probe", "url": url, "timeout_s": 5.0, "retry": TWICE, **options})


async def test_answers_are_kept_and_failures_are_not(server: FakeServer, tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "cache.sqlite")
    server.will_answer({"b": 1}, {"a": 2})
    probe = endpoint(server, cache=cache)
    with pytest.raises(ToolError, match="another shape"):
        await probe.ask("POST", {"q": "x"}, value_of)
    assert [await probe.ask("POST", {"q": "x"}, value_of) for _ in range(2)] == [2, 2]
    await probe.aclose()
    again = endpoint(server, cache=cache)
    assert await again.ask("POST", {"q": "x"}, value_of) == 2
    assert again.identity == server.url
    await again.aclose()
    cache.close()
    assert "hunter2" not in (tmp_path / "cache.sqlite").read_bytes().decode("latin-1")
    assert [request.payload for request in server.received] == [{"q": "x"}, {"q": "x"}]


async def test_a_server_that_is_down_is_left_alone(server: FakeServer) -> None:
    server.will(Reply(status=500))
    probe = endpoint(server)
    for number in range(100):
        with pytest.raises(ToolError) as caught:
            await probe.ask("GET", {"q": str(number)}, value_of)
    await probe.aclose()
    assert "has not accepted a request for 0.2 s" in str(caught.value)
    assert len(server.received) < 2 * 100


async def test_what_a_service_said_is_replayed_from_any_address(server: FakeServer, tmp_path: Path) -> None:
    server.will(Reply(body=b'{"a": ["Rome"]}'))
    recording = Tape(tmp_path / "x.jsonl", "record", remedy="")
    live = endpoint(server, tape=recording)
    assert await live.ask("GET", {"q": "x"}, value_of) == ["Rome"]
    await live.aclose()
    text = recording.text or ""
    assert "hunter2" not in text
    assert '"request": {"fields": {"q": "x"}, "tool": "probe"}, "reply": ["Rome"]' in text
    (tmp_path / "x.jsonl").write_text(text)

    tape = Tape(tmp_path / "x.jsonl", "replay", remedy="Record it!")
    replayed = endpoint(server, url="http://replayed.invalid", tape=tape)
    with pytest.raises(ConfigError, match=r"x\.jsonl:2: the recorded reply cannot be read"):
        await replayed.ask("GET", {"q": "x"}, value_of, TypeAdapter(list[int]))
    assert await replayed.ask("GET", {"q": "x"}, value_of) == ["Rome"]
    with pytest.raises(RecordingMissing, match=r"probe, .*differs in fields.*Record it!"):
        await replayed.ask("GET", {"q": "y"}, value_of)
    await replayed.aclose()
    assert len(server.received) == 1
