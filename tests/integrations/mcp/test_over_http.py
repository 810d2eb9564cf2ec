from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any

import httpx
import pytest
import uvicorn
from mcp import Client
from mcp.server.mcpserver.exceptions import ToolError
from sse_starlette.sse import AppStatus
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from factloop import FactChecker, TrustScorer
from factloop.entrance.address import Binding
from factloop.entrance.callers import ADMITTED, MOST_OPEN, server_config
from factloop.entrance.keys import ApiKeys
from factloop.entrance.turns import Turns
from factloop.integrations.mcp import http
from factloop.integrations.mcp.http import PATH, Guard, _Server, build_app
from factloop.integrations.mcp.server import AT_ONCE, MOST_WAITING, Presence, _Calls, build_server
from factloop.tools.calls.limiter import CALLER
from tests.threaded_server import ThreadedServer

KEY, NEW_KEY, OTHER_KEY = "a-key-of-some-length", "a-new-key-of-some-length", "another-key-of-some-length"
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
def serving(binding: Binding) -> Iterator[str]:
    app = build_app(build_server(FactChecker(cache=False), TrustScorer(cache=False)), binding, body_within_s=PATIENCE_S)
    server = ThreadedServer(server_config(app, PATIENCE_S, timeout_graceful_shutdown=1))
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
    with serving(Binding(keys=ApiKeys([f"{KEY} name=ada", f"{NEW_KEY} name=ada", OTHER_KEY]))) as url:
        yield url


async def test_a_claim_is_checked(address: str) -> None:
    async with Client(address) as client:
        result = await client.call_tool("check_claim", CLAIM)
    assert result.structured_content is not None
    assert result.structured_content["claims"][0]["verdict"] == "supported"


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong-key-of-some-length"}, {"Authorization": KEY}])
def test_without_the_key_nothing_is_read(keyed: str, headers: dict[str, str]) -> None:
    answer = httpx.post(keyed, json=HELLO, headers={**ACCEPT, **headers})
    assert answer.status_code == 401
    assert answer.json()["error"].startswith("the key is not" if "wrong" in str(headers) else "an API key is")
    assert KEY not in answer.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"Host": "evil.example"}, 421), ({"Origin": "http://evil.example"}, 403), ({"Content-Type": "text/plain"}, 400)],
)
def test_what_a_page_of_a_stranger_would_send_is_refused(address: str, headers: dict[str, str], status: int) -> None:
    body = httpx.Request("POST", address, json=HELLO).content
    sent = {"Content-Type": "application/json", **ACCEPT, **headers}
    assert httpx.post(address, content=body, headers=sent).status_code == status


async def test_calls_of_one_key_take_turns_with_those_of_another_and_few_of_them_wait() -> None:
    calls, begun, go_on = _Calls(Turns(places=AT_ONCE), MOST_WAITING), [], asyncio.Event()

    async def call(caller: str) -> None:
        async with calls.turn(caller):
            begun.append(caller)
            await go_on.wait()

    of_a = [asyncio.create_task(call("a")) for _ in range(AT_ONCE - 1 + MOST_WAITING)]
    await asyncio.sleep(0)
    with pytest.raises(ToolError, match="busy: 16 calls with this key are already waiting"):
        await call("a")
    of_b = [asyncio.create_task(call("b")) for _ in range(3)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert begun == ["a"] * (AT_ONCE - 1) + ["b"]
    of_a.pop().cancel()  # which waits
    for one in of_a[:2]:
        one.cancel()
    await asyncio.wait(of_a[:2])
    await asyncio.sleep(0)
    assert begun[AT_ONCE:] == ["b"], "the last place is kept for another key"
    go_on.set()
    await asyncio.gather(*of_a[2:], *of_b)
    assert len(begun) == AT_ONCE - 1 + MOST_WAITING - 1 + 3


def test_a_session_belongs_to_its_caller_whom_its_calls_count_for(keyed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    callers, turn = [], _Calls.turn

    def noted(self: _Calls, caller: str) -> AbstractAsyncContextManager[None]:
        callers.append((caller, CALLER.get()))
        return turn(self, caller)

    monkeypatch.setattr(_Calls, "turn", noted)
    mine, new, other = ({**ACCEPT, "Authorization": f"Bearer {key}"} for key in (KEY, NEW_KEY, OTHER_KEY))
    session = httpx.post(keyed, json=HELLO, headers=mine).headers["mcp-session-id"]
    asked = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    statuses = [
        httpx.post(keyed, json=asked, headers={**headers, "Mcp-Session-Id": session}).status_code
        for headers in (mine, new, other)
    ]
    assert statuses == [200, 200, 404]
    call = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "check_claim", "arguments": CLAIM}}
    answer = httpx.post(keyed, json=call, headers={**mine, "Mcp-Session-Id": session}, timeout=60)
    assert '"verdict":"supported"' in answer.text
    owner = ApiKeys([f"{KEY} name=ada"]).owner(f"Bearer {KEY}")
    assert callers == [(owner, owner)], "callers take turns at models as well"


