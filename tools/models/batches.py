"""Sends requests through a provider's batch interface, at half the price. Answers arrive within a day.

The model's own client builds each request and reads each answer, as in a live call. Only the connection below it is
replaced. The new connection collects requests until none arrive for a while, submits them as a batch, polls the batch,
and returns each request's line of the results. A failed line raises the same error as a failed live call.

Submitted batches are recorded in a file next to the run's answers, so that a restarted run fetches their results
instead of submitting them again.
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

DAY_S, CLOCKS_DIFFER_S = 24 * 3600.0, 300.0
CALL_S = 600.0
"""Timeout in seconds for an upload, a download or a poll."""
LONGEST_INTERVAL = 30
"""The longest polling interval, as a multiple of the first."""
NO_INTERFACE = frozenset({404, 405, 501})
_OF_ONE_REQUEST = frozenset(
    {"host", "content-length", "content-type", "accept", "accept-encoding", "connection", "idempotency-key"}
)
_STATUS = {"batch_expired": 503, "expired": 503, "batch_cancelled": 410, "canceled": 410}
"""Maps a provider's error code to a status, for answers without one. Requests that a user cancelled are not retried."""
_STATUS |= {"invalid_request_error": 400, "authentication_error": 401, "permission_error": 403, "not_found_error": 404}
_STATUS |= {"request_too_large": 413, "rate_limit_error": 429, "overloaded_error": 529}
TOO_MUCH = "token_limit_exceeded"


@dataclass(frozen=True)
class Progress:
    state: str
    n_done: int
    is_over: bool
    results: tuple[str, ...]
    refused: Json | None = None

    @property
    def missing(self) -> Outcome:
        return 410 if self.state == "cancelled" else 503, {"error": {"message": f"no answer: the batch {self.state}"}}


class OpenAIBatches:
    """OpenAI's batch API (https://platform.openai.com/docs/api-reference/batch), with a request's URL and credentials.

    All methods that send requests may raise ToolError.
    """

    most_requests, most_bytes, place = 50_000, 200_000_000, "/batches"

    def __init__(self, server: str, client: httpx2.AsyncClient, request: httpx2.Request, endpoint: str) -> None:
        """`server` is the server's name in messages, and `endpoint` is the end of the request's path."""
        self.server, self._client, self._endpoint = server, client, f"/v1{endpoint}"
        self._base = str(request.url.copy_with(query=None)).removesuffix(endpoint)
        self._headers = {name: value for name, value in request.headers.items() if name not in _OF_ONE_REQUEST}
        self.key = (self._base, endpoint, server, request.headers.get("anthropic-beta", ""))
        """Only requests with the same key may share a batch."""

    def line(self, name: str, body: Json) -> bytes:
        return _json({"custom_id": name, "method": "POST", "url": self._endpoint, "body": body})

    async def submit(self, lines: Collection[bytes], mark: str) -> str:
        content = (f"{mark}.jsonl", b"\n".join(lines), "application/jsonl")
        file = await self._json("POST", "/files", files={"file": content}, data={"purpose": "batch"})
        asked = {"input_file_id": _id(file), "endpoint": self._endpoint, "completion_window": "24h"}
        return _id(await self._json("POST", self.place, json={**asked, "metadata": {"factloop": mark}}))

    async def find(self, batch: _Batch) -> str | None:
        """Returns the id of a batch that may have been submitted, or None if it was not."""
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
        """Returns the answer in a line of results. Raises KeyError, TypeError or AttributeError if it has none."""
        if line.get("response") is not None:
            return int(line["response"]["status_code"]), line["response"]["body"]
        return _STATUS.get(line["error"].get("code"), 500), {"error": line["error"]}

    async def outcomes(self, found: Progress) -> list[tuple[str, Outcome]]:
        """Downloads the answers, each with the name of its request, in no particular order."""
        lines = [line for path in found.results for line in (await self._ask("GET", path)).content.split(b"\n")]
        outcomes: list[tuple[str, Outcome]] = []
        for line in _objects(lines):
            try:
                status, body = self.outcome(line)
                error = (body.get("error") or {}) if status == 429 else {}
                # With status 429, the limiter would slow down live requests.
                passes = status == 429 and error.get("code") not in NO_MONEY_CODES
                outcomes.append((str(line["custom_id"]), (503 if passes else status, body)))
            except (KeyError, TypeError, AttributeError):  # this request gets no answer
                continue
        return outcomes

    async def _json(self, method: str, path: str, **options: Any) -> Json:
        return next(_objects([(await self._ask(method, path, **options)).content]), {})

    async def _ask(self, method: str, path: str, kind: str = "", **options: Any) -> httpx2.Response:
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
    """Anthropic's batch API (https://docs.claude.com/en/api/creating-message-batches)."""

    most_requests, most_bytes, place = 100_000, 256_000_000, "/messages/batches"

    def line(self, name: str, body: Json) -> bytes:
        return _json({"custom_id": name, "params": body})

    async def submit(self, lines: Collection[bytes], mark: str) -> str:  # noqa: ARG002 - this API has no marks
        content = b'{"requests":[' + b",".join(lines) + b"]}"
        return _id(await self._json("POST", self.place, kind="application/json", content=content))

    def _is(self, one: Json, batch: _Batch) -> bool:
        """Compares size and time. Another user's batch may match, but contains none of our names."""
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
"""Maps the end of a model request's path to the batch interface."""


