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
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
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
Json = Mapping[str, Any]
Outcome = tuple[int, Any]
"""Status and body of the answer to one request."""

FILE = "batches.jsonl"
"""Name of the file in a run directory."""
DAY_S, CLOCKS_DIFFER_S = 24 * 3600.0, 300.0
CALL_S = 600.0
"""Seconds for an upload, a download or a look at a batch."""
LONGEST_INTERVAL = 30
"""How many times the first interval between two looks at a batch the longest is."""
NO_INTERFACE = frozenset({404, 405, 501})
_OF_ONE_REQUEST = frozenset(
    {"host", "content-length", "content-type", "accept", "accept-encoding", "connection", "idempotency-key"}
)
"""Headers that a request to a model does not share with those about batches."""
_STATUS = {"batch_expired": 503, "expired": 503, "batch_cancelled": 410, "canceled": 410}
"""Status of a request that has none, by the provider's word. What the user cancelled is not tried again."""
_STATUS |= {"invalid_request_error": 400, "authentication_error": 401, "permission_error": 403, "not_found_error": 404}
_STATUS |= {"request_too_large": 413, "rate_limit_error": 429, "overloaded_error": 529}
TOO_MUCH = "token_limit_exceeded"


@dataclass(frozen=True)
class Progress:
    """How far a batch is."""

    state: str
    n_done: int
    is_over: bool
    results: tuple[str, ...]
    """Paths of its results."""
    refused: Json | None = None
    """The error for which the provider refused all of it."""

    @property
    def missing(self) -> Outcome:
        """What became of a request that is not among the results."""
        return 410 if self.state == "cancelled" else 503, {"error": {"message": f"no answer: the batch {self.state}"}}


