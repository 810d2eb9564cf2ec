"""A worker of a run on Ray, as an object of this process."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import factloop
from factloop.core.errors import DataError
from factloop.core.records import UnscoredReason
from factloop.evaluation.datasets.own_documents import OwnDocument
from factloop.evaluation.running.shares import divide
from factloop.evaluation.running.worker import Home, Worker, Wrong
from factloop.evaluation.runs.items import RunItem
from factloop.evaluation.runs.judge import open_judge_with
from factloop.evaluation.runs.records import JudgedResponse
from factloop.setup.settings import CheckSettings
from tests.evaluation.running.short_responses import short_items
from tests.simulator import MODEL, Simulator


@pytest.fixture
def share(sim: Simulator, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CheckSettings:
    monkeypatch.setenv("FACTLOOP_CACHE_DIR", str(tmp_path / "cache"))
    return CheckSettings(model=MODEL, base_url=sim.base_url, search=("serper",), concurrency=4)


def worker_of(share: CheckSettings) -> Worker[RunItem, JudgedResponse]:
    return Worker(open_judge_with, share, None, Home("here", Path.cwd(), {}, factloop.__version__))


async def test_a_worker_that_is_closed_sends_nothing_more_and_leaves_nothing_under_way(
    sim: Simulator, share: CheckSettings
) -> None:
    sim.set(llm_latency_s=0.2, search_latency_s=0.2)
    worker = worker_of(share)
    assert await worker.open() is None
    judging = [asyncio.create_task(worker.judge(item)) for item in short_items(sim.world, 12)]
    await until_searched(sim)
    await worker.close()
    await asyncio.sleep(0.1)  # what was on its way to the server has come there
    assert all(task.done() for task in judging)
    assert any(task.cancelled() for task in judging)  # on busy cores some may have ended before
    n_sent = n_requests(sim)
    await asyncio.sleep(0.5)  # longer than the calls that were under way
    assert n_requests(sim) == n_sent


async def test_a_limit_on_calls_is_kept_by_all_workers_together(sim: Simulator, share: CheckSettings) -> None:
    workers = [worker_of(one) for one in divide(CheckSettings.of(share, max_calls=7), 2, paid=(2, 0.0))]
    items = list(short_items(sim.world, 8))
    judged = [await workers[number % 2].judge(item) for number, item in enumerate(items)]
    for worker in workers:
        await worker.close()
    reasons = [
        claim.judgement.unscored_reason
        for one in judged
        if isinstance(one, JudgedResponse)
        for claim in one.report.claims
    ]
    assert len([one for one in judged if isinstance(one, JudgedResponse)]) == len(items)
    assert UnscoredReason.BUDGET in reasons
    assert sim.stats().model.requests == 5


async def test_a_wrong_set_up_is_told_as_what_it_is(share: CheckSettings) -> None:
    worker = worker_of(CheckSettings.of(share, docs=("nowhere*.txt",)))
    for answer in (await worker.open(), await worker.judge(RunItem("r", "s", "p", None, "Ada was born."))):
        assert isinstance(answer, Wrong)
        error = answer.raised()
        assert isinstance(error, DataError)
        assert "nowhere*.txt" in str(error)


async def test_a_worker_judges_by_the_documents_of_a_response_alone(share: CheckSettings) -> None:
    worker = worker_of(CheckSettings.of(share, model=None, base_url=None, search=()))
    documents = (OwnDocument(text="Ada was born in London."),)
    judged = await worker.judge(RunItem("r", "s", "p", None, "Ada was born in London.", documents=documents))
    await worker.close()
    assert isinstance(judged, JudgedResponse)
    assert judged.report.counts.supported == 1


async def until_searched(sim: Simulator) -> None:
    while sim.stats().search.requests < 4:  # noqa: ASYNC110 -- what a server counts is not an event of ours
        await asyncio.sleep(0.01)


def n_requests(sim: Simulator) -> int:
    stats = sim.stats()
    return stats.model.requests + stats.search.requests
