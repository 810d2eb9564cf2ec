"""Reads a model's reply as the schema asked for, or says why it cannot. Nothing is guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from factloop.errors import ModelOutputError

T = TypeVar("T", bound=BaseModel)

LONGEST_REPLY = 1_000_000
_THINKING_ENDS = "</think>"
_FENCE = re.compile(r"\A```(?:json)?[ \t]*\n(.*?)\n?```\Z", re.DOTALL)


def parse_reply(text: str, output: type[T]) -> T:
    """The reply as `output`. Raises ModelOutputError, whose message a model can act on.

    Accepted are a JSON object alone, in a code fence, or surrounded by prose, after an optional block of thinking. A
    reply in which two different objects fit the schema is refused: the model has not made up its mind.
    """
    body = text.rsplit(_THINKING_ENDS, 1)[-1].strip()
    if not body:
        raise ModelOutputError("the reply is empty", schema=output.__name__, reply=text)
    if len(body) > LONGEST_REPLY:
        raise ModelOutputError("the reply is too long to be read", schema=output.__name__, reply=text[:1000])
    if fence := _FENCE.match(body):
        body = fence[1].strip()
    try:
        whole = json.loads(body)
    except (ValueError, RecursionError):
        return _only_object_within(body, output)
    return validate(whole, output, reply=text)


def validate(value: Any, output: type[T], *, reply: str) -> T:
    """A decoded JSON value as `output`. Raises ModelOutputError naming each wrong field."""
    try:
        # Validated as JSON, so that strict models still accept JSON's spelling of enums and tuples.
        return output.model_validate_json(json.dumps(value))
    except ValidationError as error:
        found = error.errors(include_url=False)[:5]
        problems = "; ".join(f"{'.'.join(map(str, item['loc'])) or 'reply'}: {item['msg']}" for item in found)
        raise ModelOutputError(problems, schema=output.__name__, reply=reply) from error


def _only_object_within(body: str, output: type[T]) -> T:
    fitting: list[T] = []
    problem: ModelOutputError | None = None
    for value in _objects(body):
        try:
            fitting.append(validate(value, output, reply=body))
        except ModelOutputError as error:
            problem = error
    if fitting and all(item == fitting[0] for item in fitting):
        return fitting[0]
    if fitting:
        raise ModelOutputError("the reply holds several different objects", schema=output.__name__, reply=body)
    raise problem or ModelOutputError("the reply is not one JSON object", schema=output.__name__, reply=body)


def _objects(body: str, most: int = 50) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects in a text, at most `most` tries, so that a reply of braces costs little."""
    decoder = json.JSONDecoder()
    at = body.find("{")
    for _ in range(most):
        if at < 0:
            return
        try:
            value, at = decoder.raw_decode(body, at)
        except (ValueError, RecursionError):
            at += 1
        else:
            if isinstance(value, dict):
                yield value
        at = body.find("{", at)
