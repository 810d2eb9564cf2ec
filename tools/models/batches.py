"""Requests to a model by its provider's batch interface: at half the price, and answered within a day.

The model's own client builds each request and reads each answer, as in a live call; only the connection beneath it is
another. It collects requests until none has come for a while, submits them as one batch, asks from time to time how far
that is, and gives each request its line of the results: a failure there is the failure that it would have been live.

What was submitted stands in a file beside the run's answers. A run that was killed asks for the results of its batches
when it is started again, and submits nothing twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx2

from factloop.core.errors import ConfigError, ToolError
from factloop.core.events import ServerWait
from factloop.core.files.private import open_private
from factloop.tools.calls.patience import tell
from factloop.tools.models.chat import ChatModel, asking_by
from factloop.tools.models.failures import LONGEST_SAID, NO_MONEY_CODES, RETRYABLE_STATUS, asked_wait_s, without_keys

T = TypeVar("T")
Outcome = tuple[int, Any]
"""Status and body of one answer."""

FILE = "batches.jsonl"
"""Name of the file in a run directory."""
DAY_S = 24 * 3600.0
CALL_S = 600.0
"""Seconds for an upload, a download or a look at a batch."""
LONGEST_INTERVAL = 30
"""Times the first interval between two looks at a batch that the longest is: 5 minutes where the first is 10 s."""
CLOCKS_DIFFER_S = 300.0
NO_INTERFACE = frozenset({404, 405, 501})
_OF_ONE_REQUEST = frozenset(
    {"host", "content-length", "content-type", "accept", "accept-encoding", "connection", "idempotency-key"}
)
"""Headers that a request to a model does not share with those about batches."""
_STOPPED = "the batch was cancelled at the provider"


@dataclass(frozen=True)
class Progress:
    """How far a batch is."""

    state: str
    n_done: int
    is_over: bool
    files: tuple[str, ...] = ()
    """Paths of the results."""
    refused: str | None = None
    """Why the provider refused all of it."""
    is_too_much: bool = False
    """Whether it refused so many requests at a time."""
    missing: Outcome = (503, {"error": {"message": "the batch brought no answer"}})
    """What a request amounts to that is not among the results."""


class Provider(ABC):
    """A provider's batch interface, at the address and with the credentials of a request to its model."""

    most_requests: ClassVar[int]
    most_bytes: ClassVar[int]

    def __init__(self, server: str, client: httpx2.AsyncClient, request: httpx2.Request, endpoint: str) -> None:
        """`server` is what messages call it; `endpoint` is the end of the request's path."""
        self.server, self._client, self._endpoint = server, client, endpoint
        self._base = str(request.url.copy_with(query=None)).removesuffix(endpoint)
        self._headers = {name: value for name, value in request.headers.items() if name not in _OF_ONE_REQUEST}
        self.key = (self._base, endpoint, server, request.headers.get("anthropic-beta", ""))
        """Equal for requests that may share a batch."""

    @abstractmethod
    def line(self, name: str, body: Any) -> bytes:
        """A request as it stands in a batch."""

    @abstractmethod
    async def submit(self, lines: Iterable[bytes], mark: str) -> str:
        """The id of a new batch, which costs money. Raises ToolError."""

    @abstractmethod
    async def find(self, mark: str, n: int, since: float) -> str | None:
        """The id of the batch that was submitted with this mark, of `n` requests, after that time. Raises ToolError."""

    @abstractmethod
    async def look(self, batch: str) -> Progress:
        """Raises ToolError."""

    @abstractmethod
    def outcome(self, line: Any) -> Outcome:
        """The answer in a line of the results. Raises KeyError, TypeError, AttributeError where it is none."""

    async def outcomes(self, files: Iterable[str]) -> AsyncIterator[tuple[str, Outcome]]:
        """The answers by name, in any order. Raises ToolError."""
        for path in files:
            async with aclosing(self._lines(path)) as lines:
                async for line in lines:
                    try:
                        found = json.loads(line)
                        name, (status, body) = str(found["custom_id"]), self.outcome(found)
                    except (ValueError, KeyError, TypeError, AttributeError):  # then the request has no answer
                        continue
                    # The limiter would take a 429 for a lesson on the rate of live requests.
                    passes = status == 429 and not {_of(body, "code"), _of(body, "type")} & NO_MONEY_CODES
                    yield name, (503 if passes else status, body)

    async def _lines(self, path: str) -> AsyncGenerator[bytes, None]:
        rest = b""  # not `aiter_lines`, which also breaks lines where JSON does not
        try:
            async with self._client.stream("GET", self._base + path, headers=self._headers, timeout=CALL_S) as answer:
                if answer.status_code >= 400:
                    await answer.aread()
                    raise self._failure(answer, path)
                async for piece in answer.aiter_bytes():
                    *lines, rest = (rest + piece).split(b"\n")
                    for line in lines:
                        yield line
        except httpx2.HTTPError as error:
            raise self._broken(error) from error
        yield rest

    async def _call(self, method: str, path: str, kind: str | None = None, **options: Any) -> Any:
        """The answer as JSON; `kind` is the type of what is sent, where httpx cannot tell. Raises ToolError."""
        headers = self._headers if kind is None else {**self._headers, "content-type": kind}
        try:
            answer = await self._client.request(method, self._base + path, headers=headers, timeout=CALL_S, **options)
            if answer.status_code >= 400:
                raise self._failure(answer, path)
            found = answer.json()
        except (httpx2.HTTPError, ValueError) as error:
            raise self._broken(error) from error
        return found if isinstance(found, dict) else {}

    def _failure(self, answer: httpx2.Response, path: str) -> ToolError:
        said = without_keys(" ".join(answer.text.split()), answer)[:LONGEST_SAID]
        return ToolError(
            f"{self.server}: HTTP {answer.status_code} at {path.partition('?')[0]}: {said}",
            tool=self.server,
            status=answer.status_code,
            retry_after_s=asked_wait_s(answer.headers),
            retryable=answer.status_code in RETRYABLE_STATUS,
        )

    def _broken(self, error: Exception) -> ToolError:
        said = f"{type(error).__name__}: {error}"[:LONGEST_SAID]
        return ToolError(f"{self.server}: asked about a batch it failed ({said})", tool=self.server, retryable=True)

    def _id(self, found: Any) -> str:
        if not isinstance(name := found.get("id"), str) or not name:
            raise ToolError(f"{self.server}: its batch interface names no id", tool=self.server)
        return quote(name, safe="")


