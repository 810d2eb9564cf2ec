from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.core.errors import BudgetExceeded, ConfigError, ModelRefusal, RecordingMissing, ToolError, ToolTimeout
from factloop.reports.visible import visible
from factloop.tools.calls.modes import TapeMode
from factloop.tools.calls.tape import Tape, TapeEntry, TapeRequest, read_tape, tape_text

KEY = "abcdefgh-1234"
HEADER = '{"factloop_recording": 1}'
LINE = {"kind": "web", "key": "0" * 32, "request": {"tool": "x"}, "reply": 1}


def tape(path: Path, mode: TapeMode) -> Tape:
    return Tape(path, mode, secrets=(KEY,), remedy="Record it!")


def asked(query: str = "q", **shown: Any) -> TapeRequest:
    return TapeRequest("search", ["serper", query], {"tool": "serper", "query": query, **shown})


def answering(value: Any) -> Callable[[], Awaitable[Any]]:
    async def ask() -> Any:
        if isinstance(value, Exception):
            raise value
        return value

    return ask


async def nobody() -> Any:
    raise AssertionError("a replay made a call")


async def take(given_tape: Tape, request: TapeRequest, ask: Callable[[], Awaitable[Any]] = nobody) -> Any:
    value, _ = await given_tape.take(request, ask, read=lambda _: None)
    return value


def write(path: Path, recording: Tape) -> str:
    assert recording.text is not None
    path.write_text(recording.text, encoding="utf-8")
    return recording.text


async def record(path: Path, *pairs: tuple[TapeRequest, Any], mode: TapeMode = "record") -> None:
    recording = tape(path, mode)
    for request, value in pairs:
        await take(recording, request, answering(value))
    write(path, recording)


@pytest.mark.parametrize(
    "failure",
    [
        ToolError("serper: status 500", tool="serper", status=500),
        ToolTimeout(tool="serper", timeout_s=2.5),
        BudgetExceeded("3 calls"),
        BudgetExceeded("3 calls", "this check"),
        ModelRefusal("I cannot", schema="Rating", reply="no"),
    ],
)
async def test_a_call_that_failed_fails_again_in_the_same_way(tmp_path: Path, failure: Exception) -> None:
    path = tmp_path / "x.jsonl"
    recording = tape(path, "record")
    with pytest.raises(type(failure)):
        await take(recording, asked(), answering(failure))
    write(path, recording)
    with pytest.raises(type(failure)) as replayed:
        await take(tape(path, "replay"), asked())
    shared = {name: value for name, value in vars(failure).items() if name not in ("retryable", "retry_after_s")}
    assert (str(replayed.value), {name: vars(replayed.value)[name] for name in shared}) == (str(failure), shared)
    assert await take(tape(path, "new"), asked(), answering(1)) == 1  # and is tried again where new ones are recorded


