"""Reads a model's reply as the schema asked for, or says why it cannot. Nothing is guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from factloop.core.errors import ModelOutputError

T = TypeVar("T", bound=BaseModel)

LONGEST_REPLY = 1_000_000
MOST_BRACES = 50
_THINKING_ENDS = "</think>"
_FENCE = re.compile(r"\A```(?:json)?[ \t]*\n(.*?)\n?```\Z", re.DOTALL)
_OBJECT_STARTS = re.compile(r'\{\s*"')


def parse_reply(text: str, output: type[T]) -> T:
    """The reply as `output`. Raises ModelOutputError, whose message a model can act on.

    Accepted are a JSON object alone, in a code fence, or surrounded by prose, after an optional block of thinking. A
    reply in which two different objects fit the schema is refused, and so is one that gives a field twice: the model
    has not made up its mind.
    """
    if len(text) > LONGEST_REPLY:
        raise ModelOutputError("the reply is too long to be read", schema=output.__name__, reply=text[:1000])
    body = text.strip()
    whole = _whole(body)
    if whole is None and _THINKING_ENDS in body:
        body = body.partition(_THINKING_ENDS)[2].strip()
        whole = _whole(body)
    if not body:
        raise ModelOutputError("the reply is empty", schema=output.__name__, reply=text)
    if whole is None:
        return _only_object_within(body, output)
    return validate(whole[0], output, reply=text)


def _whole(body: str) -> tuple[Any] | None:
    """The JSON value that the text is, alone or in a code fence."""
    fence = _FENCE.match(body)
    try:
        return (_DECODER.decode(fence[1] if fence else body),)
    except (ValueError, RecursionError):
        return None


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a field is given twice")
    return fields


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_without_twins, parse_constant=_refuse_constant)


def validate(value: Any, output: type[T], *, reply: str) -> T:
    """A decoded JSON value as `output`. Raises ModelOutputError naming each wrong field."""
    try:
        # Validated as JSON, so that strict models still accept JSON's spelling of enums and tuples.
        return output.model_validate_json(json.dumps(value))
    except RecursionError as error:
        raise ModelOutputError("the reply is nested too deeply", schema=output.__name__, reply=reply) from error
    except ValidationError as error:
        found = error.errors(include_url=False)[:5]
        problems = "; ".join(f"{'.'.join(map(str, item['loc'])) or 'reply'}: {item['msg']}" for item in found)
        raise ModelOutputError(problems, schema=output.__name__, reply=reply) from error


def _only_object_within(body: str, output: type[T]) -> T:
    fitting: list[T] = []
    problem: ModelOutputError | None = None
    for value in _objects(body, output.__name__):
        try:
            fitting.append(validate(value, output, reply=body))
        except ModelOutputError as error:
            problem = error
    if fitting and all(item == fitting[0] for item in fitting):
        return fitting[0]
    if fitting:
        raise ModelOutputError("the reply holds several different objects", schema=output.__name__, reply=body)
    raise problem or ModelOutputError("the reply is not one JSON object", schema=output.__name__, reply=body)


def _objects(body: str, schema: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects in a text. Raises ModelOutputError where one is broken: its parts are no answer."""
    at = body.find("{")
    for _ in range(MOST_BRACES):
        if at < 0:
            return
        try:
            value, end = _DECODER.raw_decode(body, at)
        except (ValueError, RecursionError) as error:
            if _OBJECT_STARTS.match(body, at):
                said = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
                raise ModelOutputError(f"the object is not valid JSON: {said}", schema=schema, reply=body) from error
            end = at + 1  # a brace in prose
        else:
            yield value
        at = body.find("{", end)
    if at >= 0:
        raise ModelOutputError("the reply is not one JSON object", schema=schema, reply=body)
