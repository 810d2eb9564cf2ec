"""Streamable HTTP: on loopback to its own names, elsewhere behind a key."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx
import pytest
import uvicorn
from mcp import Client

from factloop import FactChecker, TrustScorer
from factloop.entrance.address import Binding
from factloop.entrance.callers import patient_protocol
from factloop.entrance.keys import ApiKeys
from factloop.integrations.mcp.http import PATH, build_app
from factloop.integrations.mcp.server import build_server
from tests.threaded_server import ThreadedServer

KEY = "a-key-of-some-length"
PATIENCE_S = 1.0
CLAIM = {"claim": "Ada was born in London.", "documents": ["Ada was born in London."]}
HELLO: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@contextmanager
def serving(binding: Binding, patience_s: float = PATIENCE_S) -> Iterator[str]:
    """The address of a server in a thread."""
    app = build_app(build_server(FactChecker(cache=False), TrustScorer(cache=False)), binding, body_within_s=patience_s)
    config = uvicorn.Config(
        app, http=patient_protocol(3, patience_s), log_config=None, ws="none", timeout_graceful_shutdown=1
    )
    server = ThreadedServer(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}{PATH}"
        server.should_exit = True
        thread.join(10)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving(Binding()) as url:
        yield url


@pytest.fixture(scope="module")
def keyed() -> Iterator[str]:
    with serving(Binding(keys=ApiKeys([KEY]))) as url:
        yield url


async def test_a_claim_is_checked(address: str) -> None:
    async with Client(address) as client:
        result = await client.call_tool("check_claim", CLAIM)
    assert result.structured_content is not None
    assert result.structured_content["claim"]["verdict"] == "supported"


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong-key-of-some-length"}, {"Authorization": KEY}])
def test_without_the_key_nothing_is_read(keyed: str, headers: dict[str, str]) -> None:
    answer = httpx.post(keyed, json=HELLO, headers={**ACCEPT, **headers})
    assert answer.status_code == 401
    assert answer.json()["error"].startswith("the key is wrong" if "wrong" in str(headers) else "a key is needed")
    assert KEY not in answer.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Content-Type": "text/plain"}, 400),
    ],
)
def test_what_a_page_of_a_stranger_would_send_is_refused(address: str, headers: dict[str, str], status: int) -> None:
    body = httpx.Request("POST", address, json=HELLO).content
    sent = {"Content-Type": "application/json", **ACCEPT, **headers}
    assert httpx.post(address, content=body, headers=sent).status_code == status


def test_a_body_has_a_bound(address: str) -> None:
    assert httpx.post(address, content=b" " * 8_000_001, headers=ACCEPT).status_code == 413


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 50_000, b'{"jsonrpc": "2.0"}', b"\xff\xfe", b"null"])
def test_rubbish_is_refused_and_the_server_stays_up(address: str, body: bytes) -> None:
    answer = httpx.post(address, content=body, headers={"Content-Type": "application/json", **ACCEPT})
    assert 400 <= answer.status_code < 500
    assert "Traceback" not in answer.text
    assert httpx.post(address, json=HELLO, headers=ACCEPT).status_code == 200


@pytest.mark.parametrize(
    ("sent", "drop"),
    [
        (b"", b""),
        (b"POST /mcp HTTP/1.1\r\nX: ", b"x"),
        (b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n", b" "),
        (b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    ],
    ids=["silent", "headers", "body", "chunks"],
)
def test_slow_callers_are_hung_up_on(address: str, sent: bytes, drop: bytes) -> None:
    with _connected(address) as connection:
        connection.settimeout(0.1)
        connection.sendall(sent)
        answer = b""
        while True:  # until it hangs up
            try:
                part = connection.recv(65536)
                answer += part
                if not part:
                    break
            except TimeoutError:
                with suppress(OSError):
                    connection.sendall(drop)
            except OSError:
                break
    assert b" 408 " in answer or b"localhost" not in sent


def _connected(address: str) -> socket.socket:
    host, port = address.removeprefix("http://").removesuffix(PATH).split(":")
    return socket.create_connection((host, int(port)), timeout=60.0)
