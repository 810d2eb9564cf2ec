"""Search servers that are down, from the first request or later: each is waited for so long, and no longer."""

from __future__ import annotations

import asyncio
import random
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
from factloop.tools.search.serper import SerperSearch
from tests.tools.calls.virtual_time import run_in_virtual_time
from tests.tools.fake_server import FakeServer, Reply

HIT = b'{"organic": [{"link": "https://e.org", "title": "T", "snippet": "S"}]}'
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


@pytest.mark.parametrize("status", [401, 403])
async def test_a_wrong_key_is_seen_without_a_search(server: FakeServer, cache: CallCache, status: int) -> None:
    server.will(Reply(status=status, body=b"bad key key-of-serper"))
    with pytest.raises(ConfigError, match="the key in SERPER_API_KEY was refused: check the key") as caught:
        await gateway(serper(server.url), Shelf(), cache=cache).reach()
    assert "key-of-serper" not in str(caught.value)
    (received,) = server.received
    assert (received.method, received.path, received.payload) == ("POST", "/search", {})


async def test_one_that_is_slow_to_say_hello_may_still_answer(cache: CallCache) -> None:
    tool = SlowHello()
    searching = gateway(tool, cache=cache, patience_s=60.0)
    for _ in range(2):
        await searching.reach()
    assert (await search(searching, tool, "query")).hits
    assert tool.n_hellos == 1


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
