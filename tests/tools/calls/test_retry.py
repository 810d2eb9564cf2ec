from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from itertools import pairwise

import pytest

from factloop.core.errors import ConfigError, FactloopError, ModelOutputError, ToolError, ToolTimeout
from factloop.tools.calls.retry import RetryPolicy
from tests.tools.calls.virtual_time import run_in_virtual_time


def down(status: int | None = 500, retry_after_s: float | None = None) -> ToolError:
    return ToolError("down", tool="model", status=status, retry_after_s=retry_after_s, retryable=True)


def attempts(
    policy: RetryPolicy, failures: Sequence[Exception], seed: int = 0
) -> tuple[list[float], BaseException | None]:
    """When each attempt was made, and the error in the end; after `failures` the call succeeds."""

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


def delays(made: Sequence[float]) -> list[float]:
    return [later - earlier for earlier, later in pairwise(made)]


def test_a_call_that_fails_is_made_again_until_it_succeeds() -> None:
    made, error = attempts(RetryPolicy(), [down()] * 4)
    assert (len(made), error) == (5, None)


@pytest.mark.parametrize("n_attempts", [1, 2, 3])
def test_the_first_failure_counts_among_the_attempts(n_attempts: int) -> None:
    made, error = attempts(RetryPolicy(attempts=n_attempts), [down(500 + number) for number in range(9)])
    assert len(made) == n_attempts
    assert isinstance(error, ToolError)
    assert error.status == 499 + n_attempts


def test_the_first_timeout_counts_among_the_timeouts() -> None:
    late: list[Exception] = [ToolTimeout(tool="model", timeout_s=60.0) for _ in range(9)]
    assert len(attempts(RetryPolicy(timeout_attempts=1), late)[0]) == 1


def test_the_wait_after_the_first_failure_is_the_shortest() -> None:
    for seed in range(20):
        made, _ = attempts(RetryPolicy(base_s=1.0), [down()], seed)
        assert 0.5 <= delays(made)[0] <= 1.0


def test_the_wait_after_the_first_failure_uses_up_patience() -> None:
    made, _ = attempts(RetryPolicy(patience_s=10.0), [down(429, retry_after_s=9.0), down(429, retry_after_s=9.0)])
    assert len(made) == 2  # a second wait of 9 s would pass 10 s


def test_a_failure_that_retrying_cannot_help_ends_a_row_of_others() -> None:
    bad = ToolError("bad request", tool="model", status=400)
    made, error = attempts(RetryPolicy(), [down(), bad, down()])
    assert (len(made), error) == (2, bad)


def test_a_call_that_succeeds_draws_nothing() -> None:
    rng = random.Random(0)

    async def call() -> str:
        return "done"

    assert run_in_virtual_time(RetryPolicy().run(call, rng)) == "done"
    assert rng.getstate() == random.Random(0).getstate()


def test_the_last_error_comes_out_once_the_attempts_are_used_up() -> None:
    made, error = attempts(RetryPolicy(attempts=3), [down(500), down(502), down(503), down(504)])
    assert len(made) == 3
    assert isinstance(error, ToolError)
    assert error.status == 503


def test_timeouts_have_a_bound_of_their_own() -> None:
    late = [ToolTimeout(tool="model", timeout_s=60.0) for _ in range(9)]
    made, error = attempts(RetryPolicy(attempts=5, timeout_attempts=2), late)
    assert len(made) == 2
    assert isinstance(error, ToolTimeout)


def test_timeouts_count_among_the_attempts() -> None:
    mixed = [down(), ToolTimeout(tool="model", timeout_s=1.0), down(), down()]
    assert len(attempts(RetryPolicy(attempts=3, timeout_attempts=3), mixed)[0]) == 3


@pytest.mark.parametrize(
    "error",
    [
        ConfigError("no key"),
        ToolError("bad request", tool="model", status=400),
        ModelOutputError("no JSON", schema="Rating", reply=""),
    ],
)
def test_what_retrying_cannot_help_is_raised_at_once(error: Exception) -> None:
    made, raised = attempts(RetryPolicy(), [error])
    assert (len(made), raised) == (1, error)


def test_a_stranger_is_raised_at_once() -> None:
    with pytest.raises(ZeroDivisionError):
        attempts(RetryPolicy(), [ZeroDivisionError()])


def test_back_off_doubles_between_half_and_the_whole_of_its_bound() -> None:
    made, _ = attempts(RetryPolicy(attempts=7, base_s=1.0, longest_s=8.0), [down()] * 6)
    for delay, bound in zip(delays(made), [1.0, 2.0, 4.0, 8.0, 8.0, 8.0], strict=True):
        assert bound / 2 <= delay <= bound


def test_the_jitter_comes_from_the_generator_given() -> None:
    failures = [down()] * 4
    assert attempts(RetryPolicy(), failures, seed=1) == attempts(RetryPolicy(), failures, seed=1)
    assert attempts(RetryPolicy(), failures, seed=1)[0] != attempts(RetryPolicy(), failures, seed=2)[0]


@pytest.mark.parametrize("status", [429, 503])
def test_a_delay_that_the_server_asks_for_is_kept(status: int) -> None:
    made, _ = attempts(RetryPolicy(), [down(status, retry_after_s=30.0)])
    assert 30.0 <= delays(made)[0] <= 33.0  # a tenth of jitter on top


def test_a_delay_of_zero_is_still_jittered_by_the_back_off() -> None:
    made, _ = attempts(RetryPolicy(base_s=1.0), [down(429, retry_after_s=0.0)])
    assert 0.0 <= delays(made)[0] <= 0.1


def test_refusals_for_rate_use_up_patience_not_attempts() -> None:
    made, error = attempts(RetryPolicy(attempts=2, patience_s=1_000.0), [down(429, retry_after_s=1.0)] * 40)
    assert (len(made), error) == (41, None)


def test_patience_ends() -> None:
    made, error = attempts(RetryPolicy(patience_s=10.0), [down(429, retry_after_s=3.0)] * 40)
    assert len(made) == 4  # after waits of 3 s to 3.3 s each, a fourth would pass 10 s
    assert isinstance(error, ToolError)
    assert error.status == 429


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_asks_for_a_day_is_given_up_at_once(status: int) -> None:
    made, error = attempts(RetryPolicy(), [down(status, retry_after_s=86_400.0)] * 2)
    assert made == [0.0]
    assert isinstance(error, ToolError)
    assert error.retry_after_s == 86_400.0


def test_cancellation_is_not_retried() -> None:
    async def run() -> int:
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
        return made

    assert run_in_virtual_time(run()) == 1