async def test_what_one_check_could_not_pay_for_another_may_ask(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    recording = tape(path, "record")
    for failure in (BudgetExceeded("3 calls", "this check"), BudgetExceeded("9 calls")):
        with pytest.raises(BudgetExceeded, match=failure.limit):
            await take(recording, asked(), answering(failure))
    with pytest.raises(BudgetExceeded, match="9 calls"):  # that of the whole run ends all
        await take(recording, asked(), answering(1))
    other = asked("Who paid?")
    with pytest.raises(BudgetExceeded):
        await take(recording, other, answering(BudgetExceeded("3 calls", "this check")))
    assert await take(recording, other, answering(1)) == 1
    write(path, recording)
    assert await take(tape(path, "replay"), other) == 1


async def test_what_is_not_recorded_says_what_differs_and_how_to_record_it(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    await record(path, (asked("Who built the tower in 1882?"), 1), (asked("Where is Rome?"), 1))
    with pytest.raises(RecordingMissing) as missing:
        await take(tape(path, "replay"), asked("Who built the tower in 1759?"))
    assert str(missing.value) == (
        f"no recording of this request (search serper, query 'Who built the tower in 1759?'): not in {path}: "
        "the closest (line 3) differs in query: recorded '…built the tower in 1882?', "
        "requested '…built the tower in 1759?'. Record it!"
    )


async def test_a_reply_keeps_the_order_of_its_fields(tmp_path: Path) -> None:
    """A repair turn shows the model its own call; in another order it would be another request."""
    path = tmp_path / "x.jsonl"
    await record(path, (asked(), {"z": 1, "a": {"y": 2, "b": 3}}))
    assert str(await take(tape(path, "replay"), asked())) == "{'z': 1, 'a': {'y': 2, 'b': 3}}"


@given(st.lists(st.text(), max_size=4), st.recursive(st.none() | st.integers() | st.text(), st.lists))
def test_any_text_survives_and_nothing_in_it_ends_a_line_or_moves_a_cursor(queries: list[str], reply: Any) -> None:
    entries = {f"{n:032x}": TapeEntry("web", f"{n:032x}", {"q": query}, reply=reply) for n, query in enumerate(queries)}
    text = tape_text(entries.values())
    text.encode("utf-8")
    assert visible(text) == text
    assert len(text.split("\n")) == len(entries) + 2
    read = read_tape(text, "x")
    assert {key: (entry.request, entry.reply) for key, entry in read.items()} == {
        key: (entry.request, entry.reply) for key, entry in entries.items()
    }


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([], "x:1: this line is not valid JSON"),
        (["[]"], "x:1: this line is not a JSON object"),
        (['{"a": 1}'], "x:1: this is not a factloop recording"),
        (['{"factloop_recording": 2}'], "x:1: the format is 2, but this version reads 1"),
        ([json.dumps({"factloop_recording": "x" * 10_000})], "x:1: the format is 'xxx"),
        ([HEADER, json.dumps(LINE), "<<<<<<< HEAD"], "x:3: this line is not valid JSON"),
        ([HEADER, json.dumps(LINE)[:-4]], "x:2: this line is not valid JSON"),
        ([HEADER, "[" * 100_000], "x:2: this line is not valid JSON"),
        ([HEADER, "9" * 5_000], "x:2: this line is not valid JSON"),
        ([HEADER, "1"], "x:2: this line is not a JSON object"),
        ([HEADER, json.dumps({**LINE, "kind": "wild"})], "x:2: the field 'kind'"),
        ([HEADER, json.dumps({**LINE, "kind": []})], "x:2: the field 'kind'"),
        ([HEADER, json.dumps({**LINE, "key": "short"})], "x:2: the field 'key'"),
        ([HEADER, json.dumps({**LINE, "request": None})], "x:2: the field 'request'"),
        ([HEADER, json.dumps({**LINE, "failure": {}})], "x:2: the field 'reply'"),
        ([HEADER, json.dumps({**LINE, "failure": 1})], "x:2: the field 'failure'"),
        ([HEADER, json.dumps({**LINE, "extra": 1})], "x:2: the field 'extra'"),
        ([HEADER, json.dumps({name: LINE[name] for name in ("kind", "key", "request")})], "x:2: the field 'reply'"),
        ([HEADER, json.dumps(LINE), "", json.dumps(LINE)], "x:4: duplicates the request on line 2"),
    ],
)
def test_a_damaged_file_is_named_with_the_line(lines: list[str], complaint: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_tape("\n".join(lines), "x")
    assert str(error.value).startswith(complaint)
    assert "record it again" in str(error.value)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    "came",
    [
        *({"reply": {"no": "hits"}}, {"failure": {"error": "odd"}}, {"failure": {}}),
        *(
            {"failure": {"error": "tool", "tool": "s", "status": status, "message": "no"}}
            for status in ("abc", math.inf)
        ),
    ],
)
async def test_an_answer_that_somebody_edited_out_of_shape_is_named(tmp_path: Path, came: dict[str, Any]) -> None:
    path = tmp_path / "x.jsonl"
    line = {"kind": "search", "key": asked().key, "request": {}, **came}
    path.write_text(f"{HEADER}\n{json.dumps(line)}\n")
    with pytest.raises(ConfigError, match=r"x\.jsonl:2: the recorded (reply|failure) cannot be read"):
        await tape(path, "replay").take(asked(), nobody, read=lambda value: value["hits"])


@pytest.mark.parametrize("mode", ["record", "new"])
async def test_a_place_that_cannot_be_written_is_said_before_anybody_is_asked(tmp_path: Path, mode: TapeMode) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot write "):
        await take(tape(tmp_path / "file" / "x.jsonl", mode), asked())
