"""Judges the responses of a run in this process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from pathlib import Path

from factloop.checking.checker import FactChecker
from factloop.evaluation.runs.items import RunItem
from factloop.evaluation.runs.judge import open_judge
from factloop.evaluation.runs.records import JudgedResponse
from factloop.tools.calls.together import as_they_come

AT_ONCE = 32
"""Responses in work at a time: enough to keep 64 calls under way, few enough to hold in memory."""


async def judge_here(
    checker: FactChecker, items: Iterable[RunItem], *, journal: Path | None, at_once: int = AT_ONCE
) -> AsyncGenerator[JudgedResponse, None]:
    """The judged responses as they come; `items` is read no further than `at_once` ahead of them.

    Raises ConfigError, DataError. Whoever stops before the end closes it (`contextlib.aclosing`).
    """
    async with (
        open_judge(checker, journal=journal) as judge,
        aclosing(as_they_come(items, judge, at_once=at_once)) as judging,
    ):
        async for judged in judging:
            yield judged
