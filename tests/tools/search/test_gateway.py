from __future__ import annotations

import asyncio
import gc
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field, SecretStr

from factloop.core.errors import BudgetExceeded, ConfigError, ToolError, ToolTimeout
from factloop.tools.calls.answers import RunAnswers
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.modes import REST_S
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.search.base import SearchHit, SearchTool
from factloop.tools.search.gateway import SearchAnswer, SearchGateway
from factloop.tools.search.serper import SerperSearch
from tests.tools.calls.virtual_time import in_virtual_time
from tests.tools.fake_server import FakeServer, Reply

HITS = [
    SearchHit(source=f"https://example.org/{n}", title=f"T{n}", passage=f"P{n}", published="1843") for n in range(5)
]
UNREACHABLE = ToolError("scripted: no connection", tool="scripted", retryable=True)
TWICE = RetryPolicy(attempts=2, base_s=0.001)
FOUND = b'{"organic": [{"link": "https://e.org", "title": "T", "snippet": "S"}]}'


class Scripted(SearchTool):
    """Returns the hits of its script, raises the errors in it, and raises when it runs out."""

    name: str = "scripted"
    description: str = "Searches a script."
    script: list[Any]
    asked: list[str] = Field(default_factory=list)
    keeps: bool = True
    local: bool = False
    hello: Exception | None = None
    n_hellos: int = 0
    takes_s: float = 0.0
    inside: int = 0
    most_inside: int = 0

    @property
    def identity(self) -> str:
        return "scripted"

    @property
    def cacheable(self) -> bool:
        return self.keeps

    @property
    def is_local(self) -> bool:
        return self.local

    async def areach(self) -> None:
        self.n_hellos += 1
        if self.hello is not None:
            raise self.hello

    def search(self, query: str, limit: int) -> list[SearchHit]:
        raise NotImplementedError(query, limit)

    async def asearch(self, query: str, limit: int) -> Any:  # noqa: ARG002 - its lines are as long as they are
        self.asked.append(query)
        if not self.script:
            raise AssertionError("the script has ended")
        line = self.script.pop(0)
        if isinstance(line, Exception):
            raise line
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        await asyncio.sleep(self.takes_s)
        self.inside -= 1
        return line


def scripted(*script: Any, **fields: Any) -> Scripted:
    return Scripted(script=list(script), **fields)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[CallCache]:
    opened = CallCache(tmp_path / "calls.sqlite")
    yield opened
    opened.close()


def gateway(*tools: SearchTool, cache: CallCache, journal: bool = False, **options: Any) -> SearchGateway:
    settings: dict[str, Any] = {"results": 3, "retry": RetryPolicy(base_s=0.001), "timeout_s": 5.0, **options}
    return SearchGateway(tools, answers=RunAnswers(cache, journal=journal), rng=random.Random(0), **settings)


async def search(searching: SearchGateway, query: str = "Ada", meter: UsageMeter | None = None) -> SearchAnswer:
    return await searching.search(searching.tools[0], query, stage="search", meter=meter or UsageMeter())


@pytest.mark.parametrize(
    "found", [[{"source": "s", "passage": "P"}], ("P",), 7], ids=["dictionaries", "texts", "number"]
)
async def test_a_tool_that_gives_something_else_than_hits_has_failed(cache: CallCache, found: Any) -> None:
    """Its claims are unscored, and no `TypeError` ends the check."""
    with pytest.raises(ToolError, match="scripted: the search must return a list of SearchHit"):
        await search(gateway(scripted(found), cache=cache))


async def test_a_user_s_tool_may_raise_anything(cache: CallCache) -> None:
    meter = UsageMeter()
    with pytest.raises(ToolError, match=r"scripted: the search failed \(ZeroDivisionError\)") as caught:
        await search(gateway(scripted(ZeroDivisionError("secret")), cache=cache), meter=meter)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert not caught.value.retryable
    assert meter.snapshot(0.0).failed_calls == 1


