from __future__ import annotations

import asyncio
import json
import re
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import httpx
import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from factloop.core.errors import ConfigError
from factloop.entrance.address import READ_WITHIN_MS, Binding
from factloop.entrance.callers import ADMITTED, MOST_KEPT, patient_protocol
from factloop.service import guard
from factloop.service.app import build_app, serve
from factloop.service.guard import SENT_AT_ONCE
from factloop.service.settings import ServiceSettings
from factloop.setup.settings import CheckSettings
from factloop.trust.settings import TrustSettings
from tests.service.asking import ASK
from tests.service.serving import serving


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("service")
    settings = ServiceSettings(
        folder=folder, port=0, rate="10000/minute", header_timeout_s=0.3, body_timeout_s=0.3, max_body_mb=0.1
    )
    app = build_app(settings, CheckSettings(cache_dir=folder), TrustSettings(cache_dir=folder))
    with serving(app) as found:
        yield found


def _connected(address: str) -> socket.socket:
    host, port = address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=10.0)


def _answer(connection: socket.socket) -> bytes:
    parts = []
    with suppress(ConnectionResetError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


async def _sent(tmp_path: Path, path: str, body: bytes = b"") -> list[Any]:
    """The messages of an answer, each with whether its request is admitted."""
    app, sent = build_app(ServiceSettings(folder=tmp_path), CheckSettings(), TrustSettings()), list[Any]()

    async def watched(scope: Any, receive: Any, send: Any) -> None:
        async def noted(message: Any) -> None:
            sent.append({**message, ADMITTED: ADMITTED in scope})
            await send(message)

        await app(scope, receive, noted)

    client = httpx.AsyncClient(transport=httpx.ASGITransport(watched), base_url="http://localhost")
    async with app.router.lifespan_context(app), client:
        await client.request("GET", path, content=body)
    return sent


async def test_long_answers_are_sent_in_parts_so_that_nothing_waits_for_who_never_reads(tmp_path: Path) -> None:
    sent = await _sent(tmp_path, "/openapi.json")
    sizes = [len(one["body"]) for one in sent[1:]]
    assert max(sizes) == SENT_AT_ONCE < sum(sizes)
    assert [one.get("more_body", False) for one in sent[1:]] == [True] * (len(sizes) - 1) + [False]


async def test_a_refused_request_does_not_keep_its_connection(tmp_path: Path) -> None:
    sent = await _sent(tmp_path, "/v1/info", b" " * 1_001)
    assert (sent[0]["status"], *(one[ADMITTED] for one in sent)) == (413, False, False, False)


def test_small_answers_are_sent_at_once() -> None:
    with Binding(port=0).listening() as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            if sys.platform == "linux":
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == READ_WITHIN_MS


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"", None),
        (b"GET /health HTTP/1.1\r\nHost: loc", None),
        (b"PUT /v1/info HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{", 408),
        (b"\r\n", 400),
        (b"GET /health HTTP/1.1\r\nHost: elsewhere\r\n\r\n" * 50, 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
        (b"GET / HTTP/9.9\r\n\r\n", 400),
        (b"GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"POST /v1/checks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{", 400),
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000, 400),
    ],
)
def test_what_is_incomplete_or_wrong_ends_the_connection(
    address: str, sent: bytes, status: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "DISCARDED_WITHIN_S", 0.1)
    with _connected(address) as connection:
        connection.sendall(sent)
        told = re.findall(r"^HTTP/1.1 (\d+)", _answer(connection).decode(), re.MULTILINE)
    assert told == ([] if status is None else [str(status)])


async def test_connections_give_way_first_that_were_never_admitted() -> None:
    protocol, state, lost = patient_protocol(MOST_KEPT + 3), ServerState(), list[int]()
    for number, kind in enumerate([*["kept"] * (MOST_KEPT + 1), "stranger", "open", "open", "open"]):
        connection: Any = protocol(Config(serve, log_config=None), state, {})  # type: ignore[call-arg]  # uvicorn's arguments
        connection.connection_made(Mock(asyncio.Transport, abort=partial(lost.append, number)))
        connection.scope = {} if kind == "stranger" else {ADMITTED: "ada"}
        connection.cycle = Mock(response_complete=kind == "kept")
        if kind == "kept":
            connection.on_response_complete()
    assert lost == [0, MOST_KEPT + 1, 1], "one too many of its owner, one without an owner, the one kept for longest"


