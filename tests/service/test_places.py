from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest
from fastapi.responses import Response

from factloop.service.errors import RequestRefusal
from factloop.service.places import MOST_AT_ONCE, MOST_WAITING, Places
from factloop.service.reading import FileReader
from factloop.service.shapes import FileAsk
from tests.service.asking import FINISHED_WITHIN_S


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(FINISHED_WITHIN_S):
        while not holds():  # noqa: ASYNC110 - it changes in other threads
            await asyncio.sleep(0.001)


async def test_each_owner_has_one_place_until_its_thread_ends_and_few_may_wait() -> None:
    places, left, go_on = Places(), asyncio.Event(), threading.Event()
    begun: list[str] = []

    def computes(name: str) -> str:
        begun.append(name)
        assert go_on.wait(FINISHED_WITHIN_S)
        return name

    stays = asyncio.Event().wait

    def asked(name: str, leaves: Callable[[], object] = stays) -> asyncio.Task[str]:
        return asyncio.create_task(places.compute(name[0], leaves, partial(computes, name)))  # type: ignore[arg-type]

    leaving = [asked(f"a{number}", left.wait) for number in range(MOST_WAITING)]
    last = asked("a8")
    await until(lambda: begun == ["a0"])
    refused = await asyncio.gather(asked("a9"), return_exceptions=True)
    other, third = asked("b0"), asked("c0")
    await until(lambda: begun == ["a0", "b0"])
    left.set()
    ended = [*refused, *await asyncio.gather(*leaving, return_exceptions=True)]
    assert Counter(one.words.type for one in ended if isinstance(one, RequestRefusal)) == {"busy": 1, "bad_request": 8}
    assert begun == ["a0", "b0"], "a0 has its place, though its caller left"
    assert len(begun) == MOST_AT_ONCE
    go_on.set()
    assert [await one for one in (last, other, third)] == ["a8", "b0", "c0"]
    assert sorted(begun) == ["a0", "a8", "b0", "c0"]
    places.stop()


async def test_when_it_stops_who_waits_is_refused_and_who_is_at_work_ends() -> None:
    places, go_on, begun = Places(), threading.Event(), threading.Event()

    def computes() -> None:
        begun.set()
        assert go_on.wait(FINISHED_WITHIN_S)

    asked = [asyncio.create_task(places.compute("a", asyncio.Event().wait, computes)) for _ in range(3)]
    await until(begun.is_set)
    places.begin_stop()
    go_on.set()
    first, *others = await asyncio.gather(*asked, return_exceptions=True)
    assert first is None
    go_on.clear()
    assert [getattr(one, "status", one) for one in others] == [503] * 2
    places.stop()
    with_none = await asyncio.gather(places.compute("a", asyncio.Event().wait, computes), return_exceptions=True)
    assert [getattr(one, "status", one) for one in with_none] == [503]


async def test_an_owner_who_leaves_responses_unread_gets_no_more_while_others_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("factloop.service.places.MOST_UNSENT", 2)

    async def read(_: FileAsk) -> Response:
        return Response("ab")

    places = Places()
    computed = partial(places.compute, left=asyncio.Event().wait, call=lambda: Response("ab"))
    files = partial(FileReader(places, read).read, FileAsk(name="a.txt", content=b""))
    for mine, answer in (("a", computed), ("b", files)):  # a thread may keep a response for a moment
        unread = await answer(mine)
        for yours, other in ((f"{mine}1", computed), (f"{mine}2", files)):
            with pytest.raises(RequestRefusal) as refused:
                await other(mine)
            assert (refused.value.status, refused.value.headers) == (429, {"Retry-After": "10"})
            assert (await other(yours)).body == unread.body
    places.stop()