async def test_a_search_in_this_process_is_counted_and_not_made_again(cache: CallCache) -> None:
    """Without a server, a retry would fail again."""
    meter = UsageMeter()
    searching = gateway(tool := scripted(UNREACHABLE, HITS, local=True), cache=cache)
    with pytest.raises(ToolError):
        await search(searching, meter=meter)
    assert len((await search(searching, meter=meter)).hits) == 3
    usage = meter.snapshot(0.0)
    assert (usage.searches, usage.failed_calls, len(tool.asked)) == (1, 1, 2)


ANSWER = {"query": "q", "hits": [], "retrieved_at": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    "edited", [5, [], {}, {**ANSWER, "query": 5}, {**ANSWER, "hits": [5]}, {**ANSWER, "retrieved_at": None}]
)
async def test_kept_hits_that_somebody_edited_out_of_shape_are_a_config_error(cache: CallCache, edited: object) -> None:
    searching = gateway(tool := scripted(), cache=cache)
    cache.put(searching.key(tool, "Ada"), edited)
    with pytest.raises(ConfigError, match="is damaged"):
        await search(searching)


async def test_a_journal_holds_even_what_is_not_cacheable(tmp_path: Path) -> None:
    for answers in ((HITS,), ()):
        cache = CallCache(tmp_path / "journal.sqlite")
        found = await search(gateway(scripted(*answers, keeps=False), cache=cache, journal=True))
        assert found.hits == tuple(HITS[:3])
        cache.close()


def test_tools_are_chosen_by_name_else_by_turn(cache: CallCache) -> None:
    web, documents = scripted(name="web"), scripted(name="documents")
    searching = gateway(web, documents, cache=cache)
    assert searching.in_turn("documents", 0) == (documents, web)
    assert searching.in_turn("web", 1) == (web, documents)
    for name in (None, "", "unknown"):
        assert [searching.in_turn(name, number)[0] for number in range(3)] == [web, documents, web]


@pytest.mark.parametrize("status", [401, 403, 404, 429])
async def test_before_the_first_answer_the_set_up_is_to_blame(cache: CallCache, status: int) -> None:
    error = ToolError(f"scripted: status {status}", tool="scripted", status=status)
    with pytest.raises(ConfigError, match="check the API key"):
        await search(gateway(scripted(error, error), cache=cache, retry=TWICE))
    searching = gateway(scripted(HITS, error, error), cache=cache, retry=TWICE)
    await search(searching, "one")
    with pytest.raises(ToolError) as caught:
        await search(searching, "two")
    assert caught.value is error


def serper(server: FakeServer) -> SerperSearch:
    return SerperSearch(api_key=SecretStr("key-of-serper"), base_url=server.url)


@pytest.mark.parametrize(("late", "blamed"), [(Reply(status=401), ConfigError), (Reply(body=FOUND), ToolError)])
async def test_whether_the_set_up_is_to_blame_for_a_refusal_depends_on_no_race(
    server: FakeServer, cache: CallCache, late: Reply, blamed: type[Exception]
) -> None:
    """One search is refused before another is answered."""
    slowly = replace(late, drip_s=0.005, drip_head=True)
    server.respond = lambda received: slowly if received.payload["q"] == "slow" else Reply(status=401)
    searching = gateway(serper(server), cache=cache)
    slow = asyncio.create_task(search(searching, "slow"))
    while not server.received:  # noqa: ASYNC110 - the server is in another thread
        await asyncio.sleep(0.001)
    with pytest.raises(blamed, match="the key in SERPER_API_KEY was rejected") as caught:
        await search(searching, "quick")
    assert type(caught.value) is blamed
    await asyncio.gather(slow, return_exceptions=True)


@pytest.mark.parametrize("status", [401, 403])
async def test_a_wrong_key_is_seen_without_a_search(server: FakeServer, cache: CallCache, status: int) -> None:
    server.will(Reply(status=status, body=b"bad key key-of-serper"))
    with pytest.raises(ConfigError, match="the key in SERPER_API_KEY was rejected; check the API key") as caught:
        await gateway(serper(server), scripted(), cache=cache).reach()
    assert "key-of-serper" not in str(caught.value)
    (received,) = server.received
    assert (received.method, received.path, received.payload) == ("POST", "/search", {})


