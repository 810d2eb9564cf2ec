from __future__ import annotations

import asyncio
import random
import sqlite3
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field, SecretStr

from factloop.core.errors import BudgetExceeded, ConfigError, FactloopError, ToolError, ToolTimeout
from factloop.tools.calls.answers import RunAnswers
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.search.base import SearchHit, SearchTool
from factloop.tools.search.gateway import KEEP_S, SearchAnswer, SearchGateway
from factloop.tools.search.serper import SerperSearch
from tests.tools.fake_server import FakeServer, Reply

HITS = [
    SearchHit(source=f"https://example.org/{n}", title=f"T{n}", passage=f"P{n}", published="1843") for n in range(5)
]
UNREACHABLE = ToolError("scripted: no connection", tool="scripted", retryable=True)


def refused(status: int, *, retryable: bool = False, retry_after_s: float | None = None) -> ToolError:
    return ToolError(
        f"scripted: status {status}", tool="scripted", status=status, retry_after_s=retry_after_s, retryable=retryable
    )


class ScriptedSearch(SearchTool):
    """Answers by its script: hits, an error to raise, or seconds to hang; when it has ended, that is an error."""

    name: str = "scripted"
    description: str = "Searches a script."
    script: list[Any]
    asked: list[str] = Field(default_factory=list)
    version: str = "1"
    keeps: bool = True
    delay_s: float = 0.0
    in_flight: int = 0
    most_in_flight: int = 0

    @property
    def identity(self) -> str:
        return f"scripted {self.version}"

    @property
    def cacheable(self) -> bool:
        return self.keeps

    def search(self, query: str, limit: int) -> list[SearchHit]:
        raise NotImplementedError(query, limit)

    async def asearch(self, query: str, limit: int) -> list[SearchHit]:
        self.asked.append(query)
        if not self.script:
            raise AssertionError("the script has ended")
        line = self.script.pop(0)
        if isinstance(line, Exception):
            raise line
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        await asyncio.sleep(line if isinstance(line, float) else self.delay_s)
        self.in_flight -= 1
        return HITS[:limit] if isinstance(line, float) else line


def scripted(*script: Any, **fields: Any) -> ScriptedSearch:
    return ScriptedSearch(script=list(script), **fields)


class SlowThread(SearchTool):
    """A search that blocks its thread."""

    name: str = "slow"
    description: str = "Takes its time."

    @property
    def identity(self) -> str:
        return "slow"

    def search(self, query: str, limit: int) -> list[SearchHit]:
        time.sleep(0.4)
        return [SearchHit(source=query, passage=str(limit))]


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[CallCache]:
    opened = CallCache(tmp_path / "calls.sqlite")
    yield opened
    opened.close()


class Odd(ScriptedSearch):
    """Gives whatever it is told to give."""

    gives: Any

    async def asearch(self, query: str, limit: int) -> Any:  # noqa: ARG002 - of the base class
        return self.gives


def gateway(*tools: SearchTool, cache: CallCache, journal: bool = False, **options: Any) -> SearchGateway:
    settings: dict[str, Any] = {
        "results": 3,
        "retry": RetryPolicy(base_s=0.001),
        "timeout_s": 5.0,
        "rng": random.Random(0),
        **options,
    }
    return SearchGateway(tools, answers=RunAnswers(cache, journal=journal), **settings)


async def search(searching: SearchGateway, query: str = "Ada", meter: UsageMeter | None = None) -> SearchAnswer:
    tool = searching.tools[0]
    return await searching.search(tool, query, stage="search", meter=meter or UsageMeter())


async def test_hits_come_with_everything_they_had(cache: CallCache) -> None:
    found = await search(gateway(scripted(HITS), cache=cache), "  Ada \n Lovelace ")
    assert found.query == "Ada Lovelace"
    assert found.hits == tuple(HITS[:3])  # never more than asked for
    assert abs((datetime.now(UTC) - found.retrieved_at).total_seconds()) < 5.0


@pytest.mark.parametrize(
    "found", [[{"source": "s", "passage": "P"}], ("P",), 7], ids=["dictionaries", "texts", "number"]
)
async def test_a_tool_that_gives_something_else_than_hits_has_failed(cache: CallCache, found: Any) -> None:
    """A check goes on: its claims are unscored, and no `TypeError` takes the report with it."""
    with pytest.raises(ToolError, match="scripted: the search gave something else than a list of SearchHit"):
        await search(gateway(Odd(script=[], gives=found), cache=cache))


