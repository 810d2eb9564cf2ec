"""A worker of a run on Ray, as an object of this process."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_shares_add_up() -> None:
    run = CheckSettings(concurrency=5, requests_per_second=3.0, max_calls=20, budget_usd=1.0)
    one, two = divide(run, 2, paid=(9, 0.5))
    # 20 - 9 = 11 calls are left, 6 and 5; 1.00 - 0.50 USD, 0.25 each.
    assert (one.concurrency, one.requests_per_second, one.max_calls, one.budget_usd) == (3, 1.5, 6, 0.25)
    assert (two.concurrency, two.requests_per_second, two.max_calls, two.budget_usd) == (2, 1.5, 5, 0.25)


@given(st.integers(1, 64), st.integers(64, 500), st.integers(0, 1000), st.integers(0, 1000))
def test_together_they_never_have_more(workers: int, concurrency: int, most: int, paid: int) -> None:
    shares = divide(CheckSettings(concurrency=concurrency, max_calls=most), workers, paid=(paid, 0.0))
    assert sum(share.concurrency for share in shares) == concurrency
    assert min(share.concurrency for share in shares) >= 1
    assert sum(share.max_calls or 0 for share in shares) == max(0, most - paid)
