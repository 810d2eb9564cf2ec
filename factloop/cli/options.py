"""Builds commands from pydantic models. Each field defines the type, bounds, default and help of a flag or argument.

    class Check(Judged):
        answer: Annotated[str, Mark(ARGUMENT, "ANSWER")]
        \"\"\"File that contains the text to check (- for standard input).\"\"\"

    @command(taking(CheckSettings, MODEL, LIMITS, "seed"))
    def check(given: Check, flags: Flags) -> int: ...

Arguments come only from the command line. Settings also come from the environment and from `factloop.toml`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import typer
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from factloop.cli.help import PlainCommand
from factloop.core.errors import ConfigError
from factloop.entrance.settings_sources import split_list
from factloop.setup.marks import (
    DISTRACTORS,
    LIMITS,
    MODEL,
    RECORDING,
    SEARCH,
    Group,
    Mark,
    in_order,
    is_list,
    mark_of,
    text_of,
    type_of,
)
from factloop.setup.settings import Number, is_it

ARGUMENT = Group("argument", None)  # positional arguments
OUTPUT = Group("output", "Output")
STATISTICS = Group("statistics", "Statistics")
_PANELS = (None, MODEL.panel, SEARCH.panel, DISTRACTORS.panel, LIMITS.panel, RECORDING.panel)
_SHORT = {"quiet": ("-q",)}

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Between0And1 = Annotated[float, Field(gt=0.0, lt=1.0)]
Texts = tuple[str, ...]
Flags = dict[str, Any]
"""The settings that the user set with flags, by name."""


class Arguments(BaseModel):
    """A command's arguments. Each field is a flag unless it is marked as a positional argument."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Quiet(Arguments):
    quiet: Annotated[bool, Mark(OUTPUT)] = False
    """Do not print progress or the report."""


class AsJson(Arguments):
    json_: Annotated[str | None, Mark(OUTPUT, "FILE")] = None
    """Write the report to this file as JSON (- for standard output)."""


class Report(Quiet, AsJson):
    html: Annotated[str | None, Mark(OUTPUT, "FILE")] = None
    """Write the report to this file as an HTML page."""

    @property
    def written(self) -> tuple[str | None, ...]:
        return self.json_, self.html


class Tabled(Report):
    tables: Annotated[Texts, Mark(OUTPUT, "FILE")] = ()
    """Write plots (.svg or .pdf), or tables as LaTeX (.tex) or CSV (any other name), to this file."""

    @property
    def written(self) -> tuple[str | None, ...]:
        return (*super().written, *self.tables)


class Estimated(Arguments):
    dry_run: Annotated[bool, Mark(LIMITS)] = False
    """Print the estimated cost and exit."""


class Resumable(Arguments):
    run_dir: Annotated[Path | None, Mark(OUTPUT, "FOLDER")] = None
    """Save progress in this folder. Running the same command again resumes the run."""


class WithSettings(Arguments):
    set_: Annotated[Texts, Mark(metavar="NAME=VALUE")] = ()
    """Set any setting by name, for example patience_s=600."""


class FailIfUnscored(Arguments):
    fail_if_unscored: Annotated[bool, Mark(OUTPUT)] = False
    """Exit with 3 if anything is left unscored."""


class Judged(Report, Resumable, Estimated, FailIfUnscored):
    fail_under: Annotated[Share | None, Mark(OUTPUT, "SHARE")] = None
    """Exit with 1 if precision is below this value."""


class Seeded(Arguments):
    seed: Number = 0
    """Random seed."""


class Intervals(Arguments):
    level: Annotated[Between0And1, Mark(STATISTICS)] = 0.95
    """Confidence level of the intervals, between 0 and 1."""
    resamples: Annotated[Number, Mark(STATISTICS)] = 2000
    """Number of bootstrap resamples for the intervals (0 for none)."""


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True)
class Taken:
    """The settings that a command accepts. `--set` works for every setting of the model, and some also have flags."""

    model: type[BaseModel]
    flags: Mapping[str, FieldInfo]


