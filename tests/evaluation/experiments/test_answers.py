"""Answers are made once, and each who uses one is charged in full."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import ConfigError, ToolError
from factloop.evaluation.experiments.answers import Answers, paid_for, spent_on
from factloop.tools.calls.meter import CallCost, UsageMeter

COST = CallCost(prompt_tokens=10, completion_tokens=2, approximate=False, cost_usd=0.5)


@pytest.fixture
def answers(tmp_path: Path) -> Iterator[Answers]:
    opened = Answers(tmp_path / "answers.sqlite")
    yield opened
    opened.close()


class Server:
    """Counts what it is asked, and fails so many times first."""

    def __init__(self, failures: int = 0) -> None:
        self.asked, self._failures = 0, failures

    async def ask(self, account: UsageMeter) -> Any:
        self.asked += 1
        await asyncio.sleep(0)
        if self.asked <= self._failures:
            account.failed("judge", 0.25)
            raise ToolError("down", tool="server")
        account.called("judge", COST, 0.5)
        return {"said": "\ud83d yes"}


async def test_all_who_ask_at_once_or_later_get_one_answer_and_its_whole_cost(answers: Answers) -> None:
    server, meters = Server(), [UsageMeter() for _ in range(4)]
    found = await asyncio.gather(*(answers.once("k", server.ask, meter=meter) for meter in meters[:3]))
    found.append(await answers.once("k", server.ask, meter=meters[3]))
    assert server.asked == 1
    for answer, meter in zip(found, meters, strict=True):
        assert answer == found[0]
        for _ in range(2):
            meter.charge("k", answer.usage, stage="judge")
        usage = meter.snapshot(0.0)
        assert (usage.calls, usage.cache_hits, usage.prompt_tokens, usage.cost_usd) == (1, 1, 10, 0.5)
        assert usage.stages["judge"].wall_s == 0.5
    for paid in (paid_for([answers], 2.0), spent_on([answers], 2.0)):
        assert (paid.calls, paid.cost_usd, paid.wall_s) == (1, 0.5, 2.0)
    assert answers.paid_before == (1, 0.5)


async def test_a_failure_is_not_kept_and_reaches_all_who_wait(answers: Answers) -> None:
    server, meters = Server(failures=1), [UsageMeter(), UsageMeter()]
    failed = await asyncio.gather(
        *(answers.once("k", server.ask, meter=meter) for meter in meters), return_exceptions=True
    )
    assert [type(one) for one in failed] == [ToolError, ToolError]
    assert [meter.snapshot(0.0).failed_calls for meter in meters] == [1, 0]
    assert (await answers.once("k", server.ask, meter=meters[0])).value == {"said": "\ud83d yes"}
    assert server.asked == 2
    paid = paid_for([answers], 0.0)
    assert (paid.calls, paid.failed_calls) == (1, 1)


async def test_what_was_paid_stays_with_the_file(tmp_path: Path) -> None:
    path, server = tmp_path / "answers.sqlite", Server()
    for _ in range(2):
        answers = Answers(path)
        await answers.once("k", server.ask, meter=UsageMeter())
        assert paid_for([answers], 0.0).calls == 1
        answers.close()
    assert server.asked == 1
    assert spent_on([answers], 0.0).calls == 0


def test_another_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    path.write_text("not a database, but long enough to be looked at as one" * 10, encoding="utf-8")
    with pytest.raises(ConfigError, match="notes"):
        Answers(path)
    assert path.read_text(encoding="utf-8").startswith("not a database")
