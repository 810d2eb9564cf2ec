"""Parses a model's reply according to the requested schema, or explains why it cannot.

Models that are not forced to follow a schema produce JSON with small faults: a trailing comma, a verdict in uppercase,
a number as a string, or an object nested in another one. Such faults are tolerated if only one meaning is possible. If
fields are missing, an object is incomplete or there are two different answers, the gateway asks again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import json5
from pydantic import BaseModel, ValidationError

from factloop.core.errors import ModelOutputError

T = TypeVar("T", bound=BaseModel)

LONGEST_REPLY = 1_000_000
LONGEST_FAULTY = 20_000
"""Maximum number of characters in a reply with faulty JSON, which takes ten times as long to parse."""
MOST_BRACES = 50
MOST_WRAPPED = 3
_THINKING_ENDS = "</think>"
_FENCE = re.compile(r"\A```(?:json)?[ \t]*\n(.*?)\n?```\Z", re.DOTALL)
_TAG = re.compile(r"\A<tool_call>\s*(.*?)\s*</tool_call>\Z", re.DOTALL)
_OBJECT_STARTS = re.compile(r'\{\s*"')
_NUMBER = re.compile(r"[\[(]?(-?\d{1,9})[\])]?")


def parse_reply(text: str, output: type[T]) -> T:
    """Parses the reply as `output`. Raises a ModelOutputError whose message tells the model what to correct.

    Accepts a JSON object alone, in a code fence, or surrounded by prose, after an optional block of thinking. A reply
    is rejected if it repeats a field or contains two different objects that fit the schema.
    """
    if len(text) > LONGEST_REPLY:
        raise ModelOutputError("the reply is too long to be read", schema=output.__name__, reply=text[:1000])
    body = text.strip().removeprefix("\ufeff")
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
    marked = _FENCE.match(body) or _TAG.match(body)
    try:
        return (_decoded(marked[1] if marked else body),)
    except (ValueError, RecursionError):
        return None


def _decoded(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError:
        if len(text) > LONGEST_FAULTY or not text.startswith(("{", "[")):
            raise
        return json5.loads(text, allow_duplicate_keys=False)


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a field occurs twice")
    return fields


_DECODER = json.JSONDecoder(object_pairs_hook=_without_twins)


def validate(value: Any, output: type[T], *, reply: str) -> T:
    try:
        value = _unwrapped(value, output)
        # The value is validated as JSON, because strict models accept enums and tuples only in their JSON form.
        try:
            return output.model_validate_json(_written(value))
        except ValidationError as error:
            return output.model_validate_json(_written(_mended(value, error)))
    except RecursionError as error:
        raise ModelOutputError("the reply is nested too deeply", schema=output.__name__, reply=reply) from error
    except ValidationError as error:
        found = error.errors(include_url=False)[:5]
        problems = "; ".join(f"{'.'.join(map(str, item['loc'])) or 'reply'}: {item['msg']}" for item in found)
        raise ModelOutputError(problems, schema=output.__name__, reply=reply) from error


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode().replace("\\u0000", "")


def _unwrapped(value: Any, output: type[BaseModel]) -> Any:
    """The answer may be in a string, an object named like the schema, a tool call, or a one-item list."""
    for _ in range(MOST_WRAPPED):
        if isinstance(value, str):
            try:
                value = _decoded(value)
            except ValueError:
                return value
        elif isinstance(value, Mapping) and value.keys() == {output.__name__}:
            value = value[output.__name__]
        elif isinstance(value, Mapping) and value.keys() == {"name", "arguments"} and value["name"] == output.__name__:
            value = value["arguments"]
        else:
            break
    required = [name for name, field in output.model_fields.items() if field.is_required()]
    if isinstance(value, list) and len(required) == 1 and all(isinstance(item, Mapping) for item in value):
        return {required[0]: value}
    return value


def _mended(value: Any, error: ValidationError) -> Any:
    mended = json.loads(json.dumps(value))
    for item in error.errors(include_url=False, include_context=False):
        *path, last = item["loc"] or ("",)
        holder = mended
        try:
            for step in path:
                holder = holder[step]
            holder[last] = _respelt(item["type"], holder[last], item["msg"])
        except (LookupError, TypeError):
            continue
    return mended


def _respelt(kind: str, given: Any, said: str) -> Any:
    if kind == "literal_error" and isinstance(given, str):
        word = given.strip().lower().replace(" ", "_")
        return word if f"'{word}'" in said else given
    if kind == "int_type" and isinstance(given, str) and (number := _NUMBER.fullmatch(given.strip())):
        return int(number[1])
    if kind == "list_type":
        if isinstance(given, str) and given.lstrip().startswith("["):
            return _decoded(given)
        return [] if given is None or given == "" else [given]
    return given


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
        raise ModelOutputError("the reply contains several different objects", schema=output.__name__, reply=body)
    raise problem or ModelOutputError("the reply is not a single JSON object", schema=output.__name__, reply=body)


def _objects(body: str, schema: str) -> Iterator[dict[str, Any]]:
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
            end = at + 1  # this is a brace in prose
        else:
            yield value
        at = body.find("{", end)
    if at >= 0:
        raise ModelOutputError("the reply is not a single JSON object", schema=schema, reply=body)