@dataclass(frozen=True)
class Command:
    work: Callable[..., int]
    arguments: type[Arguments]
    taken: tuple[Taken, ...]

    def build(self, about: str) -> Any:
        """Builds the typer command. `about` is its help text."""
        own = dict(in_order(self.arguments))
        if self.taken:
            own |= WithSettings.model_fields
        settings: dict[str, FieldInfo] = {}
        for taken in self.taken:  # if several models have the same setting, the first model describes it
            settings |= {name: field for name, field in taken.flags.items() if name not in {*own, *settings}}

        def run(**values: Any) -> None:
            given = {name: value for name, value in values.items() if value is not None}
            arguments = _validated(self.arguments, given)
            if not self.taken:
                raise typer.Exit(self.work(arguments))
            flags = {name: value for name, value in given.items() if name in settings}
            raise typer.Exit(self.work(arguments, {**self._set(given.get("set_", ())), **flags}))

        fields = {**own, **settings}
        parameters = [_parameter(name, field, can_be_off=name in settings) for name, field in fields.items()]
        order = {name: _panel_order(field) for name, field in fields.items()}
        run.__doc__ = about
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # what typer reads
            sorted(parameters, key=lambda parameter: order[parameter.name])
        )
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(cls=PlainCommand)(run)
        return typer.main.get_command(alone)

    def _set(self, given: Sequence[str]) -> Flags:
        known = {name: field for taken in self.taken for name, field in taken.model.model_fields.items()}
        found: Flags = {}
        for one in given:
            name, mark, value = one.partition("=")
            if not mark:
                raise ConfigError(f"--set {one}: must be NAME=VALUE, such as patience_s=600")
            if name not in known:
                raise ConfigError(f"--set {one}: there is no setting {name!r}{is_it(name, known)}")
            found[name] = split_list(value) if is_list(known[name]) else value
        return found


def command(*taken: Taken) -> Callable[[Callable[..., int]], Command]:
    """Decorates a command's function, which returns the exit code and may raise FactloopError."""

    def make(work: Callable[..., int]) -> Command:
        arguments = next(iter(inspect.signature(work, eval_str=True).parameters.values())).annotation
        return Command(work, arguments, taken)

    return make


def taking(model: type[BaseModel], *wanted: Group | str) -> Taken:
    """Accepts all settings of a model. Settings in these groups or with these names get their own flags."""
    strangers = [one for one in wanted if isinstance(one, str) and one not in model.model_fields]
    assert not strangers, f"{model.__name__} has no {strangers}"
    fields = in_order(model)
    return Taken(model, {name: field for name, field in fields if name in wanted or mark_of(field).group in wanted})


def spelling(name: str) -> str:
    """The flag for a field, without the unit `_s` and without a trailing underscore."""
    return f"--{name.removesuffix('_s').rstrip('_').replace('_', '-')}"


def help_of(field: FieldInfo) -> str:
    """A field's help: its text, the allowed values, whether it can be repeated, and the default."""
    mark, text = mark_of(field), text_of(field).rstrip(".").replace("`", "")
    if mark.names is not None:
        *others, last = mark.names()
        text += f": {', '.join(others)} or {last}"
    if is_list(field) and mark.group is not ARGUMENT:
        text += ". Repeatable"
    default = _shown(field.default)
    return f"{text}." if default is None or field.is_required() else f"{text}. {default}."


def _validated(kind: type[A], given: Flags) -> A:
    try:
        return kind(**{name: given[name] for name in kind.model_fields if name in given})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        said, value = f"{first['msg'][0].lower()}{first['msg'][1:]}", first["input"]
        typed = f"{value:g}" if isinstance(value, float) else value
        raise ConfigError(f"{spelling(str(first['loc'][0]))} {typed}: {said}") from error


def _parameter(name: str, field: FieldInfo, *, can_be_off: bool) -> Parameter:
    kind, mark = type_of(field), mark_of(field)
    shown: dict[str, Any] = {"metavar": _metavar(name, field), "help": help_of(field)}
    if mark.group is ARGUMENT:
        option = typer.Argument(**shown)
    else:
        flag = spelling(name)
        spelt = f"{flag}/--no-{flag[2:]}" if kind is bool and can_be_off else flag
        panel = None if mark.group is None else mark.group.panel
        option = typer.Option(spelt, *_SHORT.get(name, ()), rich_help_panel=panel, **shown)
    default = Parameter.empty if field.is_required() else None
    annotation: Any = Annotated[_value_type(kind) | None, option]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _metavar(name: str, field: FieldInfo) -> str | None:
    kind = type_of(field)
    if mark_of(field).metavar is not None:
        return mark_of(field).metavar
    if get_origin(kind) is Literal:
        return "|".join(get_args(kind))
    return "SECONDS" if name.endswith("_s") else None


def _value_type(kind: Any) -> Any:
    if get_origin(kind) is tuple:
        element = get_args(kind)[0]
        return list[getattr(element, "__origin__", element)]  # type: ignore[misc]  # known when the flag is built
    return kind if kind in (bool, int, float, Path) else str


def _shown(default: Any) -> str | None:
    if default is None or default is False or default == ():
        return None
    if default is True:
        return "On by default"
    if isinstance(default, tuple):
        return f"Default: {', '.join(map(str, default))}"
    return f"Default: {default:g}" if isinstance(default, float) else f"Default: {default}"


def _panel_order(field: FieldInfo) -> int:
    group = mark_of(field).group
    panel = None if group is None else group.panel
    return _PANELS.index(panel) if panel in _PANELS else 0