@dataclass(eq=False)
class _Batch:
    mark: str
    names: Collection[str]
    since: float
    id: str | None = None
    lines: dict[str, bytes] = field(default_factory=dict)
    """The requests, or none if an earlier process submitted them."""
    waiting: set[str] = field(default_factory=set)
    n_done: int = 0
    key: tuple[str, ...] = ()
    is_alone: bool = True
    work: asyncio.Task[None] | None = None


@dataclass(eq=False)
class _Queue:
    provider: OpenAIBatches
    most: int
    lines: dict[str, bytes] = field(default_factory=dict)
    one_by_one: bool = False
    """Whether each batch waits for all earlier ones, because the provider accepts only one at a time."""
    work: asyncio.Task[None] | None = None

    def first(self) -> dict[str, bytes]:
        taken: dict[str, bytes] = {}
        n_bytes = 0
        for name, line in self.lines.items():
            n_bytes += len(line) + 1
            if taken and (len(taken) >= self.most or n_bytes > self.provider.most_bytes):
                break
            taken[name] = line
        return taken


class Batches:
    """The batches of one run. The object is bound to one event loop."""

    def __init__(self, path: Path, *, after_s: float, patience_s: float) -> None:
        """`path` is the file that records the batches. A batch is submitted when no request has arrived for `after_s`
        seconds. A provider that cannot be reached for `patience_s` seconds is not called again, and its batches wait
        for the next start.

        Raises ConfigError if the file cannot be read.
        """
        self._path, self._after_s, self._patience_s = path, after_s, patience_s
        self._futures: dict[str, asyncio.Future[Outcome | None]] = {}
        self._queues: dict[tuple[str, ...], _Queue] = {}
        self._under_way: set[_Batch] = set()
        self._n_asked = 0
        self._remembered = self._read()

    def over(self, chat: ChatModel, scope: str = "") -> ChatModel:
        """Returns the model, changed to send its requests in batches. Identical requests in a scope are sent once.

        Raises ConfigError if batching is unsupported.
        """
        model: Any = chat.model
        client = getattr(model, "root_async_client", None) or getattr(model, "_async_client", None)
        if client is None:
            raise ConfigError(f"{chat.name}: this provider does not support batches; run without `--batch`")
        connection = _Connection(self, chat.name, scope, client._client)  # has the right proxies and certificates
        own = client.with_options(http_client=httpx2.AsyncClient(transport=connection), max_retries=0)
        if hasattr(model, "root_async_client"):
            return replace(chat, model=asking_by(model, own))
        model = model.model_copy()
        model.__dict__["_async_client"] = own  # this is a cached property of LangChain's class for Anthropic
        return replace(chat, model=model)

    async def ask(self, provider: OpenAIBatches, scope: str, body: Json) -> Outcome:
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
            queue.provider = provider  # the client of the earlier provider may be closed
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
        """Counts turns of the event loop instead of seconds, because no requests can arrive while the loop is busy."""
        n_turns = 0
        while n_turns < 10 and (queue is None or len(queue.first()) == len(queue.lines)):
            before = self._n_asked
            await asyncio.sleep(self._after_s / 10.0)
            n_turns = n_turns + 1 if self._n_asked == before else 0

    async def _followed(self, provider: OpenAIBatches, batch: _Batch) -> None:
        try:
            if not batch.lines:
                await self._calm()  # the other requests of this batch are about to be repeated
            if batch.id is None:
                batch.id = await self._submitted(provider, batch)
            while batch.waiting:
                await self._brought(provider, batch)
        except Exception as error:  # noqa: BLE001 - raised to all waiting callers, whatever it is
            batch.lines = {}
            for name in tuple(batch.waiting):
                self._remembered[name] = batch  # the provider may still be working on it
                self._answer(batch, name, error)
        finally:
            self._under_way.discard(batch)

    async def _submitted(self, provider: OpenAIBatches, batch: _Batch) -> str | None:
        """Returns the id of the batch, or None if an earlier process was about to submit it but did not."""
        may_be_there = not batch.lines
        if batch.lines:
            self._write({"mark": batch.mark, "names": batch.names, "since": batch.since})

        async def submit() -> str | None:
            nonlocal may_be_there
            found = await provider.find(batch) if may_be_there else None
            may_be_there = True  # even if the call fails, the provider may have accepted the batch
            return await provider.submit(batch.lines.values(), batch.mark) if found is None and batch.lines else found

        try:
            found = await self._patiently(submit)
        except ToolError as error:
            if error.status is None or error.status in RETRYABLE_STATUS:
                raise
            lacks = "; the server may not support batches, so try again without `--batch`"
            raise ConfigError(f"{error}{lacks if error.status in NO_INTERFACE else ''}") from error
        if found is not None:
            self._write({"mark": batch.mark, "id": found})
        return found

    async def _brought(self, provider: OpenAIBatches, batch: _Batch) -> None:
        found = await self._over(provider, batch)
        if found is not None and found.refused is not None and batch.lines:
            self._refused(provider, batch, found.refused)
        waiting = set(batch.waiting)
        outcomes = [] if found is None else await self._patiently(partial(provider.outcomes, found))
        for name, outcome in outcomes:
            if name in waiting & batch.waiting:  # repeated after a temporary failure in an earlier process
                self._answer(batch, name, outcome if batch.lines or outcome[0] not in RETRYABLE_STATUS else None)
        for name in waiting & batch.waiting:
            self._answer(batch, name, found.missing if found is not None and batch.lines else None)

    def _refused(self, provider: OpenAIBatches, batch: _Batch, error: Json) -> None:
        """If there were too many requests, queues them again, to be sent one batch after another. Batches are halved
        unless another batch may have filled the provider's queue.
        """
        if error.get("code") != TOO_MUCH or (batch.is_alone and len(batch.names) == 1):
            said = str(error.get("message") or error.get("code"))[:LONGEST_SAID]
            raise ConfigError(f"{provider.server}: the provider rejected the batch: {said}")
        queue = self._queues[provider.key]
        queue.one_by_one = True
        if batch.is_alone:
            queue.most = len(batch.names) // 2
        batch.waiting.clear()
        self._put(queue, batch.lines)

    async def _over(self, provider: OpenAIBatches, batch: _Batch) -> Progress | None:
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
        batch.waiting.discard(name)
        future = self._futures.pop(name)
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
            future.exception()  # marks the error as retrieved, because the caller may be gone
        else:
            future.set_result(outcome)

    def _read(self) -> dict[str, _Batch]:
        """If two batches of earlier processes contain the same name, the later one counts."""
        batches: dict[str, _Batch] = {}
        try:
            for entry in _objects(self._path.read_bytes().split(b"\n")) if self._path.exists() else ():
                if "names" in entry:
                    names = [str(name) for name in entry["names"]]
                    batches[entry["mark"]] = _Batch(entry["mark"], names, float(entry["since"]))
                else:
                    batches[entry["mark"]].id = str(entry["id"])
        except (OSError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise ConfigError(f"cannot read {self._path} ({error}); use another run directory") from error
        return {name: batch for batch in batches.values() for name in batch.names}

    def _write(self, entry: Json) -> None:
        """Writes a newline first, because the previous line may have been cut off."""
        try:
            with open(self._path, "ab", opener=open_private) as file:
                file.write(b"\n" + _json(entry))
        except OSError as error:
            raise ConfigError(f"cannot write {self._path} ({error.strerror or error})") from error

    async def aclose(self) -> None:
        """Stops following the batches in progress, which the provider continues to process."""
        works = [one.work for one in self._queues.values()] + [one.work for one in self._under_way]
        for work in (under_way := [work for work in works if work is not None]):
            work.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


class _Connection(httpx2.AsyncBaseTransport):
    """The HTTP connection used by the model's client. Adds each request to a batch."""

    def __init__(self, batches: Batches, server: str, scope: str, client: httpx2.AsyncClient) -> None:
        self._batches, self._server, self._scope, self._client = batches, server, scope, client

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body, path = json.loads(await request.aread()), request.url.path
        endpoint = next((end for end in PROVIDERS if path.endswith(end)), None)
        if endpoint is None or "/deployments/" in path or body.get("stream"):
            raise ConfigError(f"{self._server}: {path} does not support batches; run without `--batch`")
        provider = PROVIDERS[endpoint](self._server, self._client, request, endpoint)
        status, answer = await self._batches.ask(provider, self._scope, body)
        return httpx2.Response(status, json=answer, request=request)


def _json(value: Json) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _objects(lines: Collection[bytes]) -> Iterator[Json]:
    for line in lines:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found


def _id(found: Json) -> str:
    if not isinstance(name := found.get("id"), str) or not name:
        raise ToolError("the provider returned no batch ID", tool="batches")
    return quote(name, safe="")
