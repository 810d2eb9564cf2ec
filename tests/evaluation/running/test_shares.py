"""Limits of a run divided among workers: what they have together is what the run has."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from factloop.evaluation.running.on_ray import divide
from factloop.setup.settings import CheckSettings


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
