from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import pairwise

import pytest

from factloop.tools.calls.limiter import START_RATE, Limiter, Slot
from tests.tools.calls.rate_limits import Crowd, RateLimit, SlidingWindow, TokenBucket, send_all
from tests.tools.calls.virtual_time import run_in_virtual_time

ALL_SHAPES: list[tuple[str, Callable[[], RateLimit]]] = [
    ("no burst", lambda: TokenBucket(rate=5, capacity=1)),
    ("burst of 5", lambda: TokenBucket(rate=5, capacity=5)),
    ("burst of 60", lambda: TokenBucket(rate=5, capacity=60)),
    ("5 in a second", lambda: SlidingWindow(most=5, window_s=1)),
    ("60 in a minute", lambda: SlidingWindow(most=60, window_s=60)),
    ("300 in a minute", lambda: SlidingWindow(most=300, window_s=60)),
]


async def departures(limiter: Limiter, n_calls: int) -> list[float]:
    """When each of many simultaneous calls leaves."""

    async def one() -> float:
        async with limiter.slot() as ticket:
            return ticket.sent_at

    return await asyncio.gather(*(one() for _ in range(n_calls)))


@pytest.mark.statistical
@pytest.mark.parametrize("round_trip_s", [0.002, 0.02])
@pytest.mark.parametrize("whole_seconds", [True, False])
@pytest.mark.parametrize("limit", [make for _, make in ALL_SHAPES], ids=[name for name, _ in ALL_SHAPES])
def test_at_most_a_twentieth_is_refused_whatever_the_shape_of_the_limit(
    limit: Callable[[], RateLimit], whole_seconds: bool, round_trip_s: float
) -> None:
    crowd = run_in_virtual_time(
        send_all(300, limit(), Limiter(), whole_seconds=whole_seconds, round_trip_s=round_trip_s, answer_s=0.3)
    )
    assert crowd.finished == 300
    assert crowd.share_refused <= 0.05


def test_most_of_an_allowed_rate_is_used() -> None:
    crowd: Crowd = run_in_virtual_time(
        send_all(300, TokenBucket(5, 5), Limiter(), whole_seconds=True, round_trip_s=0.01, answer_s=0.3)
    )
    assert crowd.took_s < 80.0  # (300 - 5) / 5 = 59 s at best


def test_the_start_is_paced_and_doubles_while_nothing_is_refused() -> None:
    times = run_in_virtual_time(departures(Limiter(), 2_000))
    # 120/s for 0.2 s, then 240/s, 480/s and so on: 24 + 48 + 96 + 192 + 384 + 768 = 1,512 after 1.2 s.
    assert sum(moment < 0.2 for moment in times) == pytest.approx(24, abs=2)
    assert sum(moment < 1.2 for moment in times) == pytest.approx(1_512, rel=0.05)


def test_a_cap_on_the_rate_holds_in_every_window() -> None:
    times = run_in_virtual_time(departures(Limiter(requests_per_second=10), 200))
    # Lateness may be made up for by one interval: one more than the cap.
    assert max(sum(start <= moment < start + 1.0 for moment in times) for start in times) <= 11
    assert max(times) == pytest.approx(19.9, abs=0.2)


def test_a_cap_below_one_a_second_holds() -> None:
    times = run_in_virtual_time(departures(Limiter(requests_per_second=0.5), 4))
    assert times[-1] - times[0] == pytest.approx(6.0, abs=2.0)


def test_concurrency_is_bounded_and_the_bound_is_reached() -> None:
    async def run() -> int:
        limiter, inside, most = Limiter(concurrency=3), 0, 0

        async def one() -> None:
            nonlocal inside, most
            async with limiter.slot():
                inside += 1
                most = max(most, inside)
                await asyncio.sleep(1.0)
                inside -= 1

        await asyncio.gather(*(one() for _ in range(20)))
        return most

    assert run_in_virtual_time(run()) == 3


def test_everybody_pauses_as_long_as_the_server_asks() -> None:
    async def run() -> list[float]:
        limiter = Limiter()
        async with limiter.slot() as ticket:
            limiter.refused(ticket, 7.0)
        return await departures(limiter, 3)

    assert min(run_in_virtual_time(run())) == pytest.approx(7.0)


def test_after_a_pause_one_request_goes_first() -> None:
    async def run() -> list[float]:
        limiter = Limiter()
        async with limiter.slot() as ticket:
            await asyncio.sleep(0.4)  # the refusal took this long
            limiter.refused(ticket, 1.0)
        return await departures(limiter, 2)

    first, second = run_in_virtual_time(run())
    assert first == pytest.approx(1.4)
    assert second - first >= 0.6  # one and a half round trips


