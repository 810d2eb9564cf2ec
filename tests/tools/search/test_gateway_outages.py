"""Search servers that are down, from the first request or later: each is waited for so long, and no longer."""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from factloop.core.errors import ConfigError, ToolError, ToolTimeout
from factloop.tools.calls.answers import RunAnswers
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.patience import REST_S
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.search.base import SearchHit, SearchTool
from factloop.tools.search.gateway import SearchAnswer, SearchGateway
from factloop.tools.search.searxng import SearxngSearch
from factloop.tools.search.serper import SerperSearch
from tests.tools.calls.virtual_time import run_in_virtual_time
from tests.tools.fake_server import FakeServer, ReceivedRequest, Reply, serving

HIT = b'{"organic": [{"link": "https://e.org", "title": "T", "snippet": "S"}]}'
TOO_MANY = Reply(status=429)
NO_QUERY = Reply(status=400, body=b'{"message": "Missing query parameter", "statusCode": 400}')
PATIENCE_S = 0.4


class Shelf(SearchTool):
    """Documents at hand, without a server."""

    name: str = "shelf"
    description: str = "Searches a shelf."

    @property
    def identity(self) -> str:
        return "shelf"

    @property
    def cacheable(self) -> bool:
        return False

    def search(self, query: str, limit: int) -> list[SearchHit]:
        return [SearchHit(source="shelf", passage=query)][:limit]


class SlowHello(Shelf):
    """A search whose server does not accept a connection in time."""

    n_hellos: int = 0

    def reach(self) -> None:
        self.n_hellos += 1
        raise ToolTimeout(tool=self.name, timeout_s=1.0)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[CallCache]:
    opened = CallCache(tmp_path / "calls.sqlite")
    yield opened
    opened.close()


def gateway(*tools: SearchTool, cache: CallCache, **options: Any) -> SearchGateway:
    settings: dict[str, Any] = {"retry": RetryPolicy(base_s=0.001), "timeout_s": 5.0, "patience_s": PATIENCE_S}
    return SearchGateway(tools, results=3, answers=RunAnswers(cache), rng=random.Random(0), **{**settings, **options})


def serper(url: str) -> SerperSearch:
    return SerperSearch(api_key=SecretStr("key-of-serper"), base_url=url, timeout_s=5.0)


async def search(searching: SearchGateway, tool: SearchTool, query: str) -> SearchAnswer:
    return await searching.search(tool, query, stage="search", meter=UsageMeter())


def like_serper(reply: Reply) -> Any:
    """Answers as Serper's server does: one without a query always the same."""
    return lambda received: reply if received.payload and "q" in received.payload else NO_QUERY


def searches(server: FakeServer) -> list[ReceivedRequest]:
    return [received for received in server.received if received.payload and "q" in received.payload]


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


async def test_searches_of_a_server_that_refuses_everything_end_together(server: FakeServer, cache: CallCache) -> None:
    server.respond = like_serper(TOO_MANY)
    tool = serper(server.url)
    searching = gateway(tool, cache=cache)
    asked = (search(searching, tool, f"query {number}") for number in range(30))
    errors = await asyncio.gather(*asked, return_exceptions=True)
    assert {(type(error), str(error)) for error in errors} == {
        (ToolError, "serper: has accepted no request for 0.4 s (the last answer: status 429)")
    }
    sent = len(searches(server))
    assert sent < 30
    with pytest.raises(ToolError, match="has accepted no request"):
        await search(searching, tool, "one more")
    assert len(searches(server)) == sent


async def test_one_that_hangs_ends_with_patience_not_with_its_time_out(silent: str, cache: CallCache) -> None:
    tool = SearxngSearch(base_url=silent, timeout_s=0.3)
    with pytest.raises(ToolError, match=r"searxng: has accepted no request for [\d.]+ s \(no answer within 0\.3 s\)"):
        await search(gateway(tool, cache=cache, patience_s=0.5, timeout_s=0.3), tool, "query")


async def test_a_dead_server_does_not_keep_others_waiting(server: FakeServer, cache: CallCache) -> None:
    server.respond = like_serper(TOO_MANY)
    tool, shelf = serper(server.url), Shelf()
    searching = gateway(tool, shelf, cache=cache, patience_s=60.0)
    waiting = asyncio.create_task(search(searching, tool, "query"))
    assert (await search(searching, shelf, "query")).hits
    assert not waiting.done()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)


@pytest.mark.parametrize("status", [401, 403])
async def test_a_wrong_key_is_seen_without_a_search(server: FakeServer, cache: CallCache, status: int) -> None:
    server.will(Reply(status=status, body=b"bad key key-of-serper"))
    with pytest.raises(ConfigError, match="the key in SERPER_API_KEY was refused: check the key") as caught:
        await gateway(serper(server.url), Shelf(), cache=cache).reach()
    assert "key-of-serper" not in str(caught.value)
    (received,) = server.received
    assert (received.method, received.path, received.payload) == ("POST", "/search", {})


@pytest.mark.parametrize("reply", [NO_QUERY, Reply(status=422), Reply(body=HIT)])
async def test_a_key_that_is_taken_is_looked_at_once(server: FakeServer, cache: CallCache, reply: Reply) -> None:
    server.will(reply)
    tool = serper(server.url)
    searching = gateway(tool, cache=cache)
    for _ in range(3):
        await asyncio.gather(*(searching.reach() for _ in range(5)))
    await searching.over([Shelf(), tool]).reach()
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(status=500), "serper: status 500"),
        (
            Reply(body=b"<html>Welcome", headers=(("Content-Type", "text/html"),)),
            "serper: the answer is not JSON: text/ht",
        ),
        (TOO_MANY, "serper: has accepted no request for 0.4 s (the last answer: status 429)"),
    ],
    ids=["500", "HTML", "429"],
)
async def test_a_server_that_is_no_help_is_named_before_anything_is_spent(
    server: FakeServer, cache: CallCache, reply: Reply, said: str
) -> None:
    server.will(reply)
    tool = serper(server.url)
    searching = gateway(tool, cache=cache)
    with pytest.raises(ToolError) as first:
        await searching.reach()
    assert str(first.value).startswith(said)
    sent = len(server.received)
    with pytest.raises(ToolError) as second:
        await searching.reach()
    with pytest.raises(ToolError) as third:
        await search(searching, tool, "query")
    assert str(first.value) == str(second.value) == str(third.value)
    assert len(server.received) == sent


