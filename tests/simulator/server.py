"""The simulator's HTTP side: chat completions, Serper, and a few addresses to watch and steer it by.

POST /v1/chat/completions   GET /v1/models      as OpenAI has them
POST /v1/files, /v1/batches, /v1/messages/batches, and what is read of them
POST /search                                    as Serper has it
GET /stats (?log=1)   GET /bodies (?stage=)   POST /reset   GET, POST /settings   GET /batches
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

from aiohttp import web
from pydantic import TypeAdapter, ValidationError

from tests.simulator import logprobs, protocol
from tests.simulator.batches import Batches
from tests.simulator.protocol import Json
from tests.simulator.provider import FOREVER_S, ModelReply, Provider, Refusal
from tests.simulator.recorder import Outcome, Recorder
from tests.simulator.settings import SEARCH, SimulatorSettings
from tests.simulator.world import World

HOST = "127.0.0.1"
LARGEST_BODY = 64 * 2**20
SETTINGS = TypeAdapter(SimulatorSettings)


class Server:
    """Handlers of one provider. A response takes far less than a millisecond of CPU: the client shares the cores."""

    def __init__(self, world: World, settings: SimulatorSettings) -> None:
        self._provider = Provider(world, settings)
        self._recorder = Recorder()
        self._changed = asyncio.Event()
        self._batches = Batches(lambda: self._provider.settings, self._line)

    def application(self) -> web.Application:
        app = web.Application(client_max_size=LARGEST_BODY)
        app.add_routes(
            [
                web.post("/v1/chat/completions", self._chat),
                web.get("/v1/models", self._models),
                web.post("/search", self._search),
                web.get("/stats", self._stats),
                web.get("/bodies", self._bodies),
                web.post("/reset", self._reset),
                web.get("/settings", self._show_settings),
                web.post("/settings", self._change_settings),
                web.get("/batches", self._made_batches),
                *self._batches.routes(),
            ]
        )
        return app

    def _line(self, raw: bytes) -> tuple[int, Json]:
        body = _json_object(raw)
        title, number = protocol.title_of(body), self._provider.next_number()
        with self._recorder.request(number, title, raw) as outcome:
            answer = self._provider.chat(number, body, self._provider.settings.api_key or "", title)
            outcome.fault = answer.fault
            if isinstance(answer, Refusal):
                outcome.status = answer.status
                return answer.status, answer.body
            outcome.paid_body, outcome.status = raw, 200
            outcome.prompt_tokens = protocol.prompt_tokens(body)
            outcome.completion_tokens = protocol.count_tokens(len(answer.message.said))
            logprobs = self._top_logprobs(body)
            return 200, protocol.completion(number, body["model"], answer.message, _usage(outcome), logprobs)

    async def _made_batches(self, _: web.Request) -> web.Response:
        return _json([made.names for made in self._batches.made])

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        self._recorder.live += 1
        try:
            body = _json_object(raw)
            title = protocol.title_of(body)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            said = f"The request body cannot be read: {type(error).__name__}."
            return _json(protocol.error(said, "invalid_request_error"), 400)
        number = self._provider.next_number()
        with self._recorder.request(number, title, raw) as outcome:
            key = request.headers.get("Authorization", "").removeprefix("Bearer ")
            answer = self._provider.chat(number, body, key, title)
            outcome.fault = answer.fault
            if isinstance(answer, Refusal):
                return _refused(answer, outcome)
            outcome.paid_body = raw
            outcome.prompt_tokens = protocol.prompt_tokens(body)
            outcome.completion_tokens = protocol.count_tokens(len(answer.message.said))
            if body.get("stream"):
                return await self._stream(request, number, body, answer, outcome)
            await self._pause(answer.delay_s + outcome.completion_tokens * self._provider.settings.token_latency_s)
            outcome.status = 200
            top_logprobs = self._top_logprobs(body)
            return _json(protocol.completion(number, body["model"], answer.message, _usage(outcome), top_logprobs))

    def _top_logprobs(self, body: Json) -> int | None:
        return logprobs.wanted(body) if self._provider.settings.gives_logprobs else None

    async def _stream(
        self, request: web.Request, number: int, body: Json, answer: ModelReply, outcome: Outcome
    ) -> web.StreamResponse:
        wants_usage = (body.get("stream_options") or {}).get("include_usage")
        usage = _usage(outcome) if wants_usage else None
        token_latency_s = self._provider.settings.token_latency_s
        await self._pause(answer.delay_s)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
        await response.prepare(request)
        chunks = protocol.chunks(number, body["model"], answer.message, usage, self._top_logprobs(body))
        for tokens, chunk in chunks:
            if tokens:
                await asyncio.sleep(tokens * token_latency_s)
            await response.write(f"data: {protocol.compact(chunk)}\n\n".encode())
        await response.write(b"data: [DONE]\n\n")
        outcome.status = 200
        return response

    async def _search(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        try:
            body = _json_object(raw)
        except ValueError:
            body = {}
        refused = self._provider.refused_search(body, request.headers.get("X-API-KEY", ""))
        if refused:
            return _json(refused.body, refused.status)
        number = self._provider.next_number()
        with self._recorder.request(number, SEARCH, raw) as outcome:
            answer = self._provider.search(number, body)
            outcome.fault = answer.fault
            if isinstance(answer, Refusal):
                return _refused(answer, outcome)
            outcome.paid_body = raw
            await self._pause(answer.delay_s)
            outcome.status = 200
            return web.Response(text=answer.body, content_type="application/json")

    async def _pause(self, delay_s: float) -> None:
        await (self._changed.wait() if delay_s == FOREVER_S else asyncio.sleep(delay_s))

    async def _models(self, _: web.Request) -> web.Response:
        settings = self._provider.settings
        names = dict.fromkeys((*settings.models, *settings.reads_by_words))
        return _json(
            {"object": "list", "data": [{"id": name, "object": "model", "owned_by": "nobody"} for name in names]}
        )

    async def _stats(self, request: web.Request) -> web.Response:
        return _json(self._recorder.snapshot(with_log="log" in request.query))

    async def _bodies(self, request: web.Request) -> web.Response:
        return _json(self._recorder.bodies(request.query.get("stage")))

    async def _reset(self, _: web.Request) -> web.Response:
        self._recorder.reset()
        self._batches.reset()
        return _json({})

    async def _show_settings(self, _: web.Request) -> web.Response:
        return _json(asdict(self._provider.settings))

    async def _change_settings(self, request: web.Request) -> web.Response:
        try:
            self._provider.settings = SETTINGS.validate_json(await request.read())
        except ValidationError as error:
            return web.Response(status=400, text=str(error))
        self._changed.set()
        self._changed = asyncio.Event()
        return _json(asdict(self._provider.settings))


@asynccontextmanager
async def serving(world: World, settings: SimulatorSettings, port: int = 0) -> AsyncIterator[int]:
    """Serves on loopback during the block and yields the port. A client that hangs up frees its slot."""
    app = Server(world, settings).application()
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, port, backlog=4096).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def _refused(answer: Refusal, outcome: Outcome) -> web.Response:
    outcome.status = answer.status
    return _json(answer.body, answer.status, answer.headers)


def _json_object(raw: bytes) -> dict[str, Any]:
    body = json.loads(raw)
    if not isinstance(body, dict):
        raise ValueError("not a JSON object")
    return body


def _usage(outcome: Outcome) -> Json:
    total = outcome.prompt_tokens + outcome.completion_tokens
    return {
        "prompt_tokens": outcome.prompt_tokens,
        "completion_tokens": outcome.completion_tokens,
        "total_tokens": total,
    }


def _json(value: object, status: int = 200, headers: Any = None) -> web.Response:
    return web.Response(text=protocol.compact(value), status=status, headers=headers, content_type="application/json")