def test_without_a_stated_delay_pauses_double_while_nothing_is_taken() -> None:
    async def run() -> list[float]:
        limiter, left = Limiter(), []
        for _ in range(4):
            async with limiter.slot() as ticket:
                left.append(ticket.sent_at)
                await asyncio.sleep(0.01)
                limiter.refused(ticket, None)
        return left

    left = run_in_virtual_time(run())
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


def test_a_rate_recovers_after_a_single_refusal() -> None:
    async def run() -> tuple[int, int]:
        limiter = Limiter()
        async with limiter.slot() as ticket:
            limiter.refused(ticket, 1.0)
        times = await departures(limiter, 2_000)
        start = times[0]
        return sum(t - start < 5.0 for t in times), sum(t - start < 20.0 for t in times)

    in_five, in_twenty = run_in_virtual_time(run())
    assert in_five < 100
    assert in_twenty == 2_000


def test_a_rate_does_not_grow_during_a_pause() -> None:
    async def run() -> float:
        limiter = Limiter()
        async with limiter.slot() as ticket:
            limiter.refused(ticket, 59.0)
        times = await departures(limiter, 3)
        return times[2] - times[1]

    assert run_in_virtual_time(run()) > 0.2


def test_a_rate_does_not_grow_while_nothing_is_sent() -> None:
    async def run() -> float:
        limiter = Limiter()
        async with limiter.slot() as ticket:
            limiter.refused(ticket, 1.0)
        await departures(limiter, 3)
        await asyncio.sleep(600.0)
        times = await departures(limiter, 3)
        return times[2] - times[1]

    assert run_in_virtual_time(run()) > 0.05


def test_cancelled_waiters_leave_nothing_locked() -> None:
    async def run() -> list[float]:
        limiter = Limiter(concurrency=2)
        async with limiter.slot() as ticket:
            limiter.refused(ticket, 30.0)
        waiting = [asyncio.create_task(departures(limiter, 2)) for _ in range(3)]
        await asyncio.sleep(1.0)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return await asyncio.wait_for(departures(limiter, 2), timeout=60.0)

    assert min(run_in_virtual_time(run())) == pytest.approx(30.0)


def test_a_failure_inside_a_slot_frees_it() -> None:
    async def run() -> None:
        limiter = Limiter(concurrency=1)
        with pytest.raises(ZeroDivisionError):
            async with limiter.slot():
                raise ZeroDivisionError
        async with limiter.slot() as ticket:
            assert isinstance(ticket, Slot)

    run_in_virtual_time(run())


def test_the_start_rate_is_what_a_lone_response_needs() -> None:
    """Twenty sentences leave within a fifth of a second."""
    times = run_in_virtual_time(departures(Limiter(), 20))
    assert max(times) <= 20 / START_RATE


def test_processes_have_even_parts_of_a_ceiling() -> None:
    async def sent() -> tuple[int, int, int]:
        limiter, counts, start = Limiter(requests_per_second=12), [], asyncio.get_running_loop().time()
        for n_processes in (1, 3, 1):
            limiter.share_ceiling(n_processes)
            for _ in range(40):  # the growth after a lowered ceiling
                async with limiter.slot():
                    pass
            left = await departures(limiter, 121)
            counts.append(round(120 / (left[-1] - left[0])))
        assert asyncio.get_running_loop().time() > start
        return counts[0], counts[1], counts[2]

    assert run_in_virtual_time(sent()) == (12, 4, 12)


def test_without_a_ceiling_there_is_none_to_share() -> None:
    limiter = Limiter()
    limiter.share_ceiling(3)
    left = run_in_virtual_time(departures(limiter, 200))
    assert left[-1] - left[0] < 200 / START_RATE


def test_a_busy_server_is_left_alone_then_tried_by_one_call_and_its_rate_is_kept() -> None:
    async def play() -> list[float]:
        limiter = Limiter()
        async with limiter.slot() as ticket:
            await asyncio.sleep(0.1)
            limiter.pause(ticket, 5.0)
        return await departures(limiter, 100)

    first, *others = run_in_virtual_time(play())
    assert first == pytest.approx(5.1)
    # The others follow one and a half round trips of 0.1 s later, 120 a second; a refusal for rate left 4 a second.
    assert min(others) == pytest.approx(5.25, abs=0.01)
    assert max(others) < 6.2