class OpenAIBatches(Provider):
    """https://platform.openai.com/docs/api-reference/batch, and servers that have it, too."""

    most_requests, most_bytes = 50_000, 200_000_000
    _OVER = frozenset({"completed", "failed", "expired", "cancelled"})

    def line(self, name: str, body: Any) -> bytes:
        return _json({"custom_id": name, "method": "POST", "url": f"/v1{self._endpoint}", "body": body})

    async def submit(self, lines: Iterable[bytes], mark: str) -> str:
        content = (f"{mark}.jsonl", b"\n".join(lines), "application/jsonl")
        file = await self._call("POST", "/files", files={"file": content}, data={"purpose": "batch"})
        asked = {"input_file_id": self._id(file), "endpoint": f"/v1{self._endpoint}", "completion_window": "24h"}
        return self._id(await self._call("POST", "/batches", json={**asked, "metadata": {"factloop": mark}}))

    async def find(self, mark: str, n: int, since: float) -> str | None:  # noqa: ARG002 - the mark is enough
        listed = (await self._call("GET", "/batches", params={"limit": 100})).get("data") or ()
        return next((self._id(one) for one in listed if _of(one, "factloop", within="metadata") == mark), None)

    async def look(self, batch: str) -> Progress:
        found = await self._call("GET", f"/batches/{batch}")
        state, counts = str(found.get("status")), found.get("request_counts") or {}
        (error, *_) = (found.get("errors") or {}).get("data") or [{}]
        files = (found.get(name) for name in ("output_file_id", "error_file_id"))
        missing = (410, {"error": {"message": _STOPPED}}) if state == "cancelled" else Progress.missing
        return Progress(
            state=state,
            n_done=int(counts.get("completed") or 0) + int(counts.get("failed") or 0),
            is_over=state in self._OVER,
            files=tuple(f"/files/{quote(str(file), safe='')}/content" for file in files if file),
            refused=str(error.get("message") or error.get("code")) if state == "failed" else None,
            is_too_much=error.get("code") == "token_limit_exceeded",
            missing=missing,
        )

    def outcome(self, line: Any) -> Outcome:
        if line.get("response") is not None:
            return int(line["response"]["status_code"]), line["response"]["body"]
        stopped = {"batch_expired": 503, "batch_cancelled": 410}
        return stopped.get(line["error"].get("code"), 500), {"error": line["error"]}