async def test_identical_queries_are_asked_once(cache: CallCache) -> None:
    tool, meter = scripted(HITS, delay_s=0.05), UsageMeter()
    searching = gateway(tool, cache=cache)
    everything = await asyncio.gather(*(search(searching, query, meter) for query in ["Ada", " Ada "] * 5))
    assert len({found.hits for found in everything}) == 1
    assert await search(searching, "Ada", meter) == everything[0]
    usage = meter.snapshot(0.0)
    assert (tool.asked, usage.searches, usage.cache_hits) == (["Ada"], 1, 10)


async def test_another_query_tool_version_or_number_of_results_is_another_search(cache: CallCache) -> None:
    tool = scripted(HITS, HITS)
    await search(gateway(tool, cache=cache), "Ada")
    await search(gateway(tool, cache=cache), "Babbage")
    await search(gateway(scripted(HITS, version="2"), cache=cache), "Ada")
    await search(gateway(scripted(HITS, name="other"), cache=cache), "Ada")
    assert len((await search(gateway(scripted(HITS), cache=cache, results=5), "Ada")).hits) == 5


async def test_nothing_found_is_an_answer_and_kept(cache: CallCache) -> None:
    searching = gateway(scripted([]), cache=cache)
    assert [(await search(searching)).hits, (await search(searching)).hits] == [(), ()]


class LocalSearch(ScriptedSearch):
    """A script that stands for documents in this process."""

    @property
    def is_local(self) -> bool:
        return True


async def test_a_search_in_this_process_is_counted_and_not_made_again(cache: CallCache) -> None:
    """What fails without a server fails again: a retry would only take time."""
    tool, meter = LocalSearch(script=[UNREACHABLE, HITS]), UsageMeter()
    searching = gateway(tool, cache=cache)
    with pytest.raises(ToolError):
        await searching.search(tool, "Ada", stage="search", meter=meter)
    assert len((await searching.search(tool, "Ada", stage="search", meter=meter)).hits) == 3
    usage = meter.snapshot(0.0)
    assert (usage.searches, usage.failed_calls, len(tool.asked)) == (1, 1, 2)


async def test_what_is_not_cacheable_is_asked_once_a_run(cache: CallCache) -> None:
    tool = scripted(HITS, HITS, keeps=False)
    for _ in range(2):
        searching = gateway(tool, cache=cache)
        await search(searching)
        await search(searching)
    assert len(tool.asked) == 2


async def test_a_journal_holds_even_what_is_not_cacheable(tmp_path: Path) -> None:
    for answers in ((HITS,), ()):
        cache = CallCache(tmp_path / "journal.sqlite")
        found = await search(gateway(scripted(*answers, keeps=False), cache=cache, journal=True))
        assert found.hits == tuple(HITS[:3])
        cache.close()


def age(path: Path, seconds: float) -> None:
    other = sqlite3.connect(path)
    other.execute("UPDATE answers SET written = written - ?", (seconds,))
    other.commit()
    other.close()


async def test_kept_answers_age_but_not_within_a_run(cache: CallCache, tmp_path: Path) -> None:
    await search(gateway(scripted(HITS), cache=cache))
    age(tmp_path / "calls.sqlite", KEEP_S - 60.0)
    await search(gateway(scripted(), cache=cache))
    age(tmp_path / "calls.sqlite", 120.0)
    await search(gateway(scripted(), cache=cache, journal=True))
    assert (await search(gateway(scripted([]), cache=cache))).hits == ()


async def test_a_journal_counts_earlier_searches_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    first = CallCache(path)
    await search(gateway(scripted(HITS, usd_per_query=0.001), cache=first, journal=True))
    first.close()
    resumed, meter = CallCache(path), UsageMeter()
    searching = gateway(scripted(usd_per_query=0.001), cache=resumed, journal=True)
    for _ in range(3):
        await search(searching, meter=meter)
    resumed.close()
    usage = meter.snapshot(0.0)
    assert (usage.searches, usage.cache_hits, usage.cost_usd) == (1, 2, 0.001)


