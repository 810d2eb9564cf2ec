"""A worker of a run on Ray, as an object of this process."""

from __future__ import annotations

from pathlib import Path

import pytest

import factloop
from factloop.core.records import UnscoredReason
from factloop.evaluation.running.on_ray import Home, Worker, divide
from factloop.evaluation.runs.items import RunItem
from factloop.evaluation.runs.records import JudgedResponse
from factloop.evaluation.runs.run import open_judge_with
from factloop.setup.settings import CheckSettings
from tests.evaluation.running.short_responses import short_items
from tests.simulator import MODEL, Simulator


@pytest.fixture
def share(sim: Simulator, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CheckSettings:
    monkeypatch.setenv("FACTLOOP_CACHE_DIR", str(tmp_path / "cache"))
    return CheckSettings(model=MODEL, base_url=sim.base_url, search=("serper",), concurrency=4)


def worker_of(share: CheckSettings) -> Worker[RunItem, JudgedResponse]:
    return Worker(open_judge_with, share, None, Home("here", Path.cwd(), {}, factloop.__version__))


async def test_a_limit_on_calls_is_kept_by_all_workers_together(sim: Simulator, share: CheckSettings) -> None:
    workers = [worker_of(one) for one in divide(CheckSettings.of(share, max_calls=7), 2, paid=(2, 0.0))]
    items = list(short_items(sim.world, 8))
    judged = [await workers[number % 2].judge(item) for number, item in enumerate(items)]
    reasons = [
        claim.judgement.unscored_reason
        for one in judged
        if isinstance(one, JudgedResponse)
        for claim in one.report.claims
    ]
    assert len([one for one in judged if isinstance(one, JudgedResponse)]) == len(items)
    assert UnscoredReason.BUDGET in reasons
    assert sim.stats().model.requests == 5
