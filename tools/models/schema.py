"""JSON Schemas for structured output, in the strict dialect and as short as they go: each call pays for them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

_DROPPED = {"title", "description", "default"}


@cache
def strict_schema(output: type[BaseModel]) -> Mapping[str, Any]:
    """The schema of `output`: all properties required, no others allowed, definitions inlined, only the top title."""
    schema = output.model_json_schema()
    return {"title": output.__name__, **_strict(schema, schema.get("$defs", {}))}


def _strict(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_strict(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _strict(definitions[node["$ref"].rsplit("/", 1)[-1]], definitions)
    kept = {key: value for key, value in node.items() if key not in _DROPPED | {"$defs", "properties"}}
    strict = {key: _strict(value, definitions) for key, value in kept.items()}
    if node.get("type") == "object":
        properties = node.get("properties", {})
        strict["properties"] = {name: _strict(value, definitions) for name, value in properties.items()}
        strict["required"] = list(properties)
        strict["additionalProperties"] = False
    return strict
