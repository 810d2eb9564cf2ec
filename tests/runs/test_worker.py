"""A worker of a run on Ray, as an object of this process."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

import factloop
from factloop.runs.worker import Home, Worker
from factloop.settings import CheckSettings
from tests.runs.short_responses import short_items
from tests.simulator import MODEL, Simulator

WITHIN_S = 30.0


async def test_a_worker_that_is_closed_sends_nothing_more_and_leaves_nothing_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Simulator(llm_latency_s=0.2, search_latency_s=0.2) as sim:
        monkeypatch.setenv("FACTLOOP_CACHE_DIR", str(tmp_path / "cache"))
        for name in sim.environment:
            monkeypatch.setenv(name, "")  # set by the worker, and put back after the test
        share = CheckSettings(model=MODEL, base_url=sim.base_url, search=("serper",), concurrency=4)
        worker = Worker(share, None, Home("here", Path.cwd(), sim.environment, factloop.__version__))
        assert await worker.open() is None
        judging = [asyncio.create_task(worker.judge(item)) for item in short_items(sim.world, 12)]
        await until_searched(sim)
        await worker.close()
        await asyncio.sleep(0)
        assert all(task.cancelled() for task in judging)
        n_sent = n_requests(sim)
        await asyncio.sleep(0.5)  # longer than the calls that were under way
        assert n_requests(sim) == n_sent


async def until_searched(sim: Simulator) -> None:
    started = time.monotonic()
    while sim.stats().search.requests < 4:
        assert time.monotonic() - started < WITHIN_S
        await asyncio.sleep(0.01)


def n_requests(sim: Simulator) -> int:
    stats = sim.stats()
    return stats.model.requests + stats.search.requests
