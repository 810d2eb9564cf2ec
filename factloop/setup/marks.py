"""Marks settings with properties that their types, bounds, defaults and texts do not express.

    timeout_s: Annotated[Positive, Mark(LIMITS)] = 60.0
    \"\"\"Seconds for one call or search.\"\"\"

Everything that displays settings uses these marks. The first paragraph of a setting's text is its help on the command
line; later paragraphs are only for readers of the code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from pydantic.fields import FieldInfo

if TYPE_CHECKING:
    from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema


@dataclass(frozen=True)
class Group:
    """Settings that a command accepts together. `panel` is their heading in the help, or None for the first one."""

    name: str
    panel: str | None


MODEL = Group("model", "Model")
SEARCH = Group("search", "Search")
DISTRACTORS = Group("distractors", "Distractors")
LIMITS = Group("limits", "Limits")
BATCH = Group("batch", "Limits")
CACHE = Group("cache", "Limits")
PER_CHECK = Group("per check", "Limits")
SCORES = Group("scores", "Output")
RECORDING = Group("recording", "Output")
CORRECTION = Group("correction", None)


@dataclass(frozen=True)
class Mark:
    """Where a setting is displayed and what it affects."""

    group: Group | None = None
    """None if the setting has no flag, or if each command describes the flag itself."""
    metavar: str | None = None
    """The placeholder for the value, if the type is not clear enough."""
    fingerprint: bool = False
    """Whether the setting affects results. If so, it is part of fingerprints, and a resumed run must not change it."""
    whole_experiment: bool = False
    """Whether the setting applies to a whole experiment rather than to a single variant."""
    search_tools: bool = False
    """Whether the setting affects search tools. Runs that agree in all such settings share their tools."""
    names: Callable[[], Iterable[str]] | None = None
    """Returns the possible values, if they come from a registry."""
    path: bool = False
    """Whether the value is a path although its type is text."""


_UNMARKED = Mark()


def mark_of(field: FieldInfo) -> Mark:
    return next((one for one in field.metadata if isinstance(one, Mark)), _UNMARKED)


def marked(model: type[BaseModel], what: str) -> tuple[str, ...]:
    """The names of the settings whose mark has this attribute set."""
    return tuple(name for name, field in model.model_fields.items() if getattr(mark_of(field), what))


def in_group(model: type[BaseModel], group: Group) -> tuple[str, ...]:
    return tuple(name for name, field in model.model_fields.items() if mark_of(field).group is group)


def text_of(field: FieldInfo) -> str:
    """The first paragraph of a setting's text, on one line."""
    return " ".join((field.description or "").partition("\n\n")[0].split())


def type_of(field: FieldInfo) -> Any:
    """A setting's type without bounds and without None."""
    return _plain(field.annotation)


def is_list(field: FieldInfo) -> bool:
    return get_origin(type_of(field)) is tuple


def path_settings(model: type[BaseModel]) -> tuple[str, ...]:
    fields = model.model_fields.items()
    return tuple(name for name, field in fields if type_of(field) is Path or mark_of(field).path)


def _plain(annotation: Any) -> Any:
    while hasattr(annotation, "__metadata__"):
        annotation = annotation.__origin__
    arms = [arm for arm in get_args(annotation) if arm is not type(None)]
    return _plain(arms[0]) if type(None) in get_args(annotation) and len(arms) == 1 else annotation


def in_order(model: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    """Yields a model's own settings first, and then the inherited ones."""
    seen: set[str] = set()
    for kind in model.__mro__:
        for name in vars(kind).get("__annotations__", {}):
            if name in model.model_fields and name not in seen:
                seen.add(name)
                yield name, model.model_fields[name]


@dataclass(frozen=True)
class SameAs:
    """Gives a field of another model the type, bounds and text of a setting."""

    model: type[BaseModel]
    setting: str

    def __get_pydantic_core_schema__(self, _source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        field = self.model.model_fields[self.setting]
        return handler.generate_schema(Annotated[(field.annotation, *field.metadata)])

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), "description": text_of(self.model.model_fields[self.setting])}