class AnthropicBatches(Provider):
    """https://docs.claude.com/en/api/creating-message-batches."""

    most_requests, most_bytes = 100_000, 256_000_000
    _STATUS: ClassVar = {
        "invalid_request_error": 400,
        "authentication_error": 401,
        "permission_error": 403,
        "not_found_error": 404,
        "request_too_large": 413,
        "rate_limit_error": 429,
        "overloaded_error": 529,
    }

    def line(self, name: str, body: Any) -> bytes:
        return _json({"custom_id": name, "params": body})

    async def submit(self, lines: Iterable[bytes], mark: str) -> str:  # noqa: ARG002 - it takes none
        content = b'{"requests":[' + b",".join(lines) + b"]}"
        return self._id(await self._call("POST", "/messages/batches", "application/json", content=content))

    async def find(self, mark: str, n: int, since: float) -> str | None:  # noqa: ARG002 - it keeps none
        """One of so many requests since then. If it is another's, it holds none of our names, and nothing is lost."""
        listed = (await self._call("GET", "/messages/batches", params={"limit": 100})).get("data") or ()
        earliest = since - CLOCKS_DIFFER_S
        ours = (one for one in listed if _total(one) == n and _moment(one.get("created_at")) >= earliest)
        return next(map(self._id, ours), None)

    async def look(self, batch: str) -> Progress:
        found = await self._call("GET", f"/messages/batches/{batch}")
        state, left = str(found.get("processing_status")), int(_of(found, "processing", within="request_counts") or 0)
        return Progress(state, _total(found) - left, state == "ended", (f"/messages/batches/{batch}/results",))

    def outcome(self, line: Any) -> Outcome:
        result = line["result"]
        if result["type"] == "succeeded":
            return 200, result["message"]
        if result["type"] == "errored":
            error = result["error"].get("error") or result["error"]
            return self._STATUS.get(error.get("type"), 500), {"type": "error", "error": error}
        stopped = result["type"] == "canceled"
        return 410 if stopped else 503, {"error": {"message": _STOPPED if stopped else f"the request {result['type']}"}}


PROVIDERS: dict[str, type[Provider]] = {
    "/chat/completions": OpenAIBatches,
    "/responses": OpenAIBatches,
    "/messages": AnthropicBatches,
}
"""The interface by the end of the path of a request to a model."""


@dataclass(eq=False)
class _Batch:
    """A batch that was submitted, or is about to be."""

    mark: str
    names: tuple[str, ...]
    since: float
    """When it was submitted, in seconds since 1970."""
    id: str | None = None
    lines: dict[str, bytes] = field(default_factory=dict)
    """Its requests; none where an earlier process submitted them."""
    waiting: set[str] = field(default_factory=set)
    """Names of the requests that are to be answered."""
    n_done: int = 0
    work: asyncio.Task[None] | None = None