class OpenAIBatches:
    """https://platform.openai.com/docs/api-reference/batch, at the address and with the credentials of a request.

    All methods that ask raise ToolError.
    """

    most_requests, most_bytes, place = 50_000, 200_000_000, "/batches"

    def __init__(self, server: str, client: httpx2.AsyncClient, request: httpx2.Request, endpoint: str) -> None:
        """`server` is what messages call it; `endpoint` is the end of the request's path."""
        self.server, self._client, self._endpoint = server, client, f"/v1{endpoint}"
        self._base = str(request.url.copy_with(query=None)).removesuffix(endpoint)
        self._headers = {name: value for name, value in request.headers.items() if name not in _OF_ONE_REQUEST}
        self.key = (self._base, endpoint, server, request.headers.get("anthropic-beta", ""))
        """Equal for requests that may share a batch."""

    def line(self, name: str, body: Json) -> bytes:
        return _json({"custom_id": name, "method": "POST", "url": self._endpoint, "body": body})

    async def submit(self, lines: Collection[bytes], mark: str) -> str:
        """The id of a new batch, which costs money."""
        content = (f"{mark}.jsonl", b"\n".join(lines), "application/jsonl")
        file = await self._json("POST", "/files", files={"file": content}, data={"purpose": "batch"})
        asked = {"input_file_id": _id(file), "endpoint": self._endpoint, "completion_window": "24h"}
        return _id(await self._json("POST", self.place, json={**asked, "metadata": {"factloop": mark}}))

    async def find(self, batch: _Batch) -> str | None:
        """The id of a batch that may have been submitted."""
        listed = (await self._json("GET", self.place, params={"limit": 100})).get("data") or ()
        return next((_id(one) for one in listed if self._is(one, batch)), None)

    def _is(self, one: Json, batch: _Batch) -> bool:
        return (one.get("metadata") or {}).get("factloop") == batch.mark

    async def look(self, batch: str) -> Progress:
        found = await self._json("GET", f"{self.place}/{batch}")
        state, counts = str(found.get("status")), found.get("request_counts") or {}
        files = [found[name] for name in ("output_file_id", "error_file_id") if found.get(name)]
        return Progress(
            state,
            int(counts.get("completed") or 0) + int(counts.get("failed") or 0),
            state in ("completed", "failed", "expired", "cancelled"),
            tuple(f"/files/{quote(file, safe='')}/content" for file in files),
            next(iter((found.get("errors") or {}).get("data") or [{}])) if state == "failed" else None,
        )

    def outcome(self, line: Json) -> Outcome:
        """The answer in a line of the results. Raises KeyError, TypeError, AttributeError where it is none."""
        if line.get("response") is not None:
            return int(line["response"]["status_code"]), line["response"]["body"]
        return _STATUS.get(line["error"].get("code"), 500), {"error": line["error"]}

    async def outcomes(self, found: Progress) -> list[tuple[str, Outcome]]:
        """The answers by name, in any order."""
        lines = [line for path in found.results for line in (await self._ask("GET", path)).content.split(b"\n")]
        outcomes: list[tuple[str, Outcome]] = []
        for line in _objects(lines):
            try:
                status, body = self.outcome(line)
                error = (body.get("error") or {}) if status == 429 else {}
                # The limiter would take it for a lesson on the rate of live requests.
                passes = status == 429 and error.get("code") not in NO_MONEY_CODES
                outcomes.append((str(line["custom_id"]), (503 if passes else status, body)))
            except (KeyError, TypeError, AttributeError):  # then the request has no answer
                continue
        return outcomes

    async def _json(self, method: str, path: str, **options: Any) -> Json:
        return next(_objects([(await self._ask(method, path, **options)).content]), {})

    async def _ask(self, method: str, path: str, kind: str = "", **options: Any) -> httpx2.Response:
        """The answer; `kind` is the type of what is sent, where httpx cannot tell."""
        headers = {**self._headers, **({"content-type": kind} if kind else {})}
        try:
            answer = await self._client.request(method, self._base + path, headers=headers, timeout=CALL_S, **options)
        except httpx2.HTTPError as error:
            said = f"{self.server}: {path}: {type(error).__name__} {error}"
            raise ToolError(said[:LONGEST_SAID], tool=self.server, retryable=True) from error
        if (status := answer.status_code) < 400:
            return answer
        said = without_keys(" ".join(answer.text.split()), answer)[:LONGEST_SAID]
        raise ToolError(
            f"{self.server}: HTTP {status} at {path}: {said}",
            tool=self.server,
            status=status,
            retry_after_s=asked_wait_s(answer.headers),
            retryable=status in RETRYABLE_STATUS,
        )


class AnthropicBatches(OpenAIBatches):
    """https://docs.claude.com/en/api/creating-message-batches."""

    most_requests, most_bytes, place = 100_000, 256_000_000, "/messages/batches"

    def line(self, name: str, body: Json) -> bytes:
        return _json({"custom_id": name, "params": body})

    async def submit(self, lines: Collection[bytes], mark: str) -> str:  # noqa: ARG002 - it takes none
        content = b'{"requests":[' + b",".join(lines) + b"]}"
        return _id(await self._json("POST", self.place, kind="application/json", content=content))

    def _is(self, one: Json, batch: _Batch) -> bool:
        """By size and time: if it is another's, it holds none of our names, and nothing is lost."""
        earliest = datetime.fromtimestamp(batch.since - CLOCKS_DIFFER_S, UTC).isoformat()
        counts = one.get("request_counts") or {}
        return sum(counts.values()) == len(batch.names) and str(one.get("created_at")) >= earliest

    async def look(self, batch: str) -> Progress:
        found = await self._json("GET", f"{self.place}/{batch}")
        state, counts = str(found.get("processing_status")), found.get("request_counts") or {}
        n_done = sum(counts.values()) - counts.get("processing", 0)
        return Progress(state, n_done, state == "ended", (f"{self.place}/{batch}/results",))

    def outcome(self, line: Json) -> Outcome:
        result = line["result"]
        if result["type"] == "succeeded":
            return 200, result["message"]
        kind = result["type"]
        error = result.get("error") or {"error": {"type": kind, "message": f"the request is {kind}"}}
        return _STATUS.get(error["error"]["type"], 500), error