async def test_costs_where_the_price_is_known(cache: CallCache) -> None:
    meter = UsageMeter()
    await search(gateway(scripted(HITS, usd_per_query=0.001), cache=cache), meter=meter)
    assert meter.snapshot(0.0).cost_usd == 0.001
    await search(gateway(scripted(HITS, name="my-own"), cache=cache), meter=meter)
    assert meter.snapshot(0.0).cost_usd is None


async def test_searches_spend_the_budget_and_never_more(cache: CallCache) -> None:
    # A search by Serper costs 0.001 dollars; the limit on calls is one on model calls.
    tool = scripted(*[HITS] * 3, usd_per_query=0.001, delay_s=0.01)
    searching = gateway(tool, cache=cache, budget=Budget(max_calls=0, max_usd=0.0035))
    outcomes = await asyncio.gather(*(search(searching, str(number)) for number in range(9)), return_exceptions=True)
    assert sum(isinstance(outcome, SearchAnswer) for outcome in outcomes) == 3
    assert sum(isinstance(outcome, BudgetExceeded) for outcome in outcomes) == 6


async def test_a_search_that_was_sent_and_given_up_is_paid_for(cache: CallCache) -> None:
    meter, tool = UsageMeter(), scripted(3600.0, usd_per_query=0.001)
    retry = RetryPolicy(timeout_attempts=1)
    searching = gateway(tool, cache=cache, budget=Budget(max_usd=0.0015), timeout_s=0.05, retry=retry)
    with pytest.raises(ToolTimeout):
        await search(searching, "one", meter)
    with pytest.raises(BudgetExceeded):
        await search(searching, "two", meter)
    usage = meter.snapshot(0.0)
    assert (usage.searches, usage.failed_calls, usage.cost_usd) == (0, 1, 0.001)


async def test_free_searches_need_no_budget(cache: CallCache) -> None:
    for name in ("documents", "my-own"):
        assert (await search(gateway(scripted(HITS, name=name), cache=cache, budget=Budget(max_usd=0.0)))).hits