async def test_one_that_is_slow_to_say_hello_may_still_answer(cache: CallCache) -> None:
    tool = scripted(HITS, hello=ToolTimeout(tool="scripted", timeout_s=1.0))
    searching = gateway(tool, cache=cache)
    for _ in range(2):
        await searching.reach()
    assert (await search(searching)).hits
    assert tool.n_hellos == 1
    await gateway(cache=cache).reach()  # without tools there is nothing to reach


@in_virtual_time
async def test_a_server_that_was_not_there_is_looked_at_again_after_a_while(cache: CallCache) -> None:
    tool = scripted(hello=UNREACHABLE)
    searching = gateway(tool, cache=cache, retry=TWICE, patience_s=0.4)
    for _ in range(20):
        with pytest.raises(ToolError, match="no connection"):
            await searching.reach()
        await asyncio.sleep(10.0)
    assert 3 <= tool.n_hellos <= 10
    tool.hello = None
    await asyncio.sleep(REST_S)
    await searching.reach()


async def test_gateways_over_other_tools_share_pace_answers_and_budget(cache: CallCache) -> None:
    base = gateway(cache=cache, budget=Budget(max_usd=0.0015))
    slow = scripted(*[HITS] * 20, keeps=False, takes_s=0.01, concurrency_limit=3)
    await asyncio.gather(*(search(base.over([slow]), f"query {number}") for number in range(20)))
    assert (len(slow.asked), slow.most_inside) == (20, 3)
    kept = scripted(HITS)
    assert await search(base.over([kept])) == await search(base.over([kept]))
    priced = scripted(HITS, HITS, usd_per_query=0.001)
    await search(base.over([priced]), "one")
    with pytest.raises(BudgetExceeded):
        await search(base.over([priced]), "two")
    for name in ("documents", "my-own"):  # those that are free need none
        assert (await search(base.over([scripted(HITS, name=name)]), "three")).hits


async def test_tools_that_look_alike_keep_their_own_answers_and_leave_nothing_behind(cache: CallCache) -> None:
    base = gateway(cache=cache)
    found = [await search(base.over([scripted([hit], keeps=False)])) for hit in HITS]
    assert [one.hits for one in found] == [(hit,) for hit in HITS]
    gc.collect()
    assert base._servers == {}


USELESS = {
    "HTML": Reply(body=b"<html>Welcome", headers=(("Content-Type", "text/html"),)),
    "empty": Reply(body=b""),
    "no whole JSON": Reply(body=FOUND[:-9]),
    "broken off": Reply(body=FOUND[:-9], content_length=len(FOUND)),
    "does not look like": Reply(body=b'{"organic": 7}'),
    "pages without a text": Reply(body=b'{"organic": [{"link": "https://e.org", "title": "T"}]}'),
}


@pytest.mark.parametrize("reply", USELESS.values(), ids=USELESS)
async def test_an_answer_that_cannot_be_used_is_paid_for(server: FakeServer, cache: CallCache, reply: Reply) -> None:
    server.will(reply)
    meter, budget = UsageMeter(), Budget(max_usd=1.0)
    with pytest.raises(ToolError, match="serper: "):
        await search(gateway(serper(server), cache=cache, retry=TWICE, budget=budget), meter=meter)
    usage, n_sent = meter.snapshot(0.0), len(server.received)
    assert (usage.searches, usage.failed_calls) == (n_sent, n_sent)
    assert usage.cost_usd == pytest.approx(0.001 * n_sent)
    with pytest.raises(BudgetExceeded):
        async with budget.reserve(1.0005 - 0.001 * n_sent, calls=0):
            raise AssertionError("the budget has more left than was paid for")


@pytest.mark.parametrize("status", [400, 429, 500])
async def test_a_refusal_costs_nothing(server: FakeServer, cache: CallCache, status: int) -> None:
    server.will(Reply(status=status, body=FOUND))
    meter = UsageMeter()
    with pytest.raises(ToolError):
        await search(gateway(serper(server), cache=cache, retry=TWICE, patience_s=0.3), meter=meter)
    usage = meter.snapshot(0.0)
    assert (usage.searches, usage.failed_calls, usage.cost_usd) == (0, len(server.received), 0.0)
