from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable

import pytest

from factloop.core.errors import FactloopError, ModelRefusal, ToolError, ToolTimeout
from factloop.core.events import ServerWait
from factloop.tools.calls.limiter import Limiter
from factloop.tools.calls.modes import REST_S
from factloop.tools.calls.patience import TOLD_AFTER_S, Patience, told_of_waits
from factloop.tools.calls.retry import RetryPolicy
from tests.tools.calls.rate_limits import TokenBucket
from tests.tools.calls.virtual_time import in_virtual_time, run_in_virtual_time

Answer = Callable[[float], Awaitable[None]]
"""What a server makes of a request that comes at this time: it returns once it has answered, or raises."""


def status(code: int, *, retry_after_s: float | None = None) -> ToolError:
    retryable = code == 429 or code >= 500
    return ToolError(
        f"web: status {code}, busy", tool="web", status=code, retry_after_s=retry_after_s, retryable=retryable
    )


REFUSED = ToolError("web: connection refused at 127.0.0.1:9", tool="web", retryable=True)


def refusing(error: FactloopError) -> Answer:
    async def answer(_: float) -> None:
        raise error

    return answer


class Calls:
    """Calls as the gateways make them, with retries and turns; the test plays the server."""

    def __init__(
        self, answer: Answer, *, seconds: float = 120.0, rest_s: float = REST_S, retry: RetryPolicy | None = None
    ) -> None:
        self.answer, self.sent_at = answer, list[float]()
        self.patience = Patience("web", seconds, rest_s)
        self._limiter, self._retry, self._rng = Limiter(), retry or RetryPolicy(), random.Random(0)

    async def call(self) -> str:
        return await self.patience.wait_for(lambda: self._retry.run(self._attempt, self._rng))

    async def outcome(self) -> tuple[str, float]:
        try:
            said = await self.call()
        except FactloopError as error:
            said = str(error)
        return said, round(now(), 1)

    async def _attempt(self) -> str:
        async with self._limiter.slot() as ticket:
            self.sent_at.append(now())
            with self.patience.asking():
                try:
                    await self.answer(now())
                except ToolError as error:
                    if error.status == 429:
                        self._limiter.refused(ticket, error.retry_after_s)
                    raise
        return "answered"


def now() -> float:
    return asyncio.get_running_loop().time()


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (status(429), "the last answer: status 429"),
        (status(429, retry_after_s=1.0), "the last answer: status 429"),
        (status(503, retry_after_s=20.0), "the last answer: status 503"),
    ],
)
@in_virtual_time
async def test_all_who_wait_for_a_server_that_refuses_everything_end_together(error: ToolError, cause: str) -> None:
    calls = Calls(refusing(error), retry=RetryPolicy(attempts=1_000))
    outcomes = await asyncio.gather(*(calls.outcome() for _ in range(130)))
    assert set(outcomes) == {(f"web: has not accepted a request for 120 s ({cause})", 120.0)}


@pytest.mark.parametrize("error", [status(500), REFUSED])
@in_virtual_time
async def test_calls_that_give_up_by_themselves_do_so_and_the_rest_do_not_take_turns_for_ever(error: ToolError) -> None:
    calls = Calls(refusing(error))
    for _ in range(100):
        said, _ = await calls.outcome()
    assert said.startswith("web: has not accepted a request for 12")
    assert now() < 125.0


@in_virtual_time
async def test_of_a_server_that_hangs_even_what_is_under_way_ends() -> None:
    async def answer(_: float) -> None:
        await asyncio.sleep(50.0)
        raise ToolTimeout(tool="web", timeout_s=50.0)

    calls = Calls(answer)
    outcomes = await asyncio.gather(*(calls.outcome() for _ in range(9)))
    assert set(outcomes) == {("web: has not accepted a request for 120 s (no answer within 50 s)", 120.0)}
    assert max(calls.sent_at) > 70.0  # a third attempt of each


@pytest.mark.parametrize("sent_first", [True, False])
@in_virtual_time
async def test_what_is_under_way_for_longer_than_refusals_take_is_being_served(sent_first: bool) -> None:
    """Part of a burst is refused at once; the rest is answered after minutes."""

    async def answer(_: float) -> None:
        if (len(calls.sent_at) == 1) is sent_first:
            await asyncio.sleep(300.0)
        elif now() < 350.0:
            raise status(429)

    calls = Calls(answer)
    outcomes = await asyncio.gather(*(calls.outcome() for _ in range(9)))
    assert {said for said, _ in outcomes} == {"answered"}