@dataclass(eq=False)
class _Queue:
    """Requests that wait for a batch."""

    provider: Provider
    most: int
    lines: dict[str, bytes] = field(default_factory=dict)
    n_bytes: int = 0
    one_by_one: bool = False
    """Whether a batch waits for the one before: the provider refuses more at a time."""
    work: asyncio.Task[None] | None = None

    def put(self, name: str, line: bytes) -> None:
        self.lines[name] = line
        self.n_bytes += len(line) + 1

    @property
    def is_full(self) -> bool:
        return len(self.lines) >= self.most or self.n_bytes >= self.provider.most_bytes

    def take(self) -> dict[str, bytes]:
        """The first of them, as many as one batch may have."""
        taken: dict[str, bytes] = {}
        n_bytes = 0
        for name, line in self.lines.items():
            n_bytes += len(line) + 1
            if taken and (len(taken) >= self.most or n_bytes > self.provider.most_bytes):
                break
            taken[name] = line
        for name, line in taken.items():
            del self.lines[name]
            self.n_bytes -= len(line) + 1
        return taken


class Batches:
    """The batches of one run. Lives in one event loop."""

    def __init__(self, path: Path, *, after_s: float, patience_s: float) -> None:
        """`path` is the file that remembers them. A batch is submitted when no request has come for `after_s`; a
        provider that cannot be asked for `patience_s` is not asked further, and its batches are left to the next start.

        Raises ConfigError where the file cannot be read.
        """
        self._path, self._after_s, self._patience_s = path, after_s, patience_s
        self._futures: dict[str, asyncio.Future[Outcome | None]] = {}
        self._queues: dict[tuple[str, ...], _Queue] = {}
        self._under_way: set[_Batch] = set()
        self._n_asked = 0
        self._remembered = self._read()

    def over(self, chat: ChatModel, scope: str = "") -> ChatModel:
        """The model, asked in batches. Equal requests are one within a scope. Raises ConfigError where it has none."""
        model: Any = chat.model
        client = getattr(model, "root_async_client", None) or getattr(model, "_async_client", None)
        if client is None:
            raise ConfigError(f"{chat.name}: no batch interface is known of its provider; run it without --batch")
        connection = _Connection(self, chat.name, scope, client._client)  # the one that knows proxies and certificates
        own = client.with_options(http_client=httpx2.AsyncClient(transport=connection), max_retries=0)
        if hasattr(model, "root_async_client"):
            return replace(chat, model=asking_by(model, own))
        model = model.model_copy()
        model.__dict__["_async_client"] = own  # a cached property of LangChain's class for Anthropic
        return replace(chat, model=model)

    async def ask(self, provider: Provider, scope: str, body: Any) -> Outcome:
        """The answer to one request, which waits for its batch. Raises ConfigError, ToolError."""
        said = json.dumps([scope, *provider.key, body], sort_keys=True)
        name = hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()
        while True:
            self._n_asked += 1
            if (future := self._futures.get(name)) is None:
                future = self._futures[name] = asyncio.get_running_loop().create_future()
                self._wait(provider, name, body)
            outcome = await asyncio.shield(future)
            if outcome is not None:
                return outcome

    def _wait(self, provider: Provider, name: str, body: Any) -> None:
        batch = self._remembered.pop(name, None)
        if batch is not None:
            batch.waiting.add(name)
            if batch.work is None or batch.work.done():
                self._follow(provider, batch)
            return
        queue = self._queues.setdefault(provider.key, _Queue(provider, provider.most_requests))
        queue.provider = provider  # the client of an earlier one may be closed
        queue.put(name, provider.line(name, body))
        self._collect(queue)

    def _collect(self, queue: _Queue) -> None:
        if queue.work is None or queue.work.done():
            queue.work = asyncio.create_task(self._submitting(queue))

    async def _submitting(self, queue: _Queue) -> None:
        while queue.lines:
            await self._calm(queue)
            lines = queue.take()
            batch = _Batch(uuid4().hex, tuple(lines), time.time(), lines=lines, waiting=set(lines))
            work = self._follow(queue.provider, batch)
            if queue.one_by_one:
                await asyncio.wait([work])

    def _follow(self, provider: Provider, batch: _Batch) -> asyncio.Task[None]:
        self._under_way.add(batch)
        batch.work = asyncio.create_task(self._followed(provider, batch))
        return batch.work

    async def _calm(self, queue: _Queue | None = None) -> None:
        """Waits until no request has come for a while: by turns of the loop, since while it is busy none can come."""
        n_turns = 0
        while n_turns < 10 and not (queue is not None and queue.is_full):
            before = self._n_asked
            await asyncio.sleep(self._after_s / 10.0)
            n_turns = n_turns + 1 if self._n_asked == before else 0

    async def _followed(self, provider: Provider, batch: _Batch) -> None:
        """Sees a batch through to the answers of all that wait for it."""
        try:
            if not batch.lines:
                await self._calm()  # its other requests are about to be put again
            if batch.id is None:
                batch.id = await self._submitted(provider, batch)
            while batch.waiting:
                await self._brought(provider, batch)
        except Exception as error:  # noqa: BLE001 - told to all who wait, whatever it is
            batch.lines = {}
            for name in tuple(batch.waiting):
                self._remembered[name] = batch  # the provider may be at work on it
                self._answer(batch, name, error)
        finally:
            self._under_way.discard(batch)

    async def _brought(self, provider: Provider, batch: _Batch) -> None:
        """The answers of a batch, once it is over, for those who wait for it by then."""
        found = await self._over(provider, batch)
        lost: Outcome | None = None if not batch.lines else (503, {}) if found is None else found.missing
        if found is not None and found.refused is not None and batch.lines:
            if not found.is_too_much or len(batch.names) == 1:
                raise ConfigError(f"{provider.server}: the provider refused the batch: {found.refused[:LONGEST_SAID]}")
            self._put_back(provider, batch)
        waiting = set(batch.waiting)

        async def read() -> None:
            async for name, outcome in provider.outcomes(() if found is None else found.files):
                if name in waiting & batch.waiting:
                    may_pass = not batch.lines and outcome[0] in RETRYABLE_STATUS
                    self._answer(batch, name, None if may_pass else outcome)

        await self._patiently(read)
        for name in waiting & batch.waiting:
            self._answer(batch, name, lost)

    async def _submitted(self, provider: Provider, batch: _Batch) -> str | None:
        """The id of the batch; None for one that an earlier process was about to submit, and did not."""
        may_be_there = not batch.lines
        if batch.lines:
            self._write({"mark": batch.mark, "names": batch.names, "since": batch.since})

        async def submit() -> str | None:
            nonlocal may_be_there
            found = await provider.find(batch.mark, len(batch.names), batch.since) if may_be_there else None
            if found is None and batch.lines:
                may_be_there = True  # an error does not tell whether it was taken
                found = await provider.submit(batch.lines.values(), batch.mark)
            return found

        try:
            found = await self._patiently(submit)
        except ToolError as error:
            if error.status is None or error.status in RETRYABLE_STATUS:
                raise
            lacks = "; its server may have no batch interface: run without --batch"
            raise ConfigError(f"{error}{lacks if error.status in NO_INTERFACE else ''}") from error
        if found is not None:
            self._write({"mark": batch.mark, "id": found})
        return found

    async def _over(self, provider: Provider, batch: _Batch) -> Progress | None:
        """The progress of a batch that is over; None where there is no such batch (any more)."""
        if batch.id is None:
            return None
        interval_s = self._after_s
        while True:
            try:
                found = await self._patiently(partial(provider.look, batch.id))
            except ToolError as error:
                if error.status in NO_INTERFACE:
                    return None
                raise
            if found.is_over:
                return found
            batch.n_done = found.n_done
            self._tell(provider.server, found.state)
            await asyncio.sleep(interval_s)
            interval_s = min(1.5 * interval_s, LONGEST_INTERVAL * self._after_s)

    async def _patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        """The result of a call to a provider, which is asked again as long as patience with it lasts."""
        clock, interval_s = asyncio.get_running_loop().time, self._after_s
        failing_since: float | None = None
        while True:
            try:
                return await call()
            except ToolError as error:
                failing_since = clock() if failing_since is None else failing_since
                if not error.retryable or clock() - failing_since > self._patience_s:
                    error.retryable = False
                    raise
                await asyncio.sleep(max(interval_s, min(error.retry_after_s or 0.0, self._patience_s)))
            interval_s = min(1.5 * interval_s, LONGEST_INTERVAL * self._after_s)

    def _put_back(self, provider: Provider, batch: _Batch) -> None:
        """From now on batches of this provider are half as large, and come one after the other."""
        queue = self._queues[provider.key]
        queue.most, queue.one_by_one = max(1, len(batch.names) // 2), True
        for name in batch.names:
            queue.put(name, batch.lines[name])
        batch.waiting.clear()
        self._collect(queue)

    def _answer(self, batch: _Batch, name: str, outcome: Outcome | Exception | None) -> None:
        """Gives a request its answer; None has it put again."""
        batch.waiting.discard(name)
        future = self._futures.pop(name)
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
            future.exception()  # marks it as seen: the one who asked may be gone
        else:
            future.set_result(outcome)

    def _tell(self, server: str, state: str) -> None:
        batches = self._under_way
        tell(
            ServerWait(
                server=server,
                waited_s=max(0.0, time.time() - min(batch.since for batch in batches)),
                patience_s=DAY_S,
                cause=f"{state}, {sum(batch.n_done for batch in batches):,} answered",
                n_requests=sum(len(batch.names) for batch in batches),
            )
        )

    def _read(self) -> dict[str, _Batch]:
        """The batches of earlier processes, by the names of their requests: of two the later one."""
        batches: dict[str, _Batch] = {}
        try:
            lines = self._path.read_bytes().split(b"\n") if self._path.exists() else []
        except OSError as error:
            raise ConfigError(f"{self._path}: cannot be read ({error.strerror})") from error
        for entry in _entries(lines):
            if "names" in entry:
                batches[entry["mark"]] = _Batch(entry["mark"], tuple(entry["names"]), entry["since"])
            else:
                batches[entry["mark"]].id = entry["id"]
        return {name: batch for batch in batches.values() for name in batch.names}

    def _write(self, entry: Any) -> None:
        """Adds a line, which begins with an end: the line before may be cut off."""
        try:
            with open(self._path, "ab", opener=open_private) as file:
                file.write(b"\n" + _json(entry))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise ConfigError(f"{self._path}: cannot be written ({error.strerror})") from error

    async def aclose(self) -> None:
        """Lets go of the batches under way, which the provider works on all the same."""
        queues, batches = self._queues.values(), self._under_way
        works = [work for work in (*(one.work for one in queues), *(one.work for one in batches)) if work is not None]
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)


