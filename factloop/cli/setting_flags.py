"""Makes flags from settings: type, bounds, default, text and panel are said once, in the settings model.

    @with_settings(CheckSettings, MODEL, LIMITS, "recording")
    def check(answer: ..., **settings: Any) -> None: ...

The command line shows each setting as if the command had it as a parameter; the command gets it as a keyword argument.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import typer
from pydantic.fields import FieldInfo

from factloop.setup.marks import (
    DISTRACTORS,
    LIMITS,
    MODEL,
    RECORDING,
    SEARCH,
    Group,
    in_order,
    is_list,
    mark_of,
    text_of,
    type_of,
)
from factloop.setup.settings import RunSettings

_PANELS = (None, MODEL.panel, SEARCH.panel, DISTRACTORS.panel, LIMITS.panel, RECORDING.panel)
"""Panels in the order of help; those of a command's own come first."""

Command = TypeVar("Command", bound=Callable[..., None])


def with_settings(model: type[RunSettings], *wanted: Group | str) -> Callable[[Command], Command]:
    """Gives a command the flags of the settings in these groups, and of those named. It may be used more than once."""

    def give(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        flags = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=flag_of(name, field))
            for name, field in _wanted(model, wanted)
            if name not in signature.parameters
        ]
        own = [_by_keyword(flag) for flag in signature.parameters.values() if flag.kind is not Parameter.VAR_KEYWORD]
        command.__signature__ = signature.replace(  # type: ignore[attr-defined]  # what typer reads
            parameters=sorted([*own, *flags], key=_place)
        )
        return command

    return give


def settings_given(kind: type[RunSettings], given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings among a command's arguments that were given."""
    return {name: given[name] for name in kind.model_fields if given.get(name) is not None}


def flag_of(name: str, field: FieldInfo) -> Any:
    """The annotation of a setting's flag. What is given is validated with the settings, where file and environment are
    validated too."""
    kind = type_of(field)
    option = typer.Option(
        _spelling(name, kind), metavar=_metavar(name, field), help=help_of(field), rich_help_panel=_panel(field)
    )
    return Annotated[_value_type(kind) | None, option]


def help_of(field: FieldInfo) -> str:
    """The text of a setting, what it may be, whether it can be given again, and its default."""
    mark, text = mark_of(field), text_of(field).rstrip(".").replace("`", "")
    if mark.names is not None:
        *others, last = mark.names()
        text += f": {', '.join(others)} or {last}"
    if is_list(field):
        text += "; repeatable"
    default = _shown(field.default)
    return f"{text}." if default is None else f"{text} (default {default})."


def _wanted(model: type[RunSettings], wanted: tuple[Group | str, ...]) -> Iterator[tuple[str, FieldInfo]]:
    strangers = [one for one in wanted if isinstance(one, str) and one not in model.model_fields]
    assert not strangers, f"{model.__name__} has no {strangers}"
    yield from ((name, field) for name, field in in_order(model) if name in wanted or mark_of(field).group in wanted)


def _by_keyword(flag: Parameter) -> Parameter:
    return flag.replace(kind=Parameter.KEYWORD_ONLY)


def _spelling(name: str, kind: Any) -> str:
    """The flag's spelling; a unit at the end of the name is left to the metavar."""
    flag = name.removesuffix("_s").replace("_", "-")
    return f"--{flag}/--no-{flag}" if kind is bool else f"--{flag}"


def _metavar(name: str, field: FieldInfo) -> str | None:
    kind = type_of(field)
    if mark_of(field).metavar is not None:
        return mark_of(field).metavar
    if get_origin(kind) is Literal:
        return "|".join(get_args(kind))
    return "SECONDS" if name.endswith("_s") else None


def _value_type(kind: Any) -> Any:
    if get_origin(kind) is tuple:
        return list[_bare(get_args(kind)[0])]  # type: ignore[misc]  # known when the flag is made
    return kind if kind in (bool, int, float, Path) else str


def _bare(kind: Any) -> Any:
    return getattr(kind, "__origin__", kind)


def _shown(default: Any) -> str | None:
    if default is None or default == ():
        return None
    if isinstance(default, bool):
        return "yes" if default else "no"
    if isinstance(default, tuple):
        return ", ".join(map(str, default))
    return f"{default:g}" if isinstance(default, float) else str(default)


def _panel(field: FieldInfo) -> str | None:
    group = mark_of(field).group
    return None if group is None else group.panel


def _place(flag: Parameter) -> int:
    notes = getattr(flag.annotation, "__metadata__", ())
    panels = (getattr(note, "rich_help_panel", None) for note in notes)
    return max((_PANELS.index(panel) for panel in panels if panel in _PANELS), default=0)
