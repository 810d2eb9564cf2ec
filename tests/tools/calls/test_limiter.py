from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from itertools import pairwise

import pytest

from factloop.tools.calls.limiter import CALLER, START_RATE, Limiter
from tests.tools.calls.rate_limits import RateLimit, SlidingWindow, TokenBucket, send_all
from tests.tools.calls.virtual_time import in_virtual_time, run_in_virtual_time

ALL_SHAPES: dict[str, Callable[[], RateLimit]] = {
    "no burst": lambda: TokenBucket(rate=5, capacity=1),
    "burst of 5": lambda: TokenBucket(rate=5, capacity=5),
    "burst of 60": lambda: TokenBucket(rate=5, capacity=60),
    "5 in a second": lambda: SlidingWindow(most=5, window_s=1),
    "60 in a minute": lambda: SlidingWindow(most=60, window_s=60),
    "300 in a minute": lambda: SlidingWindow(most=300, window_s=60),
}


async def departures(limiter: Limiter, n_calls: int) -> list[float]:
    async def one() -> float:
        async with limiter.slot() as ticket:
            return ticket.sent_at

    return await asyncio.gather(*(one() for _ in range(n_calls)))


async def refused(limiter: Limiter, pause_s: float | None, *, after_s: float = 0.0) -> float:
    async with limiter.slot() as ticket:
        await asyncio.sleep(after_s)
        limiter.refused(ticket, pause_s)
    return ticket.sent_at


@pytest.mark.statistical
@pytest.mark.parametrize("round_trip_s", [0.002, 0.02])
@pytest.mark.parametrize("whole_seconds", [True, False])
@pytest.mark.parametrize("limit", ALL_SHAPES.values(), ids=ALL_SHAPES)
def test_at_most_a_twentieth_is_refused_whatever_the_shape_of_the_limit(
    limit: Callable[[], RateLimit], whole_seconds: bool, round_trip_s: float
) -> None:
    crowd = run_in_virtual_time(
        send_all(300, limit(), Limiter(), whole_seconds=whole_seconds, round_trip_s=round_trip_s, answer_s=0.3)
    )
    assert crowd.finished == 300
    assert crowd.share_refused <= 0.05


def test_most_of_an_allowed_rate_is_used() -> None:
    crowd = run_in_virtual_time(
        send_all(300, TokenBucket(5, 5), Limiter(), whole_seconds=True, round_trip_s=0.01, answer_s=0.3)
    )
    assert crowd.took_s < 80.0  # (300 - 5) / 5 = 59 s at best


@in_virtual_time
async def test_the_start_is_paced_and_doubles_while_nothing_is_refused() -> None:
    times = await departures(Limiter(), 2_000)
    # 120/s for 0.2 s, then 240/s, 480/s and so on: 24 + 48 + 96 + 192 + 384 + 768 = 1,512 after 1.2 s.
    assert sum(moment < 0.2 for moment in times) == pytest.approx(24, abs=2)
    assert sum(moment < 1.2 for moment in times) == pytest.approx(1_512, rel=0.05)


@pytest.mark.parametrize("cap", [10.0, 0.5])
@in_virtual_time
async def test_a_cap_on_the_rate_holds_in_every_window(cap: float) -> None:
    times = await departures(Limiter(requests_per_second=cap), 100)
    # Lateness may be made up for by one interval: one more than the cap.
    window_s = max(1.0, 1.0 / cap)
    assert max(sum(start <= moment < start + window_s for moment in times) for start in times) <= cap * window_s + 1
    assert max(times) == pytest.approx(99 / cap, rel=0.02)


@in_virtual_time
async def test_concurrency_is_bounded_and_the_bound_is_reached() -> None:
    limiter, inside, most = Limiter(concurrency=3), 0, 0

    async def one() -> None:
        nonlocal inside, most
        async with limiter.slot():
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(1.0)
            inside -= 1

    await asyncio.gather(*(one() for _ in range(20)))
    assert most == 3


@in_virtual_time
async def test_everybody_pauses_as_long_as_the_server_asks_then_one_request_goes_first() -> None:
    limiter = Limiter()
    await refused(limiter, 1.0, after_s=0.4)  # the refusal took this long
    first, second = await departures(limiter, 2)
    assert first == pytest.approx(1.4)
    assert second - first >= 0.6  # one and a half round trips


@in_virtual_time
async def test_without_a_stated_delay_pauses_double_while_nothing_is_taken() -> None:
    limiter = Limiter()
    left = [await refused(limiter, None, after_s=0.01) for _ in range(4)]
    pauses = [later - earlier for earlier, later in pairwise(left)]
    assert pauses == pytest.approx([1.01, 2.01, 4.01], abs=0.05)