async def test_searches_of_an_earlier_attempt_count(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    first = CallCache(path)
    await search(gateway(scripted(HITS, usd_per_query=0.001), cache=first, journal=True))
    first.close()
    resumed = CallCache(path)
    budget = Budget(max_usd=0.001)
    budget.note_earlier(*resumed.paid())
    searching = gateway(scripted(usd_per_query=0.001), cache=resumed, journal=True, budget=budget)
    await search(searching)
    with pytest.raises(BudgetExceeded):
        await search(searching, "something new")
    resumed.close()


def test_tools_are_chosen_by_name_else_by_turn(cache: CallCache) -> None:
    web, documents = scripted(name="web"), scripted(name="documents")
    searching = gateway(web, documents, cache=cache)
    assert searching.in_turn("documents", 0) == (documents, web)
    assert searching.in_turn("web", 1) == (web, documents)
    for name in (None, "", "unknown"):
        assert [searching.in_turn(name, number)[0] for number in range(3)] == [web, documents, web]


async def test_errors_are_retried_and_counted(cache: CallCache) -> None:
    meter = UsageMeter()
    tool = scripted(refused(500, retryable=True), UNREACHABLE, refused(429, retryable=True, retry_after_s=0.01), HITS)
    assert (await search(gateway(tool, cache=cache), meter=meter)).hits
    usage = meter.snapshot(0.0)
    assert (usage.searches, usage.failed_calls) == (1, 3)


async def test_a_refusal_for_rate_pauses_all_queries_of_that_tool_alone(cache: CallCache, slept: list[float]) -> None:
    busy, other = scripted(refused(429, retryable=True, retry_after_s=0.5), HITS, HITS), scripted(HITS, name="other")
    searching, meter = gateway(busy, other, cache=cache), UsageMeter()
    first = asyncio.create_task(search(searching, "one"))
    while not pauses(slept):  # noqa: ASYNC110 -- its pause is not an event of ours
        await asyncio.sleep(0.01)
    n_pauses = len(pauses(slept))
    await searching.search(other, "two", stage="search", meter=meter)
    assert len(pauses(slept)) == n_pauses
    await search(searching, "two")
    assert len(pauses(slept)) > n_pauses
    await first


def pauses(slept: list[float]) -> list[float]:
    return [seconds for seconds in slept if seconds > 0.1]


async def test_a_tool_that_hangs_is_left_within_the_timeout_and_asked_again(cache: CallCache) -> None:
    meter = UsageMeter()
    found = await search(gateway(scripted(3600.0, HITS), cache=cache, timeout_s=0.1), meter=meter)
    assert found.hits
    assert meter.snapshot(0.0).failed_calls == 1


async def test_a_tool_that_blocks_its_thread_is_left_too(cache: CallCache) -> None:
    policy = RetryPolicy(base_s=0.001, timeout_attempts=1)
    with pytest.raises(ToolTimeout, match=r"slow: no answer within 0\.05 s"):
        await search(gateway(SlowThread(), cache=cache, timeout_s=0.05, retry=policy))


async def test_concurrency_is_that_of_the_tool(cache: CallCache) -> None:
    tool = scripted(*[HITS] * 6, concurrency_limit=2, delay_s=0.05)
    searching = gateway(tool, cache=cache)
    await asyncio.gather(*(search(searching, str(number)) for number in range(6)))
    assert tool.most_in_flight == 2


@pytest.mark.parametrize("error", [refused(401), refused(403), refused(404), refused(429)])
async def test_before_the_first_answer_the_set_up_is_to_blame(cache: CallCache, error: ToolError) -> None:
    policy = RetryPolicy(attempts=2, base_s=0.001)
    with pytest.raises(ConfigError, match="check the key"):
        await search(gateway(scripted(error, error), cache=cache, retry=policy))
    searching = gateway(scripted(HITS, error, error), cache=cache, retry=policy)
    await search(searching, "one")
    with pytest.raises(ToolError) as caught:
        await search(searching, "two")
    assert caught.value is error


async def test_a_server_that_is_not_there_is_no_wrong_set_up(cache: CallCache) -> None:
    with pytest.raises(ToolError, match="no connection") as caught:
        await search(gateway(scripted(*[UNREACHABLE] * 2), cache=cache, retry=RetryPolicy(attempts=2, base_s=0.001)))
    assert caught.value is UNREACHABLE


async def test_an_error_keeps_its_own_cause(cache: CallCache) -> None:
    error = refused(400)
    error.__cause__ = OSError("the cause")
    with pytest.raises(ToolError) as caught:
        await search(gateway(scripted(error), cache=cache))
    assert isinstance(caught.value.__cause__, OSError)


async def test_an_error_is_not_kept(cache: CallCache) -> None:
    searching = gateway(scripted(refused(400), HITS), cache=cache)
    with pytest.raises(ToolError):
        await search(searching)
    assert (await search(searching)).hits


async def test_a_user_s_tool_may_raise_anything(cache: CallCache) -> None:
    meter = UsageMeter()
    with pytest.raises(ToolError, match=r"scripted: the search failed \(ZeroDivisionError\)") as caught:
        await search(gateway(scripted(ZeroDivisionError("secret")), cache=cache), meter=meter)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert not caught.value.retryable
    assert meter.snapshot(0.0).failed_calls == 1


async def test_odd_queries_are_asked_and_kept(cache: CallCache) -> None:
    for query in ("", "\x00", "\ud800", "\u202e", "x" * 1_000_000, "'; DROP TABLE answers; --"):
        searching = gateway(scripted(HITS), cache=cache)
        found = [await search(searching, query), await search(searching, query)]
        assert found[0] == found[1]
        assert found[0].query == " ".join(query.split())


async def test_with_a_real_client(server: FakeServer, cache: CallCache) -> None:
    page = b'{"organic": [{"link": "https://e.org", "title": "T", "snippet": "S"}]}'
    server.will(Reply(status=500), Reply(body=b"{"), Reply(body=page))
    tool = SerperSearch(api_key=SecretStr("key-of-serper"), base_url=server.url)
    found = await search(gateway(tool, cache=cache))
    assert [(hit.source, hit.passage) for hit in found.hits] == [("https://e.org", "S")]
    assert len(server.received) == 3


async def test_a_wrong_key_is_a_wrong_set_up_and_not_shown(server: FakeServer, cache: CallCache) -> None:
    server.will(Reply(status=403, body=b"bad key key-of-serper"))
    tool = SerperSearch(api_key=SecretStr("key-of-serper"), base_url=server.url)
    with pytest.raises(FactloopError) as caught:
        await search(gateway(tool, cache=cache))
    assert isinstance(caught.value, ConfigError)
    assert "key-of-serper" not in str(caught.value)
