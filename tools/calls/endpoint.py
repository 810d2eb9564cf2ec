"""A client for one free web service, with caching, rate limits, retries, and pauses while the service is down.

Paid services go through a gateway with a budget and a meter instead.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Literal

from pydantic import TypeAdapter

from factloop.core.errors import TOO_MANY_REQUESTS, ToolError
from factloop.tools.calls.cache import AnswersKept, MemoryAnswers
from factloop.tools.calls.json_client import JsonAnswer, JsonClient
from factloop.tools.calls.limiter import Limiter
from factloop.tools.calls.patience import Patience
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.calls.tape import Tape, TapeRequest
from factloop.tools.calls.together import SingleFlight
from factloop.tools.calls.urls import without_userinfo

RETRY = RetryPolicy(attempts=2, timeout_attempts=1, patience_s=30.0)
"""This policy is less patient than the one for models, because each of these services is only one source among several.
A server that accepts no request for 30 seconds is then tried only once a minute.
"""
CONCURRENCY = 4
ANY_FORM = TypeAdapter[Any](Any)


class Endpoint:
    """Sends requests to one URL, once for identical requests, even in a resumed run. It is bound to one event loop."""

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
    ) -> None:
        """Without `cache`, answers are stored in memory. A `tape` is consulted before the service is called."""
        self.tool, self.identity = tool, without_userinfo(url)
        self._client = JsonClient(tool=tool, base_url=url, timeout_s=timeout_s, headers=headers)
        self._cache, self._tape = cache or MemoryAnswers(), tape
        self._retry, self._rng = retry, random.Random(0)
        self._patience, self._limiter = Patience(tool, retry.patience_s), Limiter(concurrency=CONCURRENCY)
        self._flights: SingleFlight[Any] = SingleFlight()
        self._pool: ThreadPoolExecutor | None = None

    async def ask(
        self,
        method: Literal["GET", "POST"],
        fields: Mapping[str, str],
        read: Callable[[JsonAnswer], Any],
        form: TypeAdapter[Any] = ANY_FORM,
    ) -> Any:
        """Sends a request and returns the JSON value of type `form` that `read` extracts from the answer.

        `read` must raise ToolError if the answer has an unexpected shape. Failures are not cached. Raises ToolError or
        ToolTimeout if the request fails, and ConfigError if the cache fails.
        """
        request = json.dumps([self.tool, self.identity, method, sorted(fields.items())])
        key = hashlib.sha256(request.encode()).hexdigest()
        if (kept := await self._cache.aside(partial(self._cache.get, key, read=form.validate_python))) is not None:
            return kept.value

        async def fetch() -> Any:
            send = partial(self._fetch, method, fields, read)
            if self._tape is None:
                value = await send()
            else:
                shown = {"tool": self.tool, "fields": dict(fields)}
                asked = TapeRequest("web", [self.tool, method, sorted(fields.items())], shown)
                value, _ = await self._tape.take(asked, send, read=form.validate_python)
            await self._cache.aside(partial(self._cache.put, key, value))
            return value

        value, _ = await self._flights.do(key, fetch)
        return value

    async def aclose(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    async def _fetch(self, method: str, fields: Mapping[str, str], read: Callable[[JsonAnswer], Any]) -> Any:
        attempt = partial(self._attempt, method, fields, read)
        return await self._patience.wait_for(lambda: self._retry.run(attempt, self._rng))

    async def _attempt(self, method: str, fields: Mapping[str, str], read: Callable[[JsonAnswer], Any]) -> Any:
        async with self._limiter.slot() as ticket:
            with self._patience.asking():
                try:
                    return read(await self._exchange(method, fields))
                except ToolError as error:
                    if error.status == TOO_MANY_REQUESTS:
                        self._limiter.refused(ticket, error.retry_after_s)
                    raise

    async def _exchange(self, method: str, fields: Mapping[str, str]) -> JsonAnswer:
        call = self._client.get_answer if method == "GET" else self._client.post_form
        if self._pool is None:  # asyncio's own pool is small (six threads on two cores) and shared
            self._pool = ThreadPoolExecutor(CONCURRENCY, thread_name_prefix=self.tool)
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(call, "", fields))
