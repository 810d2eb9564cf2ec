"""Free web services on a tape: wherever their server is, and without asking it again."""

from __future__ import annotations

from pathlib import Path

import pytest

from factloop.core.errors import RecordingMissing
from factloop.tools.calls.endpoint import Endpoint
from factloop.tools.calls.tape import Tape
from tests.tools.calls.test_endpoint import value_of
from tests.tools.fake_server import FakeServer, Reply


def endpoint(url: str, tape: Tape) -> Endpoint:
    return Endpoint(tool="probe", url=url, timeout_s=5.0, tape=tape)


async def test_what_a_service_said_is_replayed_from_any_address(server: FakeServer, tmp_path: Path) -> None:
    server.will(Reply(body=b'{"a": ["Rome"]}'))
    recording = Tape(tmp_path / "x.jsonl", "record", remedy="")
    live = endpoint(server.url.replace("//", "//me:hunter2@"), recording)
    assert await live.ask("GET", {"q": "x"}, value_of) == ["Rome"]
    await live.aclose()
    text = recording.text
    assert text is not None
    assert "hunter2" not in text
    assert '"request": {"fields": {"q": "x"}, "tool": "probe"}, "reply": ["Rome"]' in text
    (tmp_path / "x.jsonl").write_text(text)

    replayed = endpoint("http://replayed.invalid", Tape(tmp_path / "x.jsonl", "replay", remedy="Record it!"))
    assert await replayed.ask("GET", {"q": "x"}, value_of) == ["Rome"]
    with pytest.raises(RecordingMissing, match=r"probe, .*differs in fields.*Record it!"):
        await replayed.ask("GET", {"q": "y"}, value_of)
    await replayed.aclose()
    assert len(server.received) == 1
