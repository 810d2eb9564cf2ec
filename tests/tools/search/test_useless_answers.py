"""Answers that a provider charges for, and that are of no use."""

from __future__ import annotations

import random
from typing import Any

import pytest
from pydantic import SecretStr

from factloop.core.errors import BudgetExceeded, ToolError
from factloop.tools.calls.answers import RunAnswers
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.cache import MemoryAnswers
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.search.gateway import SearchGateway
from factloop.tools.search.serper import SerperSearch
from tests.tools.fake_server import FakeServer, Reply

HTML = Reply(body=b"<html>Welcome", headers=(("Content-Type", "text/html"),))
FOUND = b'{"organic": [{"link": "https://e.org", "title": "T", "snippet": "S"}]}'
USELESS = {
    "HTML": HTML,
    "empty": Reply(body=b""),
    "no whole JSON": Reply(body=FOUND[:-9]),
    "broken off": Reply(body=FOUND[:-9], content_length=len(FOUND)),
    "another shape": Reply(body=b'{"organic": 7}'),
    "pages without a text": Reply(body=b'{"organic": [{"link": "https://e.org", "title": "T"}]}'),
}


async def search(server: FakeServer, meter: UsageMeter, attempts: int = 2, **options: Any) -> None:
    tool = SerperSearch(api_key=SecretStr("key-of-serper"), base_url=server.url)
    searching = SearchGateway(
        (tool,),
        results=3,
        answers=RunAnswers(MemoryAnswers()),
        retry=RetryPolicy(attempts=attempts, base_s=0.001),
        timeout_s=5.0,
        rng=random.Random(0),
        **options,
    )
    await searching.search(tool, "Ada", stage="search", meter=meter)


@pytest.mark.parametrize("reply", USELESS.values(), ids=USELESS)
async def test_an_answer_that_cannot_be_used_is_paid_for(server: FakeServer, reply: Reply) -> None:
    server.will(reply)
    meter, budget = UsageMeter(), Budget(max_usd=1.0)
    with pytest.raises(ToolError, match="serper: "):
        await search(server, meter, budget=budget)
    usage, n_sent = meter.snapshot(0.0), len(server.received)
    assert (usage.searches, usage.failed_calls) == (n_sent, n_sent)
    assert usage.cost_usd == pytest.approx(0.001 * n_sent)
    with pytest.raises(BudgetExceeded):
        async with budget.reserve(1.0005 - 0.001 * n_sent, calls=0):
            raise AssertionError("the budget has more left than was paid for")


async def test_a_budget_ends_a_search_whose_answers_are_of_no_use(server: FakeServer) -> None:
    server.will(USELESS["no whole JSON"])
    meter = UsageMeter()
    with pytest.raises(BudgetExceeded):
        await search(server, meter, attempts=5, budget=Budget(max_usd=0.003))
    assert (len(server.received), meter.snapshot(0.0).searches) == (3, 3)


@pytest.mark.parametrize("status", [400, 429, 500])
async def test_a_refusal_costs_nothing(server: FakeServer, status: int) -> None:
    server.will(Reply(status=status, body=FOUND))
    meter = UsageMeter()
    with pytest.raises(ToolError):
        await search(server, meter, patience_s=0.3)
    usage = meter.snapshot(0.0)
    assert (usage.searches, usage.failed_calls, usage.cost_usd) == (0, len(server.received), 0.0)
