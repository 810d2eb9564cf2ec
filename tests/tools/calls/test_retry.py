from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from itertools import pairwise

import pytest

from factloop.core.errors import ConfigError, FactloopError, ModelOutputError, ToolError, ToolTimeout
from factloop.tools.calls.retry import RetryPolicy
from tests.tools.calls.virtual_time import in_virtual_time, run_in_virtual_time


def down(status: int | None = 500, retry_after_s: float | None = None) -> ToolError:
    return ToolError("down", tool="model", status=status, retry_after_s=retry_after_s, retryable=True)


LATE = ToolTimeout(tool="model", timeout_s=60.0)
BAD = ToolError("bad request", tool="model", status=400)


def attempts(
    policy: RetryPolicy, failures: Sequence[Exception], seed: int = 0
) -> tuple[list[float], BaseException | None]:
    """The time of each attempt, and the final error; after `failures` the call succeeds."""

    async def run() -> tuple[list[float], BaseException | None]:
        loop, made, left = asyncio.get_running_loop(), list[float](), list(failures)

        async def call() -> str:
            made.append(loop.time())
            if left:
                raise left.pop(0)
            return "done"

        try:
            assert await policy.run(call, random.Random(seed)) == "done"
        except FactloopError as error:
            return made, error
        return made, None

    return run_in_virtual_time(run())


def delays(policy: RetryPolicy, *failures: Exception, seed: int = 0) -> list[float]:
    return [later - earlier for earlier, later in pairwise(attempts(policy, failures, seed)[0])]


@pytest.mark.parametrize(
    ("policy", "failures", "n_made"),
    [
        (RetryPolicy(), [down()] * 4, 5),
        *((RetryPolicy(attempts=most), [down(500 + number) for number in range(9)], most) for most in (1, 2, 3)),
        *((RetryPolicy(timeout_attempts=most), [LATE] * 9, most) for most in (1, 2)),
        (RetryPolicy(attempts=3, timeout_attempts=3), [down(), LATE, down(), down()], 3),
        (RetryPolicy(), [down(), BAD, down()], 2),
        (RetryPolicy(), [ConfigError("no key")], 1),
        (RetryPolicy(), [BAD], 1),
        (RetryPolicy(), [ModelOutputError("no JSON", schema="Rating", reply="")], 1),
        (RetryPolicy(attempts=2, patience_s=1_000.0), [down(429, retry_after_s=1.0)] * 40, 41),  # pacing, no failure
        (RetryPolicy(patience_s=10.0), [down(429, retry_after_s=3.0)] * 40, 4),  # a fourth wait of 3 s would pass 10 s
        (RetryPolicy(patience_s=10.0), [down(429, retry_after_s=9.0)] * 2, 2),
        *((RetryPolicy(), [down(status, retry_after_s=86_400.0)] * 2, 1) for status in (429, 503)),
    ],
)
def test_a_call_is_made_until_it_succeeds_or_the_policy_is_used_up(
    policy: RetryPolicy, failures: list[Exception], n_made: int
) -> None:
    made, error = attempts(policy, failures)
    assert len(made) == n_made
    assert error is (failures[n_made - 1] if n_made <= len(failures) else None)


def test_a_stranger_is_raised_at_once() -> None:
    with pytest.raises(ZeroDivisionError):
        attempts(RetryPolicy(), [ZeroDivisionError()])


def test_back_off_doubles_between_half_and_the_whole_of_its_bound() -> None:
    for seed in range(20):
        waited = delays(RetryPolicy(attempts=7, base_s=1.0, longest_s=8.0), *[down()] * 6, seed=seed)
        for delay, bound in zip(waited, [1.0, 2.0, 4.0, 8.0, 8.0, 8.0], strict=True):
            assert bound / 2 <= delay <= bound


def test_the_jitter_comes_from_the_generator_given() -> None:
    assert delays(RetryPolicy(), down(), seed=1) == delays(RetryPolicy(), down(), seed=1)
    assert delays(RetryPolicy(), down(), seed=1) != delays(RetryPolicy(), down(), seed=2)


@pytest.mark.parametrize(
    ("status", "asked_s", "most_s"), [(429, 30.0, 33.0), (503, 30.0, 33.0), (429, 0.0, 0.1)]
)  # a tenth of jitter on top, of the back-off of 1 s at least
def test_a_delay_that_the_server_asks_for_is_kept(status: int, asked_s: float, most_s: float) -> None:
    (delay,) = delays(RetryPolicy(base_s=1.0), down(status, retry_after_s=asked_s))
    assert asked_s <= delay <= most_s


@in_virtual_time
async def test_cancellation_is_not_retried() -> None:
    made = 0

    async def call() -> None:
        nonlocal made
        made += 1
        await asyncio.sleep(10.0)

    task = asyncio.create_task(RetryPolicy().run(call, random.Random(0)))
    await asyncio.sleep(1.0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert made == 1
