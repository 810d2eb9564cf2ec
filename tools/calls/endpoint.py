"""One web service that is asked for facts: cached, paced, retried, left alone while it is down. Identical
questions are asked once.

For services that cost nothing; those that cost go through a gateway with budget and meter.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Literal

from factloop.core.errors import TOO_MANY_REQUESTS, ToolError
from factloop.tools.calls.cache import AnswersKept, MemoryAnswers
from factloop.tools.calls.json_client import JsonAnswer, JsonClient
from factloop.tools.calls.limiter import Limiter
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.calls.tape import Tape, TapeRequest
from factloop.tools.calls.together import SingleFlight
from factloop.tools.calls.urls import without_userinfo

FAILURES = 3
REST_S = 60.0
_ABOUT_THE_REQUEST = frozenset({400, 413, 414, 422})
"""Statuses that blame this one request: a server that sends them is up and working."""


class Circuit:
    """Refuses at once after `failures` failures in a row; every `rest_s` seconds one request may try again.

    `clock` gives seconds.
    """

    def __init__(
        self,
        *,
        tool: str,
        failures: int = FAILURES,
        rest_s: float = REST_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tool, self._limit, self._rest_s, self._clock = tool, failures, rest_s, clock
        self._failures = 0
        self._resting_until = -float("inf")
        self._why = ""

    def check(self) -> None:
        """Raises ToolError while the server is left alone."""
        if self._clock() < self._resting_until:
            raise ToolError(f"{self._tool}: not asked again for now ({self._why})", tool=self._tool)

    def admit(self) -> None:
        """Checks as `check`, for a request about to be sent: of those that come after a rest only the first may try."""
        self.check()
        if self._failures >= self._limit:
            self._resting_until = self._clock() + self._rest_s

    def succeeded(self) -> None:
        self._failures = 0
        self._resting_until = -float("inf")

    def failed(self, error: ToolError) -> None:
        """Counts a failure, unless it shows that the server is in order."""
        if error.status in _ABOUT_THE_REQUEST:
            self.succeeded()
            return
        self._failures += 1
        if self._failures >= self._limit:
            self.rest(error, self._rest_s)

    def rest(self, error: ToolError, seconds: float) -> None:
        """Leaves the server alone for so long, because of `error`."""
        self._why = str(error)
        self._resting_until = max(self._resting_until, self._clock() + seconds)


RETRY = RetryPolicy(attempts=2, timeout_attempts=1, patience_s=30.0)
"""Less patient than for models: these services are one source among several."""


class Endpoint:
    """Answers of one address, kept as long as the cache does: a resumed run gets what it got before. Lives in one event
    loop.
    """

    def __init__(
        self,
        *,
        tool: str,
        url: str,
        timeout_s: float,
        headers: Mapping[str, str] | None = None,
        cache: AnswersKept | None = None,
        tape: Tape | None = None,
        retry: RetryPolicy = RETRY,
        concurrency: int = 4,
        rng: random.Random | None = None,
    ) -> None:
        """Without `cache` answers are kept in memory. A `tape` is asked before the service.

        `rng` draws only how long retries wait.
        """
        self.tool, self.identity = tool, without_userinfo(url)
        self._client = JsonClient(tool=tool, base_url=url, timeout_s=timeout_s, headers=headers)
        self._cache, self._tape = cache or MemoryAnswers(), tape
        self._retry, self._rng = retry, rng or random.Random(0)
        self._circuit = Circuit(tool=tool)
        self._concurrency = concurrency
        self._places, self._limiter = asyncio.Semaphore(concurrency), Limiter()
        self._flights: SingleFlight[Any] = SingleFlight()
        self._pool: ThreadPoolExecutor | None = None

    async def ask(
        self, method: Literal["GET", "POST"], fields: Mapping[str, str], read: Callable[[JsonAnswer], Any]
    ) -> Any:
        """Asks with these fields; `read` takes a JSON value out of the answer, and raises ToolError on another shape.

        Raises ToolError, ToolTimeout; ConfigError where the cache fails. Failures are not kept.
        """
        request = json.dumps([self.tool, self.identity, method, sorted(fields.items())])
        key = hashlib.sha256(request.encode()).hexdigest()
        if (kept := await self._cache.aside(partial(self._cache.get, key))) is not None:
            return kept.value

        async def fetch() -> Any:
            value = await self._taken(method, fields, read)
            await self._cache.aside(partial(self._cache.put, key, value))
            return value

        value, _ = await self._flights.do(key, fetch)
        return value

    async def _taken(
        self, method: Literal["GET", "POST"], fields: Mapping[str, str], read: Callable[[JsonAnswer], Any]
    ) -> Any:
        if self._tape is None:
            return await self._fetch(method, fields, read)
        asked = TapeRequest(
            "web", [self.tool, method, sorted(fields.items())], {"tool": self.tool, "fields": dict(fields)}
        )
        value, _ = await self._tape.take(asked, lambda: self._fetch(method, fields, read), read=lambda _: None)
        return value

    async def aclose(self) -> None:
        """Lets its threads go. What is under way ends by its time-out."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    async def _fetch(self, method: str, fields: Mapping[str, str], read: Callable[[JsonAnswer], Any]) -> Any:
        try:
            return await self._retry.run(lambda: self._attempt(method, fields, read), self._rng)
        except ToolError as error:
            if error.status == TOO_MANY_REQUESTS:  # refusals on the way are pacing; one that ends the call is a failure
                self._circuit.failed(error)
            raise

    async def _attempt(self, method: str, fields: Mapping[str, str], read: Callable[[JsonAnswer], Any]) -> Any:
        # The circuit is looked at before the limiter, too: else every call would queue there only to be turned away.
        async with self._places:
            self._circuit.check()
            async with self._limiter.slot() as ticket:
                self._circuit.admit()
                try:
                    value = read(await self._exchange(method, fields))
                except ToolError as error:
                    if error.status == TOO_MANY_REQUESTS:
                        self._pause(partial(self._limiter.refused, ticket), error)
                    else:
                        self._circuit.failed(error)
                    raise
                self._circuit.succeeded()
                return value

    def _pause(self, slow_down: Callable[[float | None], None], error: ToolError) -> None:
        asked_s = error.retry_after_s
        if asked_s is not None and asked_s > self._retry.patience_s:
            self._circuit.rest(error, asked_s)
        else:
            slow_down(asked_s)

    async def _exchange(self, method: str, fields: Mapping[str, str]) -> JsonAnswer:
        call = self._client.get_answer if method == "GET" else self._client.post_form
        if self._pool is None:  # asyncio's own pool has six threads on two cores, and is shared with everything
            self._pool = ThreadPoolExecutor(self._concurrency, thread_name_prefix=self.tool)
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(call, "", fields))