PROVIDERS = {"/chat/completions": OpenAIBatches, "/responses": OpenAIBatches, "/messages": AnthropicBatches}
"""The interface by the end of the path of a request to a model."""


@dataclass(eq=False)
class _Batch:
    """A batch that was submitted, or is about to be."""

    mark: str
    names: Collection[str]
    since: float
    """When it was submitted, in seconds since 1970."""
    id: str | None = None
    lines: dict[str, bytes] = field(default_factory=dict)
    """Its requests; none where an earlier process submitted them."""
    waiting: set[str] = field(default_factory=set)
    """Names of the requests that are to be answered."""
    n_done: int = 0
    key: tuple[str, ...] = ()
    """That of its provider, while it is under way."""
    is_alone: bool = True
    """Whether no other batch of its provider has been under way beside it."""
    work: asyncio.Task[None] | None = None


@dataclass(eq=False)
class _Queue:
    """Requests that wait for a batch."""

    provider: OpenAIBatches
    most: int
    lines: dict[str, bytes] = field(default_factory=dict)
    one_by_one: bool = False
    """Whether a batch waits for all before: the provider refuses more at a time."""
    work: asyncio.Task[None] | None = None

    def first(self) -> dict[str, bytes]:
        """As many of them as one batch may have."""
        taken: dict[str, bytes] = {}
        n_bytes = 0
        for name, line in self.lines.items():
            n_bytes += len(line) + 1
            if taken and (len(taken) >= self.most or n_bytes > self.provider.most_bytes):
                break
            taken[name] = line
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
        """The batches that hold an answer, by the name of its request."""

    def over(self, chat: ChatModel, scope: str = "") -> ChatModel:
        """The model, asked in batches. Equal requests are one within a scope. Raises ConfigError where it has none."""
        model: Any = chat.model
        client = getattr(model, "root_async_client", None) or getattr(model, "_async_client", None)
        if client is None:
            raise ConfigError(f"{chat.name}: its provider has no known batch interface; run it without --batch")
        connection = _Connection(self, chat.name, scope, client._client)  # the one that knows proxies and certificates
        own = client.with_options(http_client=httpx2.AsyncClient(transport=connection), max_retries=0)
        if hasattr(model, "root_async_client"):
            return replace(chat, model=asking_by(model, own))
        model = model.model_copy()
        model.__dict__["_async_client"] = own  # a cached property of LangChain's class for Anthropic
        return replace(chat, model=model)

    async def ask(self, provider: OpenAIBatches, scope: str, body: Json) -> Outcome:
        """The answer to one request, which waits for its batch. Raises ConfigError, ToolError."""
        said = json.dumps([scope, *provider.key, body], sort_keys=True)
        name = hashlib.sha256(said.encode()).hexdigest()
        while True:
            self._n_asked += 1
            if (future := self._futures.get(name)) is None:
                future = self._futures[name] = asyncio.get_running_loop().create_future()
                self._wait(provider, name, body)
            if (outcome := await asyncio.shield(future)) is not None:
                return outcome

    def _wait(self, provider: OpenAIBatches, name: str, body: Json) -> None:
        batch = self._remembered.pop(name, None)
        if batch is None:
            queue = self._queues.setdefault(provider.key, _Queue(provider, provider.most_requests))
            queue.provider = provider  # the client of an earlier one may be closed
            self._put(queue, {name: provider.line(name, body)})
            return
        batch.waiting.add(name)
        if batch.work is None or batch.work.done():
            self._follow(provider, batch)

    def _put(self, queue: _Queue, lines: Mapping[str, bytes]) -> None:
        queue.lines.update(lines)
        if queue.work is None or queue.work.done():
            queue.work = asyncio.create_task(self._submitting(queue))

    def _follow(self, provider: OpenAIBatches, batch: _Batch) -> None:
        batch.key, others = provider.key, self._beside(provider.key)
        batch.is_alone = not others
        for one in others:
            one.is_alone = False
        self._under_way.add(batch)
        batch.work = asyncio.create_task(self._followed(provider, batch))

    def _beside(self, key: tuple[str, ...]) -> list[_Batch]:
        """The batches of a provider that are under way."""
        return [one for one in self._under_way if one.key == key]

    async def _submitting(self, queue: _Queue) -> None:
        while queue.lines:
            while queue.one_by_one and (before := self._beside(queue.provider.key)):
                await asyncio.wait([one.work for one in before if one.work is not None])
            await self._calm(queue)
            lines = queue.first()
            queue.lines = {name: line for name, line in queue.lines.items() if name not in lines}
            batch = _Batch(uuid4().hex, tuple(lines), time.time(), lines=lines, waiting=set(lines))
            self._follow(queue.provider, batch)

    async def _calm(self, queue: _Queue | None = None) -> None:
        """Waits until no request has come for a while: by turns of the loop, since while it is busy none can come."""
        n_turns = 0
        while n_turns < 10 and (queue is None or len(queue.first()) == len(queue.lines)):
            before = self._n_asked
            await asyncio.sleep(self._after_s / 10.0)
            n_turns = n_turns + 1 if self._n_asked == before else 0

    async def _followed(self, provider: OpenAIBatches, batch: _Batch) -> None:
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

    async def _submitted(self, provider: OpenAIBatches, batch: _Batch) -> str | None:
        """The id of the batch; None for one that an earlier process was about to submit, and did not."""
        may_be_there = not batch.lines
        if batch.lines:
            self._write({"mark": batch.mark, "names": batch.names, "since": batch.since})

        async def submit() -> str | None:
            nonlocal may_be_there
            found = await provider.find(batch) if may_be_there else None
            may_be_there = True  # an error does not tell whether it was taken
            return await provider.submit(batch.lines.values(), batch.mark) if found is None and batch.lines else found

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

    async def _brought(self, provider: OpenAIBatches, batch: _Batch) -> None:
        """The answers of a batch, once it is over, for those who wait for it by then."""
        found = await self._over(provider, batch)
        if found is not None and found.refused is not None and batch.lines:
            self._refused(provider, batch, found.refused)
        waiting = set(batch.waiting)
        outcomes = [] if found is None else await self._patiently(partial(provider.outcomes, found))
        for name, outcome in outcomes:
            if name in waiting & batch.waiting:  # what failed for a passing reason in an earlier process is put again
                self._answer(batch, name, outcome if batch.lines or outcome[0] not in RETRYABLE_STATUS else None)
        for name in waiting & batch.waiting:
            self._answer(batch, name, found.missing if found is not None and batch.lines else None)

    def _refused(self, provider: OpenAIBatches, batch: _Batch, error: Json) -> None:
        """Puts the requests again, if they are too many, for batches one after the other.

        These are half as large, unless another batch may be what filled the provider's queue.
        """
        if error.get("code") != TOO_MUCH or (batch.is_alone and len(batch.names) == 1):
            said = str(error.get("message") or error.get("code"))[:LONGEST_SAID]
            raise ConfigError(f"{provider.server}: the provider refused the batch: {said}")
        queue = self._queues[provider.key]
        queue.one_by_one = True
        if batch.is_alone:
            queue.most = len(batch.names) // 2
        batch.waiting.clear()
        self._put(queue, batch.lines)

    async def _over(self, provider: OpenAIBatches, batch: _Batch) -> Progress | None:
        """The progress of a batch that is over; None where there is no such batch (any more)."""
        interval_s = self._after_s
        while batch.id is not None:
            try:
                found = await self._patiently(partial(provider.look, batch.id))
            except ToolError as error:
                if error.status not in NO_INTERFACE:
                    raise
                return None
            if found.is_over:
                return found
            batch.n_done = found.n_done
            all_ = self._under_way
            tell(
                ServerWait(
                    server=provider.server,
                    waited_s=max(0.0, time.time() - min(one.since for one in all_)),
                    patience_s=DAY_S,
                    cause=f"{found.state}, {sum(one.n_done for one in all_):,} answered",
                    n_requests=sum(len(one.names) for one in all_),
                )
            )
            await asyncio.sleep(interval_s)
            interval_s = self._longer(interval_s)
        return None

    async def _patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        """The result of a call to a provider, which is asked again as long as patience with it lasts."""
        interval_s, failing_since = self._after_s, None
        while True:
            try:
                return await call()
            except ToolError as error:
                failing_since = failing_since or time.monotonic()
                if not error.retryable or time.monotonic() - failing_since > self._patience_s:
                    error.retryable = False
                    raise
                await asyncio.sleep(max(interval_s, min(error.retry_after_s or 0.0, self._patience_s)))
            interval_s = self._longer(interval_s)

    def _longer(self, interval_s: float) -> float:
        return min(1.5 * interval_s, LONGEST_INTERVAL * self._after_s)

    def _answer(self, batch: _Batch, name: str, outcome: Outcome | Exception | None) -> None:
        """Gives a request its answer; None has it put again."""
        batch.waiting.discard(name)
        future = self._futures.pop(name)
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
            future.exception()  # marks it as seen: the one who asked may be gone
        else:
            future.set_result(outcome)

    def _read(self) -> dict[str, _Batch]:
        """The batches of earlier processes, by the names of their requests: of two the later one."""
        batches: dict[str, _Batch] = {}
        try:
            for entry in _objects(self._path.read_bytes().split(b"\n")) if self._path.exists() else ():
                if "names" in entry:
                    batches[entry["mark"]] = _Batch(entry["mark"], entry["names"], entry["since"])
                else:
                    batches[entry["mark"]].id = entry["id"]
        except (OSError, KeyError) as error:
            raise ConfigError(f"{self._path}: cannot be read; name another run directory ({error})") from error
        return {name: batch for batch in batches.values() for name in batch.names}

    def _write(self, entry: Json) -> None:
        """Adds a line, which begins with an end: the line before may be cut off."""
        try:
            with open(self._path, "ab", opener=open_private) as file:
                file.write(b"\n" + _json(entry))
        except OSError as error:
            raise ConfigError(f"{self._path}: cannot be written ({error.strerror})") from error

    async def aclose(self) -> None:
        """Lets go of the batches under way, which the provider works on all the same."""
        works = [one.work for one in self._queues.values()] + [one.work for one in self._under_way]
        for work in (under_way := [work for work in works if work is not None]):
            work.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


class _Connection(httpx2.AsyncBaseTransport):
    """The connection of a model's client that puts each request into a batch."""

    def __init__(self, batches: Batches, server: str, scope: str, client: httpx2.AsyncClient) -> None:
        self._batches, self._server, self._scope, self._client = batches, server, scope, client

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body, path = json.loads(await request.aread()), request.url.path
        endpoint = next((end for end in PROVIDERS if path.endswith(end)), None)
        if endpoint is None or "/deployments/" in path or body.get("stream"):
            raise ConfigError(f"{self._server}: {path} cannot be asked in batches; run it without --batch")
        provider = PROVIDERS[endpoint](self._server, self._client, request, endpoint)
        status, answer = await self._batches.ask(provider, self._scope, body)
        return httpx2.Response(status, json=answer, request=request)


def _json(value: Json) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _objects(lines: Collection[bytes]) -> Iterator[Json]:
    """The lines as JSON objects, without those that are none: a kill or a broken connection cuts them off."""
    for line in lines:
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield found


def _id(found: Json) -> str:
    """Raises ToolError where there is none."""
    if not isinstance(name := found.get("id"), str) or not name:
        raise ToolError("the provider names no id of a batch", tool="batches")
    return quote(name, safe="")
