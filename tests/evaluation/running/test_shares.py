"""Limits of a run divided among workers: what they have together is what the run has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.core.errors import ConfigError
from factloop.evaluation.running.shares import add_paid, divide, is_limited
from factloop.setup.settings import CheckSettings


def test_shares_add_up() -> None:
    run = CheckSettings(concurrency=5, requests_per_second=3.0, max_calls=20, budget_usd=1.0)
    one, two = divide(run, 2, paid=(9, 0.5))
    # 20 - 9 = 11 calls are left, 6 and 5; 1.00 - 0.50 USD, 0.25 each.
    assert (one.concurrency, one.requests_per_second, one.max_calls, one.budget_usd) == (3, 1.5, 6, 0.25)
    assert (two.concurrency, two.requests_per_second, two.max_calls, two.budget_usd) == (2, 1.5, 5, 0.25)


def test_an_engine_whose_journal_counts_what_was_paid_has_its_share_left() -> None:
    (share,) = divide(CheckSettings(max_calls=20, budget_usd=1.0), 1, paid=(9, 0.5))
    kept = add_paid(share, paid=(9, 0.5))
    assert (kept.max_calls, kept.budget_usd) == (20, 1.0)


def test_no_limit_stays_none_and_all_else_stays_as_it_is() -> None:
    run = CheckSettings(concurrency=0, plan="paper", k=(3, 4))
    assert [share.model_dump() for share in divide(run, 2, paid=(9, 0.5))] == [run.model_dump()] * 2
    assert add_paid(run, paid=(9, 0.5)).max_calls is None
    assert not is_limited(run)
    assert is_limited(CheckSettings(max_calls=0))
    assert is_limited(CheckSettings(budget_usd=0.0))


def test_more_was_paid_than_may_be() -> None:
    shares = divide(CheckSettings(max_calls=5, budget_usd=0.1), 2, paid=(9, 0.5))
    assert [(share.max_calls, share.budget_usd) for share in shares] == [(0, 0.0)] * 2


def test_no_worker_is_left_without_a_call_as_none_would_be_no_bound() -> None:
    with pytest.raises(ConfigError, match=r"--workers 3: more than the calls in flight \(--concurrency 2\)"):
        divide(CheckSettings(concurrency=2), 3, paid=(0, 0.0))


@given(st.integers(1, 64), st.integers(64, 500), st.integers(0, 1000), st.integers(0, 1000))
def test_together_they_never_have_more(workers: int, concurrency: int, most: int, paid: int) -> None:
    shares = divide(CheckSettings(concurrency=concurrency, max_calls=most), workers, paid=(paid, 0.0))
    assert sum(share.concurrency for share in shares) == concurrency
    assert min(share.concurrency for share in shares) >= 1
    assert sum(share.max_calls or 0 for share in shares) == max(0, most - paid)
