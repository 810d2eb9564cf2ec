"""Decides the response to each request; the server only carries it out."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

from tests.simulator import logprobs, protocol
from tests.simulator.brain import CHOICE, TITLES, Brain, SearchWish
from tests.simulator.faults import Fault, draw, shorten, spoil
from tests.simulator.limits import TokenBucket, retry_after
from tests.simulator.protocol import Json, Message
from tests.simulator.reading import ASSESSMENT, assess_by_words
from tests.simulator.search import SearchEngine
from tests.simulator.settings import CHAT, SEARCH, SimulatorSettings
from tests.simulator.subject import Subject
from tests.simulator.world import World

DEFAULT_HITS = 10
RETRY_AFTER_S = 1.0  # when a request that was refused by the share `error_429` is told to come back
FOREVER_S = math.inf
"""The delay of an answer for which a server that hangs lets its client wait until the settings are changed."""


@dataclass(frozen=True)
class Refusal:
    """An immediate error status."""

    status: int
    body: Json
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: Fault = Fault.NONE


@dataclass(frozen=True)
class ModelReply:
    """A message, with a delay in addition to that for its tokens."""

    message: Message
    delay_s: float
    fault: Fault


@dataclass(frozen=True)
class SearchReply:
    body: str
    delay_s: float
    fault: Fault


class Provider:
    def __init__(self, world: World, settings: SimulatorSettings) -> None:
        self._world, self._engine = world, SearchEngine(world)
        self._numbers, self._settings = count(1), settings
        self.settings = settings

    @property
    def settings(self) -> SimulatorSettings:
        return self._settings

    @settings.setter
    def settings(self, settings: SimulatorSettings) -> None:
        """Refills the bucket and restarts the count to `dies_after`; a new seed restarts at request 1."""
        self._numbers = self._numbers if settings.seed == self._settings.seed else count(1)
        self._settings = settings
        self._brain = Brain(self._world, Subject(self._world, settings))
        self._bucket = None if settings.requests_per_s is None else TokenBucket(settings.requests_per_s)
        self._lifetime = settings.dies_after

    def next_number(self) -> int:
        return next(self._numbers)

    def chat(self, number: int, body: Json, key: str, title: str) -> Refusal | ModelReply:
        refused = self._wrong_key(key) or self._unusable(body) or self._limited()
        if refused:
            return refused
        rng = self._rng(number)
        fault, delay_s = self._fault(title, rng)
        if fault is Fault.ERROR_429:
            return _too_many(RETRY_AFTER_S, self._settings.retry_after)
        if fault is Fault.ERROR_500:
            return _server_error()
        message = spoil(self._message(body, title), fault, rng)
        limit = body.get("max_completion_tokens") or body.get("max_tokens")
        if isinstance(limit, int):
            message = shorten(message, limit)
        return ModelReply(message, self._settings.llm_latency_s + delay_s, fault)

    def refused_search(self, body: Json, key: str) -> Refusal | None:
        """Serper's response to a wrong key or an empty query, neither of which counts as a search."""
        if self._settings.api_key is not None and key != self._settings.api_key:
            return Refusal(403, {"message": "Unauthorized.", "statusCode": 403})
        query, limit = body.get("q"), body.get("num", DEFAULT_HITS)
        if not isinstance(query, str) or not query or not isinstance(limit, int):
            return Refusal(400, {"message": "Missing query parameter", "statusCode": 400})
        return None

    def search(self, number: int, body: Json) -> Refusal | SearchReply:
        """Serper's response to a request that `refused_search` accepts."""
        fault, delay_s = self._fault(SEARCH, self._rng(number))
        if fault is Fault.ERROR_429:
            return _too_many(RETRY_AFTER_S, self._settings.retry_after)
        if fault is Fault.ERROR_500:
            return _server_error()
        answer = protocol.compact(self._hits(body["q"], body.get("num", DEFAULT_HITS)))
        if fault in {Fault.MALFORMED, Fault.TRUNCATED}:
            answer = answer[: len(answer) // 2]
        return SearchReply(answer, self._settings.search_latency_s + delay_s, fault)

    def _hits(self, query: str, limit: int) -> Json:
        passages = self._engine.search(query, limit, self._settings.missing_hits)
        organic = [
            {"title": item.title, "link": item.url, "snippet": item.text, "date": item.date, "position": position}
            for position, item in enumerate(passages, 1)
        ]
        return {"searchParameters": {"q": query, "num": limit, "type": "search"}, "organic": organic, "credits": 1}

    def _wrong_key(self, key: str) -> Refusal | None:
        if self._settings.api_key in (None, key):
            return None
        said = "Incorrect API key provided."
        return Refusal(401, protocol.error(said, "invalid_request_error", "invalid_api_key"))

    def _unusable(self, body: Json) -> Refusal | None:
        """Rejects an unknown model, tool, response format or temperature, and wrong use of logprobs."""
        settings, model = self._settings, body.get("model")
        if settings.models and model not in (*settings.models, *settings.reads_by_words):
            said = f"The model `{model}` does not exist or you do not have access to it."
            return Refusal(404, protocol.error(said, "invalid_request_error", "model_not_found", "model"))
        wanted = (body.get("response_format") or {}).get("type", "text")
        lacking = {
            "tools": bool(body.get("tools")) and not settings.supports_tools,
            "response_format": (wanted == "json_schema" and not settings.supports_json_schema)
            or (wanted == "json_object" and not settings.supports_json_object),
            "temperature": "temperature" in body and not settings.supports_temperature,
            "logprobs": bool(body.get("logprobs")) and not settings.supports_logprobs,
        }
        for param, is_lacking in lacking.items():
            if is_lacking:
                said = f"Unsupported parameter: '{param}' is not supported with this model."
                return Refusal(400, protocol.error(said, "invalid_request_error", "unsupported_parameter", param))
        if misuse := logprobs.misuse(body):
            return Refusal(400, protocol.error(misuse, "invalid_request_error", "invalid_value", "top_logprobs"))
        return None

    def _limited(self) -> Refusal | None:
        wait_s = 0.0 if self._bucket is None else self._bucket.take()
        return _too_many(wait_s, self._settings.retry_after) if wait_s else None

    def _fault(self, stage: str, rng: random.Random) -> tuple[Fault, float]:
        """The fault of this request, and the seconds that it adds."""
        if self._lifetime is not None:
            self._lifetime -= 1
            if self._lifetime < 0:
                return (Fault.HANG, FOREVER_S) if self._settings.dies_by == "hang" else (Fault.ERROR_500, 0.0)
        faults = self._settings.stage_faults.get(stage, self._settings.faults)
        fault = draw(faults, rng)
        return fault, faults.hang_s if fault is Fault.HANG else 0.0

    def _rng(self, number: int) -> random.Random:
        return random.Random(f"{self._settings.seed} {number}")

    def _message(self, body: Json, title: str) -> Message:
        text = protocol.first_user_text(body)
        if title == CHAT:
            return Message(content=self._brain.chat(text))
        if title == CHOICE and self._settings.plain_letters:
            return Message(content=self._brain.choice_in_words(text), letters=self._letters(body, title, text))
        functions = protocol.functions_of(body)
        others = [name for name in functions if name not in TITLES]
        search_tools = [name for name in others if {"query", "queries"} & _properties(functions[name]).keys()]
        wanted_share = self._settings.reads_by_words.get(str(body.get("model")))
        if title == ASSESSMENT and wanted_share is not None:
            answer = assess_by_words(text, protocol.system_text(body), wanted_share, bool(search_tools))
        else:
            answer = self._brain.reply(title, text, may_call_search=bool(search_tools))
        if isinstance(answer, SearchWish):
            wish = {"missing": answer.missing, "queries": answer.queries, "query": answer.queries[0]}
            accepted = _properties(functions[search_tools[0]])
            arguments = {name: value for name, value in wish.items() if name in accepted}
            return _call(search_tools[0], arguments)
        if title in functions:
            return _call(title, _held_to(functions[title], answer))
        content = protocol.compact(_held_to(protocol.response_schema(body), answer))
        return Message(
            content=content, letters=self._letters(body, title, text), verdicts=self._verdicts(body, title, text)
        )

    def _letters(self, body: Json, title: str, text: str) -> Mapping[str, float]:
        """The probability of each letter; empty if they are not requested or nothing is chosen."""
        return self._brain.choice(text).probabilities if title == CHOICE and body.get("logprobs") else {}

    def _verdicts(self, body: Json, title: str, text: str) -> Sequence[Mapping[str, float]]:
        """The probability of each verdict in each verdict field; empty if not requested."""
        by_words = title == ASSESSMENT and body.get("model") in self._settings.reads_by_words
        return self._brain.verdicts(title, text) if body.get("logprobs") and not by_words else ()


def _properties(schema: Json) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = schema.get("properties") or {}
    return properties


def _held_to(schema: Json, answer: Json) -> Json:
    """Exactly the fields of a strict schema, in its order; unknown ones are empty."""
    return {name: answer.get(name, "") for name in _properties(schema)} or answer


def _call(function: str, arguments: Json) -> Message:
    return Message(function=function, arguments=protocol.compact(arguments), finish_reason="tool_calls")


def _too_many(wait_s: float, said: Literal["seconds", "none"]) -> Refusal:
    headers = retry_after(wait_s, said)
    return Refusal(429, protocol.error("Rate limit reached.", "requests", "rate_limit_exceeded"), headers)


def _server_error() -> Refusal:
    said = "The server had an error while processing your request."
    return Refusal(500, protocol.error(said, "server_error"), fault=Fault.ERROR_500)