def test_a_caller_who_stops_reading_is_logged_in_one_line(
    address: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "SENT_WITHIN_S", 0.1)
    with _connected(address) as connection:
        connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 500)
        while not (errors := [one for one in caplog.records if one.levelname == "ERROR"]):
            time.sleep(0.01)
    assert [one.exc_info for one in errors] == [None]


def test_a_broken_chunk_after_the_answer_logs_no_error(address: str, caplog: pytest.LogCaptureFixture) -> None:
    head = b"POST /v1/checks HTTP/1.1\r\nHost: nowhere\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
    with _connected(address) as connection:
        connection.sendall(head)
        assert b" 400 " in connection.recv(65536)
        connection.sendall(b"zz\r\n")
        _answer(connection)
    assert [one.message for one in caplog.records if one.exc_info] == []


def test_a_body_in_tiny_chunks_is_cut_off(address: str) -> None:
    head = b"POST /v1/checks HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    answers = []
    for size, count in ((1, 50_000), (100, 500)):
        with _connected(address) as connection, suppress(ConnectionError):
            connection.sendall(head + b"%x\r\n%b\r\n" % (size, b" " * size) * count + b"0\r\n\r\n")
            answers.append(connection.recv(65536).split(b"\r\n")[0])
    assert answers[-1].endswith(b" 415 Unsupported Media Type"), answers
    assert answers[:-1] in ([], [b""])


@pytest.mark.parametrize("path", ["/", "/health", "/ready"])
def test_head_is_answered_as_get_without_a_body(address: str, path: str) -> None:
    head, get = httpx.head(f"{address}{path}"), httpx.get(f"{address}{path}")
    assert (head.status_code, head.content) == (get.status_code, b"")
    assert head.headers["content-type"] == get.headers["content-type"]


def test_a_large_body_is_refused_and_the_answer_arrives(address: str) -> None:
    for _ in range(3):
        answer = httpx.post(f"{address}/v1/checks", content=b" " * 10**7, headers={"Content-Type": "application/json"})
        assert answer.status_code == 413
        assert answer.json()["error"]["type"] == "too_large"


@pytest.mark.parametrize("name", [None, "a-name-of-the-request"])
def test_a_caller_who_hangs_up_ends_the_job_unless_it_has_a_name(address: str, name: str | None) -> None:
    ask = json.dumps({**ASK, "response": " ".join(f"Ada Lovelace wrote {n} letters." for n in range(60))})
    named = {} if name is None else {"Idempotency-Key": name}
    headers = {"Host": "localhost", "Content-Type": "application/json", "Content-Length": str(len(ask)), **named}
    head = "".join(f"{key}: {value}\r\n" for key, value in headers.items())
    with _connected(address) as connection:
        connection.sendall(f"POST /v1/checks?wait=true HTTP/1.1\r\n{head}\r\n{ask}".encode())
        while not (running := httpx.get(f"{address}/v1/jobs?status=running").json()["jobs"]):
            time.sleep(0.01)
    job = running[0]
    while (job := httpx.get(f"{address}/v1/jobs/{job['id']}").json())["finished_at"] is None:
        time.sleep(0.05)
    assert job["status"] == ("cancelled" if name is None else "done")


def test_a_taken_port_and_a_folder_in_use_are_said_in_one_line(address: str, tmp_path: Path) -> None:
    port = int(address.rpartition(":")[2])
    app = build_app(ServiceSettings(folder=tmp_path, port=port), CheckSettings(), TrustSettings())
    with pytest.raises(ConfigError, match="cannot listen on"):
        asyncio.run(serve(app, ready=print))