class _Connection(httpx2.AsyncBaseTransport):
    """The connection of a model's client that puts each request into a batch."""

    def __init__(self, batches: Batches, server: str, scope: str, client: httpx2.AsyncClient) -> None:
        self._batches, self._server, self._scope, self._client = batches, server, scope, client

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(await request.aread())
        endpoint = next((end for end in PROVIDERS if request.url.path.endswith(end)), None)
        if endpoint is None or "/deployments/" in request.url.path or body.get("stream"):
            said = f"{self._server}: what it is asked cannot be put into a batch ({request.url.path})"
            raise ConfigError(f"{said}; run it without --batch")
        provider = PROVIDERS[endpoint](self._server, self._client, request, endpoint)
        status, answer = await self._batches.ask(provider, self._scope, body)
        return httpx2.Response(status, json=answer, request=request)


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _entries(lines: Iterable[bytes]) -> Iterator[Any]:
    for line in lines:
        try:
            yield json.loads(line)
        except ValueError:  # cut off by a kill, or the start of the file
            continue


def _of(found: Any, name: str, *, within: str = "error") -> Any:
    """A field of an object within the one that was found; None where there is no such thing."""
    inner = found.get(within) if isinstance(found, dict) else None
    return inner.get(name) if isinstance(inner, dict) else None


def _total(found: Any) -> int:
    counts = found.get("request_counts")
    return sum(int(count) for count in counts.values()) if isinstance(counts, dict) else 0


def _moment(said: Any) -> float:
    try:
        return datetime.fromisoformat(said).timestamp()
    except (TypeError, ValueError):
        return 0.0