def test_calls_of_a_caller_who_hangs_up_are_cancelled(keyed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the next calls with the same key would have to wait for them."""
    ended = threading.Semaphore(0)

    async def hang(*_: object, **_of: object) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.release()

    monkeypatch.setattr(FactChecker, "acheck", hang)
    headers = {**ACCEPT, "Authorization": f"Bearer {KEY}"}
    headers["Mcp-Session-Id"] = httpx.post(keyed, json=HELLO, headers=headers).headers["mcp-session-id"]
    call = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "check_claim", "arguments": CLAIM}}
    for number in range(2):
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(keyed, json={**call, "id": number}, headers=headers, timeout=0.5)
        assert ended.acquire(timeout=10)
    monkeypatch.undo()
    assert '"verdict":"supported"' in httpx.post(keyed, json=call, headers=headers, timeout=60).text


async def test_a_timeout_of_the_call_itself_is_no_lost_connection() -> None:
    with pytest.raises(TimeoutError):
        async with Presence().awaited():
            raise TimeoutError


def test_a_key_that_opens_many_sessions_loses_its_own_longest_idle_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MOST_SESSIONS", 4)
    with serving(Binding(keys=ApiKeys([KEY, OTHER_KEY]))) as url:
        mine, other = ({**ACCEPT, "Authorization": f"Bearer {key}"} for key in (KEY, OTHER_KEY))

        def opened(headers: dict[str, str]) -> dict[str, str]:
            return {**headers, "Mcp-Session-Id": httpx.post(url, json=HELLO, headers=headers).headers["mcp-session-id"]}

        def status(session: dict[str, str]) -> int:
            return httpx.post(url, json={"jsonrpc": "2.0", "id": 2, "method": "ping"}, headers=session).status_code

        first, second = opened(mine), opened(mine)
        assert status(first) == 200
        third = opened(mine)
        assert [status(one) for one in (first, second, third)] == [200, 404, 200]
        assert httpx.delete(url, headers=third).status_code == 200
        assert [status(one) for one in (first, opened(mine), opened(other), opened(other))] == [200] * 4


async def test_shares_follow_the_keys_and_no_session_with_a_call_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MOST_SESSIONS", 4)
    keys, opened, names, go_on = ApiKeys([KEY]), list[str](), iter("abcdefg"), asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        session = Headers(scope=scope).get("mcp-session-id", "")
        if scope["method"] == "DELETE":
            opened.remove(session)
        elif session in opened:
            await go_on.wait()
        else:
            opened.append(session := next(names))
        await Response(headers={"Mcp-Session-Id": session})(scope, receive, send)

    client = httpx.AsyncClient(transport=httpx.ASGITransport(Guard(app, keys, 5.0)), base_url="http://localhost")

    async def post(key: str, **session: str) -> int:
        return (await client.post(PATH, headers={"Authorization": f"Bearer {key}", **session})).status_code

    for _ in range(4):
        await post(KEY)
    call = asyncio.create_task(post(KEY, **{"Mcp-Session-Id": "a"}))
    await asyncio.sleep(0.1)
    keys._take([KEY, NEW_KEY])
    await post(KEY)
    assert opened == ["a", "e"]
    keys._take([NEW_KEY])
    assert [await post(KEY), await post(NEW_KEY)] == [401, 200]
    assert opened == ["a", "f"]
    go_on.set()
    await call
    await post(NEW_KEY)
    assert opened == ["f", "g"]


def test_the_first_signal_to_stop_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AppStatus, "should_exit", False)  # the signal ends all streams of the process
    told: list[None] = []
    server = _Server(uvicorn.Config("none"), lambda: told.append(None))
    for _ in range(2):
        server.handle_exit(signal.SIGTERM, None)
    assert (len(told), server.should_exit) == (1, True)


async def test_a_key_with_many_open_requests_is_refused_more_while_others_are_answered() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await Response(scope[ADMITTED])(scope, receive, send)

    transport = httpx.ASGITransport(Guard(app, ApiKeys([KEY, OTHER_KEY]), 5.0))
    client = httpx.AsyncClient(transport=transport, base_url="http://localhost")
    mine, theirs, go_on = {"Authorization": f"Bearer {KEY}"}, {"Authorization": f"Bearer {OTHER_KEY}"}, asyncio.Event()

    async def withheld() -> AsyncIterator[bytes]:
        await go_on.wait()
        yield b"{}"

    posts = [asyncio.create_task(client.post(PATH, content=withheld(), headers=mine)) for _ in range(MOST_OPEN + 1)]
    (refused,), _ = await asyncio.wait(posts, return_when=asyncio.FIRST_COMPLETED)
    assert (refused.result().status_code, (await client.get(PATH, headers=theirs)).status_code) == (429, 200)
    go_on.set()
    assert sorted([(await post).status_code for post in posts]) == [200] * MOST_OPEN + [429]


def test_a_body_has_a_bound(address: str) -> None:
    for content in (b" " * 8_000_001, b"[" + b"{}," * 200_000):
        assert httpx.post(address, content=content, headers=ACCEPT).status_code == 413
