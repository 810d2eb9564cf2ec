"""The graph's steps stay in its event loop: handing a function to a thread takes longer than most steps do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from factloop import FactChecker
from factloop.core.records import Plan

N_CLAIMS = 6
TEXT = " ".join(f"Town {n} has {n} wells." for n in range(1, N_CLAIMS + 1))


class CountingThreads(ThreadPoolExecutor):
    """Counts what is handed to it."""

    n_calls = 0

    def submit(self, call: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        self.n_calls += 1
        return super().submit(call, *arguments, **named)


@pytest.mark.parametrize("plan", ["paper", "fused"])
def test_only_the_split_of_a_response_goes_to_a_thread(tmp_path: Path, plan: Plan) -> None:
    (tmp_path / "towns.txt").write_text(TEXT, encoding="utf-8")
    threads = CountingThreads(2)

    async def check() -> int:
        asyncio.get_running_loop().set_default_executor(threads)
        checker = FactChecker(docs=tmp_path, cache=False, plan=plan)
        await checker.acheck("Town 1 has 1 well.")  # opens the documents
        before = threads.n_calls
        report = await checker.acheck(TEXT)
        await checker.aclose()
        assert len(report.claims) == N_CLAIMS
        return threads.n_calls - before

    assert asyncio.run(check()) == 1