def test_tickets_sent_before_the_last_lesson_teach_nothing() -> None:
    async def spacing(n_old: int) -> float:
        limiter = Limiter()
        for _ in range(50):
            async with limiter.slot() as ticket:
                pass
        await asyncio.sleep(0.05)
        for _ in range(n_old):
            limiter.refused(ticket, 0.5)
        times = await departures(limiter, 5)
        return times[4] - times[3]

    assert run_in_virtual_time(spacing(20)) == run_in_virtual_time(spacing(1))


@in_virtual_time
async def test_a_rate_recovers_after_a_single_refusal() -> None:
    limiter = Limiter()
    await refused(limiter, 1.0)
    times = await departures(limiter, 2_000)
    assert sum(moment - times[0] < 5.0 for moment in times) < 100
    assert sum(moment - times[0] < 20.0 for moment in times) == 2_000


@pytest.mark.parametrize(("pause_s", "idle_s", "spacing_s"), [(59.0, 0.0, 0.2), (1.0, 600.0, 0.05)])
@in_virtual_time
async def test_a_rate_grows_neither_during_a_pause_nor_while_nothing_is_sent(
    pause_s: float, idle_s: float, spacing_s: float
) -> None:
    limiter = Limiter()
    await refused(limiter, pause_s)
    if idle_s:
        await departures(limiter, 3)
        await asyncio.sleep(idle_s)
    times = await departures(limiter, 3)
    assert times[2] - times[1] > spacing_s


@in_virtual_time
async def test_cancelled_waiters_leave_nothing_locked() -> None:
    limiter = Limiter(concurrency=2)
    await refused(limiter, 30.0)
    waiting = [asyncio.create_task(departures(limiter, 2)) for _ in range(3)]
    await asyncio.sleep(1.0)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert min(await asyncio.wait_for(departures(limiter, 2), timeout=60.0)) == pytest.approx(30.0)


@in_virtual_time
async def test_processes_have_even_parts_of_a_ceiling() -> None:
    limiter, counts = Limiter(requests_per_second=12), []
    for n_processes in (1, 3, 1):
        limiter.share_ceiling(n_processes)
        await departures(limiter, 40)  # the growth after a lowered ceiling
        left = await departures(limiter, 121)
        counts.append(round(120 / (left[-1] - left[0])))
    assert counts == [12, 4, 12]
    unlimited = Limiter()
    unlimited.share_ceiling(3)
    left = await departures(unlimited, 200)
    assert left[-1] - left[0] < 200 / START_RATE


@in_virtual_time
async def test_a_busy_server_is_left_alone_then_tried_by_one_call_and_its_rate_is_kept() -> None:
    limiter = Limiter()
    async with limiter.slot() as ticket:
        await asyncio.sleep(0.1)
        limiter.pause(ticket, 5.0)
    first, *others = await departures(limiter, 100)
    assert first == pytest.approx(5.1)
    # The others follow one and a half round trips of 0.1 s later, 120 a second; a refusal for rate left 4 a second.
    assert min(others) == pytest.approx(5.25, abs=0.01)
    assert max(others) < 6.2


async def order_of(limiter: Limiter, calls: Iterable[str], cancelled: slice) -> list[str]:
    """The calls that had a turn, in order. The first letter is the caller; a capital call skipped the queue."""
    order: list[str] = []

    async def call(name: str) -> None:
        CALLER.set(name[0].lower())
        async with limiter.slot(ahead=name.isupper()):
            order.append(name)
            await asyncio.sleep(1.0)

    tasks = [asyncio.create_task(call(name)) for name in calls]
    await asyncio.sleep(0.5)
    for left in tasks[cancelled]:
        left.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return order


@pytest.mark.parametrize("limits", [{"concurrency": 2}, {"requests_per_second": 1}], ids=["slots", "pace"])
def test_callers_take_turns(limits: dict[str, int]) -> None:
    async def order() -> list[str]:
        limiter = Limiter(**limits)
        found = await order_of(limiter, "aaaaaaaabbcA", slice(2, 3))
        async with limiter.slot():
            CALLER.set("another")
            async with limiter.slot():  # none was lost
                return found

    assert "".join(run_in_virtual_time(order())) == "aaAbcabaaaa"


@in_virtual_time
async def test_the_last_free_slot_is_for_a_caller_that_holds_none() -> None:
    limiter, loop = Limiter(concurrency=3), asyncio.get_running_loop()

    async def call(caller: str, seconds: float) -> float:
        CALLER.set(caller)
        async with limiter.slot():
            begun = loop.time()
            await asyncio.sleep(seconds)
            return begun

    await call("a", 1.0)
    await asyncio.create_task(call("b", 1.0))
    held = [asyncio.create_task(call("a", 100.0)) for _ in range(3)]
    await asyncio.sleep(1.0)
    assert await asyncio.create_task(call("b", 1.0)) == pytest.approx(3.0, abs=0.1)
    assert [round(begun) for begun in await asyncio.gather(*held)] == [2, 2, 102]
