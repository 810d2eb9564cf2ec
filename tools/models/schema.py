"""Builds short JSON Schemas for structured output in the strict dialect. Every call pays for its schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, create_model

_DROPPED = {"title", "description", "default"}
_STRICT_ONLY = {"title", "additionalProperties"}


class StructuredOutput(BaseModel):
    """Base class for structured outputs. Validation is strict, because models write them."""

    model_config = ConfigDict(extra="ignore", strict=True, use_attribute_docstrings=True)


@lru_cache(maxsize=256)
def strict_schema(output: type[BaseModel]) -> Mapping[str, Any]:
    """Returns the schema of `output`: all properties required, no others allowed, definitions inlined, no titles."""
    schema = output.model_json_schema()
    return {"title": output.__name__, **_strict(schema, schema.get("$defs", {}))}


def tool_parameters(output: type[BaseModel]) -> Mapping[str, Any]:
    kept = {key: value for key, value in loosened(strict_schema(output)).items() if key != "required"}
    required = [name for name, one in output.model_fields.items() if one.is_required()]
    return {**kept, "required": required} if required else kept


def loosened(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Removes keywords that only the strict dialect requires. Every call would pay for them, and we validate anyway."""
    loose: dict[str, Any] = _loosened(schema)
    return loose


def _loosened(node: Any) -> Any:
    if isinstance(node, list):
        return [_loosened(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    loose = {key: _loosened(value) for key, value in node.items() if key not in _STRICT_ONLY | {"properties"}}
    if "properties" in node:  # these keys are field names, even if they look like keywords
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


Answer = TypeVar("Answer", bound=BaseModel)
Args = TypeVar("Args", bound=BaseModel)

TOOL_FIELD = "tool"


@dataclass(frozen=True)
class ToolChoice(Generic[Args]):
    name: str
    args: Args


@dataclass(frozen=True)
class Offers(Generic[Answer, Args]):
    """Tools that the model may call instead of giving its answer.

    All tools take the same arguments: strings and lists of strings, with defaults. A call must set at least one.
    """

    tools: Mapping[str, str]
    args: type[Args]
    answer: type[Answer]
    undecided: Callable[[Answer], bool]
    """Whether an answer leaves the question open and may therefore come with a tool choice."""

    @cached_property
    def as_openai(self) -> list[dict[str, Any]]:
        parameters = tool_parameters(self.args)
        return [
            {"type": "function", "function": {"name": name, "description": said, "parameters": parameters}}
            for name, said in self.tools.items()
        ]

    @cached_property
    def answer_or_choice(self) -> type[Answer]:
        fields: dict[str, Any] = {name: (field.annotation, field) for name, field in self.args.model_fields.items()}
        if len(self.tools) > 1:
            fields[TOOL_FIELD] = (str, "")
        return create_model(self.answer.__name__, __base__=self.answer, **fields)

    def choice_in(self, answer: Answer) -> ToolChoice[Args] | None:
        args = self.args.model_validate({name: getattr(answer, name) for name in self.args.model_fields})
        if not self.undecided(answer) or is_blank(args):
            return None
        named = getattr(answer, TOOL_FIELD, "")
        name = named if named in self.tools else next(iter(self.tools))
        return ToolChoice(name, args)


def is_blank(args: BaseModel) -> bool:
    given = ([value] if isinstance(value, str) else value for _, value in args)
    return not any(text.strip() for texts in given for text in texts)
