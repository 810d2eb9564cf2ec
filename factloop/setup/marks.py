"""Marks of settings: what stands beside type, bounds, default and text. Whatever shows settings derives from them.

    timeout_s: Annotated[Positive, Mark(LIMITS)] = 60.0
    \"\"\"Seconds for one call or search.\"\"\"

The first paragraph of a setting's text is its help on the command line; what follows it is for readers of Python.
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
    """Settings that a command takes together; the panel in which help shows them, or None for the first."""

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
    """A mark of a setting: where it is shown, and what it is for."""

    group: Group | None = None
    """None: the command line has no flag for it, or has one that each command words itself."""
    metavar: str | None = None
    """The name of its value, where the type does not say it."""
    fingerprint: bool = False
    """Whether it shapes a result: fingerprints hold it by its name, and a run goes on only with the same."""
    whole_experiment: bool = False
    """Whether it holds for an experiment as a whole, and for no variant alone."""
    search_tools: bool = False
    """Whether it shapes the search tools, which runs share where these settings are alike."""
    names: Callable[[], Iterable[str]] | None = None
    """The values that it may have, where a registry knows them."""
    path: bool = False
    """Whether it names files or folders, though its type is text."""


_UNMARKED = Mark()


def mark_of(field: FieldInfo) -> Mark:
    """The mark of a setting; an empty one where it has none."""
    return next((one for one in field.metadata if isinstance(one, Mark)), _UNMARKED)


def marked(model: type[BaseModel], what: str) -> tuple[str, ...]:
    """Names of the settings whose mark has this attribute set."""
    return tuple(name for name, field in model.model_fields.items() if getattr(mark_of(field), what))


def in_group(model: type[BaseModel], group: Group) -> tuple[str, ...]:
    """Names of the settings of a group."""
    return tuple(name for name, field in model.model_fields.items() if mark_of(field).group is group)


def text_of(field: FieldInfo) -> str:
    """The text of a setting, in one paragraph."""
    return " ".join((field.description or "").partition("\n\n")[0].split())


def type_of(field: FieldInfo) -> Any:
    """The type of a setting without its bounds, and without the None that stands for no value."""
    return _plain(field.annotation)


def is_list(field: FieldInfo) -> bool:
    """Whether the setting takes several values."""
    return get_origin(type_of(field)) is tuple


def path_settings(model: type[BaseModel]) -> tuple[str, ...]:
    """Names of the settings that are files or folders."""
    fields = model.model_fields.items()
    return tuple(name for name, field in fields if type_of(field) is Path or mark_of(field).path)


def _plain(annotation: Any) -> Any:
    while hasattr(annotation, "__metadata__"):
        annotation = annotation.__origin__
    arms = [arm for arm in get_args(annotation) if arm is not type(None)]
    return _plain(arms[0]) if type(None) in get_args(annotation) and len(arms) == 1 else annotation


def in_order(model: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    """The settings of a model in order: its own come before those that it inherits."""
    seen: set[str] = set()
    for kind in model.__mro__:
        for name in vars(kind).get("__annotations__", {}):
            if name in model.model_fields and name not in seen:
                seen.add(name)
                yield name, model.model_fields[name]


@dataclass(frozen=True)
class SameAs:
    """Annotation of a field of another model that has type, bounds and text of a setting."""

    model: type[BaseModel]
    setting: str

    def __get_pydantic_core_schema__(self, _source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        field = self.model.model_fields[self.setting]
        return handler.generate_schema(Annotated[(field.annotation, *field.metadata)])

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), "description": text_of(self.model.model_fields[self.setting])}
