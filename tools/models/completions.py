"""Calls OpenAI's chat-completions endpoint with plain dictionaries, which is what LangChain passes and reads.

The client library's typed requests and answers would take half the time of a call (2 of 4 ms).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI
    from openai import AsyncOpenAI

REFUSAL = "refusal"
LEAST_ERROR, BAD_GATEWAY = 400, 502
MOST_TOKENS = 10**9
_COUNTS, _DETAILS = ("prompt_tokens", "completion_tokens"), ("prompt_tokens_details", "completion_tokens_details")
_RAW = {"X-Stainless-Raw-Response": "true"}
"""Makes the library return the answer unparsed, with its headers."""
_NO_KEY = ""
"""Keeps the library from generating a random key that is never sent, which would take an eighth of the time."""


class PlainCompletions:
    """Replaces `AsyncOpenAI.chat.completions`. Errors, timeouts and headers are the same as in the library."""

    def __init__(self, client: AsyncOpenAI) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> PlainCompletions:
        return self

    async def create(self, **payload: Any) -> Any:
        """Returns a raw answer, whose `parse()` gives a dictionary, or the library's stream."""
        if payload.get("stream"):  # LangGraph streams a model's reply if an application listens to messages
            return await self._client.chat.completions.create(**payload)
        asked = {name: payload.pop(name, None) or {} for name in ("extra_body", "extra_headers", "extra_query")}
        raw = await self._client.post(
            "/chat/completions",
            body={**payload, **asked["extra_body"]},
            cast_to=object,
            options={
                "headers": {**asked["extra_headers"], **_RAW},
                "params": asked["extra_query"],
                "idempotency_key": _NO_KEY,
            },
        )
        return _PlainAnswer(raw)


class _PlainAnswer:
    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self.headers, self.http_response = raw.headers, raw.http_response

    def parse(self) -> Any:
        """Returns the body as a dictionary, or as text if it is not JSON."""
        answer = self._raw.parse()
        if isinstance(answer, dict):
            if not answer.get("choices"):
                raise self._upstream_failure(answer.get("error"))
            for choice in answer.get("choices") or ():
                _tell_refusal(choice)
            answer["usage"] = _countable(answer.get("usage"))
        return answer

    def _upstream_failure(self, error: Any) -> Exception:
        """Routers report the error of an upstream server with status 200."""
        from openai import APIStatusError

        told = error if isinstance(error, dict) else {"message": "the answer has no choices"}
        code = told.get("code")
        status = code if isinstance(code, int) and code >= LEAST_ERROR else BAD_GATEWAY
        failure = APIStatusError(str(told.get("message") or told), response=self.http_response, body=told)
        failure.status_code = status  # the response has status 200
        return failure


def _tell_refusal(choice: Any) -> None:
    """LangChain reads `refusal` only in typed answers."""
    message = choice.get("message") if isinstance(choice, dict) else None
    if isinstance(message, dict) and message.get("refusal"):
        message["content"] = message["refusal"]
        choice["finish_reason"] = REFUSAL


def _countable(usage: Any) -> dict[str, Any] | None:
    if not isinstance(usage, dict) or not all(is_token_count(usage.get(name)) for name in _COUNTS):
        return None
    kept = {name: value for name, value in usage.items() if name != "total_tokens" or is_token_count(value)}
    for name in _DETAILS:
        details = kept.pop(name, None)
        if isinstance(details, dict):
            kept[name] = {kind: count for kind, count in details.items() if is_token_count(count)}
    return kept


def is_token_count(value: object) -> bool:
    """Whether this is a plausible token count for one call. Some servers report fractions or huge numbers."""
    return isinstance(value, int) and 0 <= value <= MOST_TOKENS


def speak_plainly(model: ChatOpenAI) -> None:
    """Makes a model send its requests as plain JSON, except for streams and the Responses API."""
    model.async_client = PlainCompletions(model.root_async_client)
