"""Limits computations for requests, such as rendering reports, so that callers do not delay each other."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar
from weakref import finalize

from fastapi.responses import Response

from factloop.service.errors import RETRY_AFTER_S, RequestRefusal, stopping, unavailable

MOST_AT_ONCE = 2  # maximum number of concurrent computations; further ones wait
MOST_WAITING = 8  # maximum number of waiting computations for each owner
MOST_UNSENT = 100_000_000  # bytes of an owner's unsent responses, above which there are no further ones
T = TypeVar("T")


class Places:
    """Runs a few computations concurrently, but only one per owner. Jobs and probes use other threads."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="factloop-answers")
        self._places = asyncio.Semaphore(MOST_AT_ONCE)
        self._place_of: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._n_of, self._n_unsent = Counter[str](), Counter[str]()
        self._reading: defaultdict[tuple[str, str], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._is_stopping, self._stopped = False, asyncio.Event()

    async def compute(
        self,
        owner: str,
        left: Callable[[], Awaitable[object]],
        call: Callable[..., T],
        *inputs: Callable[[], Awaitable[Any]],
        waits: bool = False,
    ) -> T:
        """Fetches the inputs and runs the blocking call in its turn, unless `left` returns first. Raises RequestRefusal
        if the service stops or, unless `waits` is set, if too many computations are waiting or responses unsent."""
        if self._is_stopping:
            raise stopping()
        if not waits and self._n_of[owner] > MOST_WAITING:
            raise unavailable("busy", f"at most {MOST_WAITING} of your requests can wait at a time; try again later")
        self._n_of[owner] += 1
        answer = asyncio.create_task(self._in_turn(owner, call, inputs, waits))
        ends = [asyncio.ensure_future(left()), asyncio.create_task(self._stopped.wait())]
        answer.add_done_callback(lambda _: self._n_of.subtract([owner]))
        try:
            await asyncio.wait((answer, *ends), return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
            raise (stopping() if self._stopped.is_set() else RequestRefusal(400, "bad_request", "the caller has left"))
        finally:
            for one in (answer, *ends):
                one.cancel()

    async def _in_turn(self, owner: str, call: Callable[..., T], inputs: Iterable[Callable[[], Any]], waits: bool) -> T:
        async def computed() -> T:
            given = [await one() for one in inputs]
            return await asyncio.get_running_loop().run_in_executor(self._threads, call, *given)

        async with self._place_of[owner], self._places:
            if self._is_stopping:
                raise stopping()
            if not waits:
                self._refuse_unread(owner)
            computing = asyncio.create_task(computed())
            try:
                answer = await asyncio.shield(computing)
            finally:  # a thread cannot be stopped, so it keeps its place even if the caller has left
                await asyncio.gather(computing, return_exceptions=True)
            if isinstance(answer, Response):
                self._count(owner, answer)
            return answer

    async def unsent(self, owner: str, read: Callable[[], Awaitable[Response]], what: str = "text") -> Response:
        """Like `compute`, but without a thread. Reads one response per owner and `what` at a time."""
        async with self._reading[owner, what]:
            self._refuse_unread(owner)
            response = await read()
            self._count(owner, response)
            return response

    def _refuse_unread(self, owner: str) -> None:
        if self._n_unsent[owner] >= MOST_UNSENT:
            said = f"{self._n_unsent[owner] / 1e6:.0f} MB of earlier responses are unread; read them first"
            raise RequestRefusal(429, "too_many_requests", said, headers={"Retry-After": str(RETRY_AFTER_S)})

    def _count(self, owner: str, response: Response) -> None:
        """Counts the response's bytes, which stay in memory until they are sent."""
        self._n_unsent[owner] += len(response.body)
        finalize(response, self._n_unsent.subtract, {owner: len(response.body)})

    def begin_stop(self) -> None:
        self._is_stopping = True

    def stop(self) -> None:
        """Rejects all callers that are still waiting. Does not wait for threads, which have nothing to save."""
        self.begin_stop()
        self._stopped.set()
        self._threads.shutdown(wait=False, cancel_futures=True)
