from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from factloop.core.errors import ConfigError, ToolError
from factloop.tools.calls.answers import RunAnswers
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.search.base import SearchHit, SearchTool
from factloop.tools.search.gateway import SearchAnswer, SearchGateway

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


@pytest.mark.parametrize(
    "found", [[{"source": "s", "passage": "P"}], ("P",), 7], ids=["dictionaries", "texts", "number"]
)
async def test_a_tool_that_gives_something_else_than_hits_has_failed(cache: CallCache, found: Any) -> None:
    """A check goes on: its claims are unscored, and no `TypeError` takes the report with it."""
    with pytest.raises(ToolError, match="scripted: the search gave something else than a list of SearchHit"):
        await search(gateway(Odd(script=[], gives=found), cache=cache))


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


async def test_a_journal_holds_even_what_is_not_cacheable(tmp_path: Path) -> None:
    for answers in ((HITS,), ()):
        cache = CallCache(tmp_path / "journal.sqlite")
        found = await search(gateway(scripted(*answers, keeps=False), cache=cache, journal=True))
        assert found.hits == tuple(HITS[:3])
        cache.close()


async def test_free_searches_need_no_budget(cache: CallCache) -> None:
    for name in ("documents", "my-own"):
        assert (await search(gateway(scripted(HITS, name=name), cache=cache, budget=Budget(max_usd=0.0)))).hits


def test_tools_are_chosen_by_name_else_by_turn(cache: CallCache) -> None:
    web, documents = scripted(name="web"), scripted(name="documents")
    searching = gateway(web, documents, cache=cache)
    assert searching.in_turn("documents", 0) == (documents, web)
    assert searching.in_turn("web", 1) == (web, documents)
    for name in (None, "", "unknown"):
        assert [searching.in_turn(name, number)[0] for number in range(3)] == [web, documents, web]


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


async def test_a_user_s_tool_may_raise_anything(cache: CallCache) -> None:
    meter = UsageMeter()
    with pytest.raises(ToolError, match=r"scripted: the search failed \(ZeroDivisionError\)") as caught:
        await search(gateway(scripted(ZeroDivisionError("secret")), cache=cache), meter=meter)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert not caught.value.retryable
    assert meter.snapshot(0.0).failed_calls == 1
