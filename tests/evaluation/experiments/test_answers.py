from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from factloop.core.errors import BudgetExceeded, ToolError
from factloop.evaluation.experiments.answers import SharedAnswers, paid_for, spent_on
from factloop.tools.calls.answers import Value
from factloop.tools.calls.budget import Allowance
from factloop.tools.calls.meter import CallCost, UsageMeter
from tests.tools.calls.stage_calls import CallOfAStage

COST = CallCost(prompt_tokens=10, completion_tokens=2, approximate=False, cost_usd=0.5)


@pytest.fixture
def answers(tmp_path: Path) -> Iterator[SharedAnswers]:
    opened = SharedAnswers(tmp_path / "answers.sqlite")
    yield opened
    opened.close()


class Server:
    def __init__(self, failures: int = 0) -> None:
        self.asked, self._failures = 0, failures

    async def ask(self, account: UsageMeter) -> Value:
        self.asked += 1
        await asyncio.sleep(0)
        if self.asked <= self._failures:
            account.failed("judge", 0.25)
            raise ToolError("down", tool="server")
        account.called("judge", COST, 0.5)
        return {"said": "\ud83d yes"}


@dataclass(frozen=True)
class ServerCall(CallOfAStage):
    server: Server
    meter: UsageMeter = field(default_factory=UsageMeter)
    key: str = "k"

    async def make(self, meter: UsageMeter) -> Value:
        return await self.server.ask(meter)


class ReservingCall(ServerCall):
    """Reserves its cost from its account's budget, as calls to models do."""

    async def make(self, meter: UsageMeter) -> Value:
        async with meter.allowance.reserve(0.0):
            return await super().make(meter)


async def test_all_who_ask_at_once_or_later_get_one_answer_and_its_whole_cost(answers: SharedAnswers) -> None:
    server = Server()
    calls = [ServerCall(server) for _ in range(4)]
    found = await asyncio.gather(*(answers.once(call) for call in calls[:3]))
    found.append(await answers.once(calls[3]))
    assert server.asked == 1
    for call, answer in zip(calls, found, strict=True):
        assert answer == ({"said": "\ud83d yes"}, "call")
        assert await answers.once(call) == ({"said": "\ud83d yes"}, "cache")  # the same account, a second time
        usage = call.meter.snapshot(0.0)
        assert (usage.calls, usage.cache_hits, usage.prompt_tokens, usage.cost_usd) == (1, 1, 10, 0.5)
        assert usage.stages["judge"].wall_s == 0.5
    for paid in (paid_for([answers], 2.0), spent_on([answers], 2.0)):
        assert (paid.calls, paid.cost_usd, paid.wall_s) == (1, 0.5, 2.0)
    assert answers.paid_before == (1, 0.5)


async def test_what_is_asked_in_another_way_is_not_shared(answers: SharedAnswers) -> None:
    server, meter = Server(), UsageMeter()
    for way in ("tools", "no tools", "tools"):
        await answers.asked_with(way).once(ServerCall(server, meter))
    assert server.asked == 2
    assert paid_for([answers], 0.0).calls == spent_on([answers], 0.0).calls == 2


async def test_the_limits_of_a_check_hold_whether_it_pays_or_finds_what_another_paid_for(
    answers: SharedAnswers,
) -> None:
    server, first, second = Server(), UsageMeter(Allowance(max_calls=1)), UsageMeter(Allowance(max_calls=1))
    for meter in (first, second):
        for _ in range(2):  # the second time it has the answer for nothing
            await answers.once(ReservingCall(server, meter))
        with pytest.raises(BudgetExceeded, match="1 call"):
            await answers.once(ReservingCall(server, meter, key="l"))
        assert meter.snapshot(0.0).calls == 1
    await answers.once(ReservingCall(server, key="l"))
    with pytest.raises(BudgetExceeded):
        await answers.once(ReservingCall(server, second, key="l"))
    assert second.snapshot(0.0).calls == 1
    assert server.asked == 2


async def test_a_failure_is_not_kept_and_reaches_all_who_wait(answers: SharedAnswers) -> None:
    server = Server(failures=1)
    calls = [ServerCall(server), ServerCall(server)]
    failed = await asyncio.gather(*(answers.once(call) for call in calls), return_exceptions=True)
    assert [type(one) for one in failed] == [ToolError, ToolError]
    assert [call.meter.snapshot(0.0).failed_calls for call in calls] == [1, 0]
    assert (await answers.once(calls[0]))[0] == {"said": "\ud83d yes"}
    assert server.asked == 2
    paid = paid_for([answers], 0.0)
    assert (paid.calls, paid.failed_calls) == (1, 1)
