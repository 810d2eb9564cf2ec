"""Gateways to other tools that share the limits of one."""

from __future__ import annotations

import asyncio
import gc
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import PrivateAttr

from factloop.core.errors import BudgetExceeded
from factloop.tools.calls.answers import RunAnswers
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.search.base import SearchHit, SearchTool
from factloop.tools.search.gateway import SearchAnswer, SearchGateway


class Counting(SearchTool):
    """Answers with its own text, slowly, and counts how many calls are in it at once."""

    name: str = "counting"
    description: str = "Counts."
    text: str = "hit"
    keeps: bool = False
    _inside: int = PrivateAttr(default=0)
    _most: int = PrivateAttr(default=0)
    _asked: int = PrivateAttr(default=0)

    @property
    def identity(self) -> str:
        return "counting"

    @property
    def cacheable(self) -> bool:
        return self.keeps

    def search(self, query: str, limit: int) -> list[SearchHit]:
        raise NotImplementedError(query, limit)

    async def asearch(self, query: str, limit: int) -> list[SearchHit]:  # noqa: ARG002 - it has one answer
        self._asked += 1
        self._inside += 1
        self._most = max(self._most, self._inside)
        await asyncio.sleep(0.01)
        self._inside -= 1
        return [SearchHit(source="s", passage=self.text)]


@pytest.fixture
def base(tmp_path: Path) -> Iterator[SearchGateway]:
    cache = CallCache(tmp_path / "calls.sqlite")
    answers = RunAnswers(cache)
    retry, budget = RetryPolicy(base_s=0.001), Budget(max_usd=0.0015)
    yield SearchGateway([], results=3, answers=answers, retry=retry, timeout_s=5.0, rng=random.Random(0), budget=budget)
    cache.close()


async def search(searching: SearchGateway, query: str) -> SearchAnswer:
    return await searching.search(searching.tools[0], query, stage="search", meter=UsageMeter())


async def test_a_tool_has_one_pace_whichever_gateways_lead_to_it(base: SearchGateway) -> None:
    tool = Counting(concurrency_limit=3)
    await asyncio.gather(*(search(base.over([tool]), f"query {number}") for number in range(20)))
    assert (tool._asked, tool._most) == (20, 3)


async def test_tools_that_look_alike_keep_their_own_answers(base: SearchGateway) -> None:
    tools = [Counting(text=text) for text in ("one", "two", "three")]
    found = await asyncio.gather(*(search(base.over([tool]), "same query") for tool in tools))
    assert [item.hits[0].passage for item in found] == ["one", "two", "three"]


async def test_answers_worth_keeping_are_shared(base: SearchGateway) -> None:
    tool = Counting(keeps=True)
    first = await search(base.over([tool]), "query")
    assert await search(base.over([tool]), "query") == first
    assert tool._asked == 1


async def test_a_tool_that_is_gone_leaves_nothing_behind(base: SearchGateway) -> None:
    for number in range(3):
        await search(base.over([Counting(text=str(number))]), "query")
    gc.collect()
    assert base._servers == {}


async def test_the_budget_is_one(base: SearchGateway) -> None:
    tool = Counting(usd_per_query=0.001, keeps=True)  # and there are 0.0015
    await search(base.over([tool]), "one")
    with pytest.raises(BudgetExceeded):
        await search(base.over([tool]), "two")
