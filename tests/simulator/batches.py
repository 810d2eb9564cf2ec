"""Batches as OpenAI and Anthropic have them; each line is answered like a live request."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from tests.simulator.protocol import Json, compact, text_of
from tests.simulator.settings import SimulatorSettings

Answer = Callable[[bytes], tuple[int, Json]]
"""Answers the body of a chat completion."""
KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    429: "rate_limit_error",
    500: "api_error",
}


@dataclass
class Batch:
    """Its lines are answered on submission and revealed over time."""

    number: int
    metadata: Json
    names: list[str]
    answers: list[tuple[int, Json] | None]
    """Status and body; None for a line that expires."""
    submitted: float = field(default_factory=time.time)
    n_looks: int = 0


class Batches:
    def __init__(self, settings: Callable[[], SimulatorSettings], answer: Answer) -> None:
        self._settings, self._answer = settings, answer
        self.reset()

    def reset(self) -> None:
        self._files: list[bytes] = []
        self.made: list[Batch] = []

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/v1/files", self._upload),
            web.get("/v1/files/{name}/content", self._content),
            web.post("/v1/batches", self._submit),
            web.get("/v1/batches", self._list),
            web.get("/v1/batches/{number}", self._look),
            web.post("/v1/messages/batches", self._submit),
            web.get("/v1/messages/batches", self._list),
            web.get("/v1/messages/batches/{number}", self._look),
            web.get("/v1/messages/batches/{number}/results", self._results),
        ]

    async def _upload(self, request: web.Request) -> web.Response:
        if not self._settings().has_batches:
            return web.Response(status=404, text="404: Not Found")
        fields = await request.post()
        file = fields["file"]
        assert fields["purpose"] == "batch"
        assert isinstance(file, web.FileField)
        self._files.append(file.file.read())
        return _json({"id": f"file-{len(self._files) - 1}", "object": "file"})

    async def _submit(self, request: web.Request) -> web.Response:
        settings, body = self._settings(), json.loads(await request.read())
        if not settings.has_batches:
            return web.Response(status=404, text="404: Not Found")
        if "requests" in body:
            lines = [(one["custom_id"], as_completion(one["params"])) for one in body["requests"]]
        else:
            assert (body["endpoint"], body["completion_window"]) == ("/v1/chat/completions", "24h")
            lines = list(_lines(self._files[int(body["input_file_id"].removeprefix("file-"))]))
        assert len({name for name, _ in lines}) == len(lines)
        assert all(len(name) <= 64 for name, _ in lines)
        begun = time.time() - settings.batch_s
        n_enqueued = len(lines) + sum(len(made.names) for made in self.made if made.answers and made.submitted > begun)
        too_many = settings.batch_most is not None and n_enqueued > settings.batch_most
        answers = [] if too_many else [self._one(settings, number, line) for number, (_, line) in enumerate(lines)]
        made = Batch(len(self.made), body.get("metadata", {}), [name for name, _ in lines], answers)
        self.made.append(made)
        if settings.batch_answers_lost:  # it is there, and the client does not hear of it
            assert request.transport is not None
            request.transport.close()
        return _json(self._shown(made, request))

    def _one(self, settings: SimulatorSettings, number: int, body: Json) -> tuple[int, Json] | None:
        if number < settings.batch_expires and not self.made:
            return None
        if number < settings.batch_expires + settings.batch_errors and not self.made:
            return 500, {"error": {"message": "The server had an error.", "type": "server_error"}}
        return self._answer(compact(body).encode())

    async def _list(self, request: web.Request) -> web.Response:
        return _json({"data": [self._shown(made, request) for made in reversed(self.made)]})

    async def _look(self, request: web.Request) -> web.Response:
        made = self._made(request)
        made.n_looks += 1
        if made.n_looks <= self._settings().batch_looks_fail:
            return _json({"error": {"message": "The server had an error."}}, 500)
        return _json(self._shown(made, request))

    def _shown(self, made: Batch, request: web.Request) -> Json:
        settings = self._settings()
        passed = 1.0 if not settings.batch_s else min(1.0, (time.time() - made.submitted) / settings.batch_s)
        n_done = int(passed * len(made.names))
        if "/messages/" in request.path:
            created = datetime.fromtimestamp(made.submitted, UTC).isoformat()
            counts = {"processing": len(made.names) - n_done, "succeeded": n_done, "errored": 0}
            state = "in_progress" if passed < 1.0 else "ended"
            return {
                "id": f"msgbatch_{made.number}",
                "created_at": created,
                "processing_status": state,
                "request_counts": counts,
            }
        shown: dict[str, Any] = {"id": f"batch_{made.number}", "object": "batch", "metadata": made.metadata}
        if not made.answers:
            error = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached."}
            return {**shown, "status": "failed", "errors": {"data": [error]}}
        shown["request_counts"] = {"total": len(made.names), "completed": n_done, "failed": 0}
        if passed < 1.0:
            return {**shown, "status": "in_progress"}
        files = {"output_file_id": f"output-{made.number}", "error_file_id": f"errors-{made.number}"}
        return {**shown, **files, "status": "expired" if None in made.answers else "completed"}

    async def _content(self, request: web.Request) -> web.Response:
        kind, _, number = request.match_info["name"].partition("-")
        made = self.made[int(number)]
        lines = []
        for name, answer in zip(made.names, made.answers, strict=True):
            if answer is None:
                line: Json = {"response": None, "error": {"code": "batch_expired", "message": "It took too long."}}
            else:
                line = {"response": {"status_code": answer[0], "request_id": "r", "body": answer[1]}, "error": None}
            if (answer is not None and answer[0] == 200) == (kind == "output"):
                lines.append(compact({"id": f"line-{name}", "custom_id": name, **line}))
        return web.Response(text="\n".join(reversed(lines)))  # in any order

    async def _results(self, request: web.Request) -> web.Response:
        made = self._made(request)
        lines = [
            compact({"custom_id": name, "result": _result(answer)})
            for name, answer in zip(made.names, made.answers, strict=True)
        ]
        return web.Response(text="\n".join(reversed(lines)))

    def _made(self, request: web.Request) -> Batch:
        return self.made[int(request.match_info["number"].rpartition("_")[2])]


def _lines(content: bytes) -> Iterator[tuple[str, Json]]:
    for line in content.splitlines():
        asked = json.loads(line)
        assert (asked["method"], asked["url"]) == ("POST", "/v1/chat/completions")
        yield asked["custom_id"], asked["body"]


def _result(answer: tuple[int, Json] | None) -> Json:
    if answer is None:
        return {"type": "expired"}
    status, body = answer
    if status != 200:
        error = {"type": KINDS.get(status, "api_error"), "message": body["error"]["message"]}
        return {"type": "errored", "error": {"type": "error", "error": error}}
    return {"type": "succeeded", "message": as_message(body)}


def as_completion(body: Json) -> Json:
    """Converts an Anthropic Messages request to an OpenAI request."""
    system = body.get("system") or ""
    said = [{"role": "system", "content": text_of({"content": system})}]
    said += [{"role": one["role"], "content": text_of(one)} for one in body["messages"]]
    asked: dict[str, Any] = {"model": body["model"], "messages": said, "max_tokens": body["max_tokens"]}
    if (form := (body.get("output_config") or {}).get("format")) is not None:
        named = {"name": form["schema"].get("title", ""), "schema": form["schema"]}
        asked["response_format"] = {"type": "json_schema", "json_schema": named}
    if tools := body.get("tools"):
        functions: Sequence[Json] = [{"name": one["name"], "parameters": one["input_schema"]} for one in tools]
        asked["tools"] = [{"type": "function", "function": one} for one in functions]
    return asked


def as_message(body: Json) -> Json:
    """Converts an OpenAI response to an Anthropic message."""
    (choice,) = body["choices"]
    called = choice["message"].get("tool_calls") or ()
    content = [
        {
            "type": "tool_use",
            "id": one["id"],
            "name": one["function"]["name"],
            "input": json.loads(one["function"]["arguments"]),
        }
        for one in called
    ]
    if choice["message"]["content"]:
        content.append({"type": "text", "text": choice["message"]["content"]})
    usage = body["usage"]
    return {
        "id": body["id"],
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": "tool_use" if called else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"]},
    }


def _json(value: object, status: int = 200) -> web.Response:
    return web.Response(text=compact(value), status=status, content_type="application/json")