@in_virtual_time
async def test_a_server_that_takes_a_request_now_and_then_is_never_given_up() -> None:
    taken_at = [0.0]

    async def answer(at: float) -> None:
        if at - taken_at[0] < 100.0:
            raise status(429, retry_after_s=20.0)
        taken_at[0] = at

    calls = Calls(answer)
    outcomes = await asyncio.gather(*(calls.outcome() for _ in range(4)))
    assert {said for said, _ in outcomes} == {"answered"}
    assert now() > 400.0


@in_virtual_time
async def test_silence_is_no_refusal() -> None:
    async def answer(_: float) -> None:
        await asyncio.sleep(3_600.0)

    assert await Calls(answer, seconds=10.0).outcome() == ("answered", 3_600.0)


@in_virtual_time
async def test_the_clock_stands_still_while_nobody_waits() -> None:
    calls = Calls(refusing(status(500)), retry=RetryPolicy(attempts=1))
    for _ in range(50):
        with pytest.raises(ToolError, match="status 500"):
            await calls.call()
        await asyncio.sleep(600.0)
    assert len(calls.sent_at) == 50


@pytest.mark.parametrize("seconds", [60.0, 3_000.0])
@in_virtual_time
async def test_a_pause_longer_than_patience_is_not_waited_for_and_a_shorter_one_is(seconds: float) -> None:
    async def answer(at: float) -> None:
        if at < 900.0:
            raise status(429, retry_after_s=900.0)

    calls = Calls(answer, seconds=seconds, retry=RetryPolicy(patience_s=3_000.0))
    said, ended_at = await calls.outcome()
    if seconds > 900.0:
        assert said == "answered"
    else:
        wish = "asked factloop to wait another 900 s, but the limit is 60 s"
        assert (said, ended_at) == (f"web: {wish} (the last answer: status 429)", 0.0)


@in_virtual_time
async def test_after_a_rest_one_call_tries_and_its_success_ends_the_outage() -> None:
    calls = Calls(refusing(status(429)))
    await calls.outcome()
    sent = len(calls.sent_at)
    await asyncio.sleep(REST_S)
    outcomes = await asyncio.gather(*(calls.outcome() for _ in range(9)))
    assert len(calls.sent_at) == sent + 1
    assert all("has not accepted a request for 120 s" in said for said, _ in outcomes)
    assert max(ended_at for _, ended_at in outcomes) < 120.0 + REST_S + 35.0  # the trial takes its turn

    await asyncio.sleep(REST_S)
    calls.answer = answered
    assert (await calls.outcome())[0] == "answered"
    assert not calls.patience.is_given_up
    assert {said for said, _ in await asyncio.gather(*(calls.outcome() for _ in range(9)))} == {"answered"}


async def answered(_: float) -> None:
    return


@pytest.mark.parametrize(
    ("rest_s", "rests"), [(60.0, [2, 4, 8, 16, 32, 60, 60]), (5.0, [2, 4, 5, 5]), (1.0, [1, 1, 1])]
)
@in_virtual_time
async def test_rests_begin_short_and_double(rest_s: float, rests: list[int]) -> None:
    calls = Calls(refusing(REFUSED), rest_s=rest_s)
    calls.patience.give_up("web: it is not there")
    for _ in range(2):
        calls.answer, begun = refusing(REFUSED), now()
        calls.sent_at.clear()
        while len(calls.sent_at) < len(rests):
            await asyncio.sleep(0.125)
            await calls.outcome()
        ends = [begun, *calls.sent_at]
        assert [round(end - start) for start, end in zip(ends, calls.sent_at, strict=False)] == rests
        await asyncio.sleep(rest_s)
        calls.answer = answered  # an outage that is over is forgotten
        assert (await calls.outcome())[0] == "answered"
        calls.patience.give_up("web: it is not there")


@in_virtual_time
async def test_a_server_is_not_tried_before_it_asked_to_be() -> None:
    calls = Calls(refusing(status(429, retry_after_s=3_600.0)), retry=RetryPolicy(patience_s=7_200.0))
    for _ in range(7):
        said, _ = await calls.outcome()
        assert "asked factloop to wait another 3600 s" in said
        await asyncio.sleep(590.0)
    assert len(calls.sent_at) == 1
    calls.answer = answered
    await asyncio.sleep(60.0)
    assert (await calls.outcome())[0] == "answered"


@in_virtual_time
async def test_during_a_trial_nobody_else_tries() -> None:
    calls = Calls(refusing(status(429)), seconds=20.0)
    await calls.outcome()
    await asyncio.sleep(2 * REST_S)
    calls.answer, begun, sent = slow, now(), len(calls.sent_at)
    trial = asyncio.create_task(calls.outcome())
    await asyncio.sleep(10.0)
    assert (await calls.outcome())[1] == round(begun + 10.0, 1)
    assert await trial == ("answered", round(begun + 30.0, 1))
    assert len(calls.sent_at) == sent + 1