async def test_a_mistyped_address_costs_no_patience(closed_port: int, cache: CallCache) -> None:
    searching = gateway(serper(f"http://127.0.0.1:{closed_port}"), cache=cache, patience_s=86_400.0)
    with pytest.raises(ToolError, match=rf"^serper: connection refused at 127\.0\.0\.1:{closed_port}: is the server"):
        await searching.reach()


async def test_one_that_says_nothing_is_waited_for_no_longer_than_patience(silent: str, cache: CallCache) -> None:
    with pytest.raises(ToolError, match=r"serper: has accepted no request for [\d.]+ s \(no answer within 0\.4 s\)"):
        await gateway(serper(silent), cache=cache).reach()


async def test_one_that_is_slow_to_say_hello_may_still_answer(cache: CallCache) -> None:
    tool = SlowHello()
    searching = gateway(tool, cache=cache, patience_s=60.0)
    for _ in range(2):
        await searching.reach()
    assert (await search(searching, tool, "query")).hits
    assert tool.n_hellos == 1


async def test_a_tool_whose_server_is_not_there_does_not_stop_the_others(
    server: FakeServer, closed_port: int, cache: CallCache
) -> None:
    dead, shelf = serper(f"http://127.0.0.1:{closed_port}"), Shelf()
    searching = gateway(dead, shelf, cache=cache)
    for _ in range(2):
        await searching.reach()
    with pytest.raises(ToolError, match="serper: connection refused"):
        await search(searching, dead, "query")
    assert (await search(searching, shelf, "query")).hits
    assert server.received == []


class Surprised(Shelf):
    """A search of a user's own, taken by surprise by what its server says."""

    def reach(self) -> None:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")


async def test_what_a_tool_raises_at_its_hello_is_a_failure_of_that_tool(cache: CallCache) -> None:
    surprised, shelf = Surprised(name="surprised"), Shelf()
    searching = gateway(surprised, shelf, cache=cache)
    await searching.reach()
    with pytest.raises(ToolError, match="its server could not be looked at \\(UnicodeDecodeError\\)"):
        await search(searching, surprised, "query")
    assert (await search(searching, shelf, "query")).hits
    with pytest.raises(ToolError, match="UnicodeDecodeError"):
        await gateway(Surprised(), cache=cache).reach()


class Sleeping(Shelf):
    """A shelf whose server sleeps at first."""

    n_hellos: int = 0
    is_awake: bool = False

    async def areach(self) -> None:
        self.n_hellos += 1
        if not self.is_awake:
            raise ToolError("shelf: connection refused", tool="shelf", retryable=True)


def test_a_server_that_was_not_there_is_looked_at_again_after_a_while(cache: CallCache) -> None:
    async def play() -> int:
        tool = Sleeping()
        searching = gateway(tool, cache=cache, retry=RetryPolicy(attempts=2))
        for _ in range(20):
            with pytest.raises(ToolError, match="connection refused"):
                await searching.reach()
            await asyncio.sleep(10.0)
        n_hellos, tool.is_awake = tool.n_hellos, True
        await asyncio.sleep(REST_S)
        await searching.reach()
        return n_hellos

    assert 3 <= run_in_virtual_time(play()) <= 2 + 200.0 / REST_S


async def test_without_tools_there_is_nothing_to_reach(cache: CallCache) -> None:
    searching = gateway(cache=cache)
    await searching.reach()
    assert not searching.tools


async def test_patience_is_with_the_tool_whichever_gateways_lead_to_it(server: FakeServer, cache: CallCache) -> None:
    server.respond = like_serper(TOO_MANY)
    tool = serper(server.url)
    searching = gateway(tool, cache=cache)
    with pytest.raises(ToolError):
        await search(searching, tool, "query")
    sent = len(server.received)
    with pytest.raises(ToolError, match="has accepted no request"):
        await search(searching.over([tool]), tool, "another query")
    with serving() as other:
        other.respond = like_serper(Reply(body=HIT))
        assert (await search(searching.over([serper(other.url)]), serper(other.url), "query")).hits
    assert len(server.received) == sent


@pytest.mark.parametrize(("late", "blamed"), [(Reply(status=401), ConfigError), (Reply(body=HIT), ToolError)])
async def test_whether_the_set_up_is_to_blame_for_a_refusal_depends_on_no_race(
    server: FakeServer, cache: CallCache, late: Reply, blamed: type[Exception]
) -> None:
    """The refusal of one search overtakes the answer to another."""
    slowly = replace(late, drip_s=0.005, drip_head=True)
    server.respond = lambda received: slowly if received.payload["q"] == "slow" else Reply(status=401)
    tool = serper(server.url)
    searching = gateway(tool, cache=cache)
    slow = asyncio.create_task(search(searching, tool, "slow"))
    while not server.received:  # noqa: ASYNC110 - the server is in another thread
        await asyncio.sleep(0.001)
    with pytest.raises(blamed, match="the key in SERPER_API_KEY was refused") as caught:
        await search(searching, tool, "quick")
    assert type(caught.value) is blamed
    await asyncio.gather(slow, return_exceptions=True)
