"""JSON Schemas for structured output, in the strict dialect and as short as they go: each call pays for them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict

_DROPPED = {"title", "description", "default"}
_STRICT_ONLY = {"title", "additionalProperties"}


class StructuredOutput(BaseModel):
    """Base of the structured outputs. Validation is strict, since a model wrote them."""

    model_config = ConfigDict(extra="ignore", strict=True)


@lru_cache(maxsize=256)
def strict_schema(output: type[BaseModel]) -> Mapping[str, Any]:
    """The schema of `output`: all properties required, no others allowed, definitions inlined, only the top title."""
    schema = output.model_json_schema()
    return {"title": output.__name__, **_strict(schema, schema.get("$defs", {}))}


def tool_parameters(output: type[BaseModel]) -> Mapping[str, Any]:
    """The schema of the arguments of a tool; those with a default may be left out."""
    kept = {key: value for key, value in loosened(strict_schema(output)).items() if key != "required"}
    required = [name for name, one in output.model_fields.items() if one.is_required()]
    return {**kept, "required": required} if required else kept


def loosened(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema for a function that a model may call, without what only the strict dialect asks for: each call pays for
    it, and the arguments are validated here anyway."""
    loose: dict[str, Any] = _loosened(schema)
    return loose


def _loosened(node: Any) -> Any:
    if isinstance(node, list):
        return [_loosened(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    loose = {key: _loosened(value) for key, value in node.items() if key not in _STRICT_ONLY | {"properties"}}
    if "properties" in node:  # names of fields, whatever these are called
        loose["properties"] = {name: _loosened(value) for name, value in node["properties"].items()}
    return loose


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