async def slow(_: float) -> None:
    await asyncio.sleep(30.0)


@pytest.mark.parametrize("is_there", [False, True])
@in_virtual_time
async def test_time_outs_of_a_server_that_never_answered_are_the_server_s(is_there: bool) -> None:
    calls = Calls(answered)
    if is_there:
        await calls.call()
    calls.answer = refusing(ToolTimeout(tool="web", timeout_s=5.0))
    with pytest.raises(ToolError, match=r"\(no answer within 5 s\)|: no answer within 5 s") as caught:
        await calls.call()
    assert isinstance(caught.value, ToolTimeout) == is_there


@pytest.mark.parametrize(
    ("error", "is_there"),
    [
        (status(400), True),
        (status(404), True),
        (ModelRefusal("filtered", schema="", reply=""), True),
        (status(500), False),
        (status(429), False),
        (REFUSED, False),
        (ToolError("web: the search failed (KeyError)", tool="web"), False),
    ],
)
@in_virtual_time
async def test_whatever_else_a_server_says_it_is_there(error: FactloopError, is_there: bool) -> None:
    patience = Patience("web", seconds=10.0)

    async def call() -> None:
        with pytest.raises(ToolError), patience.asking():
            raise status(500)
        await asyncio.sleep(9.0)
        with pytest.raises(type(error)), patience.asking():
            raise error
        await asyncio.sleep(9.0)

    if is_there:
        await patience.wait_for(call)
    else:
        with pytest.raises(ToolError, match="has not accepted a request for 10 s"):
            await patience.wait_for(call)


@in_virtual_time
async def test_who_is_cancelled_leaves_the_clock_in_order() -> None:
    calls = Calls(refusing(status(429)))
    leaving, staying = (asyncio.create_task(calls.outcome()) for _ in range(2))
    await asyncio.sleep(30.0)
    leaving.cancel()
    assert (await staying)[1] == 120.0
    assert leaving.cancelled()


@in_virtual_time
async def test_a_time_out_of_somebody_else_is_passed_on() -> None:
    async def late() -> None:
        raise TimeoutError("of the caller's own")

    with pytest.raises(TimeoutError, match="of the caller's own"):
        await Patience("web").wait_for(late)


@in_virtual_time
async def test_a_server_that_is_not_there_is_given_up_at_once_and_by_its_own_words() -> None:
    calls = Calls(answered)
    raised = calls.patience.give_up(f"{REFUSED}: is it running?")
    assert await calls.outcome() == (str(raised), 0.0) == ("web: connection refused at 127.0.0.1:9: is it running?", 0)
    await asyncio.sleep(REST_S)
    assert (await calls.outcome())[0] == "answered"


@in_virtual_time
async def test_whoever_listens_is_told_once_a_second_while_they_wait() -> None:
    calls, first, second = Calls(refusing(status(429)), seconds=60.0), list[ServerWait](), list[ServerWait]()
    with told_of_waits(first.append):
        waiting = [asyncio.create_task(calls.outcome()) for _ in range(3)]
    with told_of_waits(second.append):
        waiting.append(asyncio.create_task(calls.outcome()))
    unheard = asyncio.create_task(calls.outcome())
    await asyncio.gather(*waiting, unheard)
    assert [round(told.waited_s) for told in first] == list(range(int(TOLD_AFTER_S), 60))
    assert second == first
    assert {(told.server, told.patience_s, told.cause) for told in first} == {("web", 60.0, "status 429")}


@in_virtual_time
async def test_of_a_server_that_paces_us_nothing_is_said() -> None:
    limit = TokenBucket(rate=5, capacity=5)

    async def answer(at: float) -> None:
        if wait_s := limit.wait_s(at):
            raise status(429, retry_after_s=math.ceil(wait_s))

    calls, told = Calls(answer), list[ServerWait]()
    with told_of_waits(told.append):
        await asyncio.gather(*(calls.call() for _ in range(300)))
    assert now() > 60.0
    assert told == []


def test_the_time_in_which_nothing_is_asked_takes_nothing_from_patience() -> None:
    patience = Patience("web", 5.0)

    async def call() -> str:
        await asyncio.sleep(4.0)  # its turn comes late
        with pytest.raises(ToolError), patience.asking():
            raise status(429)
        await asyncio.sleep(2.0)
        with patience.asking():
            return "accepted"

    assert run_in_virtual_time(patience.wait_for(call)) == "accepted"
