"""The plan of an experiment: which variants judge which data, how often. Read from YAML, or made in Python.

name: strict-assessment
data: claims.jsonl
baseline: packaged
repeats: 3
settings: {model: openai:gpt-4o-mini}
variants:
  packaged: {}
  strict: {prompts: variants/strict}
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from factloop.core.errors import ConfigError, DataError
from factloop.core.files.rows import shown
from factloop.evaluation.comparing.demands import read_demand, refuse_demands
from factloop.evaluation.comparing.differences import QUESTIONS
from factloop.evaluation.comparing.records import Quantity
from factloop.evaluation.experiments.items import Data
from factloop.evaluation.experiments.records import Name
from factloop.setup.marks import marked, path_settings
from factloop.setup.settings import CheckSettings, describe, is_it

MOST_VARIANTS, MOST_REPEATS = 50, 100
LONGEST_SAID = 300
_ADDRESS_ALONE = "it has a `base_url` and no model: for the offline engine give it `base_url: null`, too"
WHOLE = frozenset(marked(CheckSettings, "whole_experiment"))
"""Settings that hold for the whole experiment, and for no variant alone."""
_PATHS = path_settings(CheckSettings)
_OF_NO_PLAN = {
    "k": "K changes no verdict: give `k` of the plan a list, and every variant is reported for each",
    "cache": "an experiment asks anew, and keeps the answers in its run directory: leave it out",
}
_ELSEWHERE = {
    **dict.fromkeys(WHOLE, "it holds for the whole experiment: give it in `settings`"),
    **_OF_NO_PLAN,
}


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, int) and not isinstance(value, bool) else value


def _as_mapping(value: Any) -> Any:
    return {} if value is None else value  # `packaged:` with nothing after it


Settings = Annotated[dict[str, Any], BeforeValidator(_as_mapping)]


class ExperimentPlan(BaseModel):
    """The variants to compare. Paths are relative to `folder`; nothing in a plan is a template."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    data: str
    """A file of claims or of responses, as `factloop.evaluation.experiments.items` reads them."""
    baseline: Name | None = None
    """The variant that the others are compared with; the first where none is named."""
    repeats: Annotated[int, Field(ge=1, le=MOST_REPEATS)] = 1
    """How often every variant judges everything: each time the model is asked anew."""
    k: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1), BeforeValidator(_as_list)] = (64,)
    """The Ks of F1@K, for responses."""
    questions: tuple[Quantity, ...] = QUESTIONS
    """Quantities beside the headline whose p-values are adjusted among themselves, and pay for no others."""
    demands: tuple[str, ...] = ()
    """What fails the experiment, as `--fail-if-worse` has it: `tnr:0.05`, `tpr >= 0.8`, `flips <= 3`."""
    must_pass: tuple[str, ...] = ()
    """The ids of claims that each variant must have right."""
    settings: Settings = {}
    """Settings of `CheckSettings` that all variants share."""
    variants: Annotated[dict[Name, Settings], Field(min_length=1, max_length=MOST_VARIANTS)]
    """Name to the settings in which the variant differs."""
    folder: Path = Field(default=Path(), exclude=True)
    """The folder that paths are relative to: the working directory, or the plan's own."""

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if self.baseline is not None and self.baseline not in self.variants:
            raise PydanticCustomError("baseline", "the variants are " + ", ".join(self.variants), {"at": ["baseline"]})
        try:
            refuse_demands([read_demand(one) for one in self.demands])
        except ConfigError as error:
            raise PydanticCustomError("elsewhere", "{said}", {"at": ["demands"], "said": str(error)}) from error
        for setting in ("k", "cache"):
            if setting in self.settings:
                raise PydanticCustomError("elsewhere", _OF_NO_PLAN[setting], {"at": ["settings", setting]})
        for name, changes in self.variants.items():
            for setting in changes:
                if setting in _ELSEWHERE:
                    raise PydanticCustomError("elsewhere", _ELSEWHERE[setting], {"at": ["variants", name, setting]})
        _check_settings(["settings"], self.settings)
        for name, changes in self.variants.items():
            _check_settings(["variants", name], changes)
            self._refuse_address_alone(name, changes)
        return self

    def _refuse_address_alone(self, name: str, changes: Mapping[str, Any]) -> None:
        """Of a variant that takes the model away, and leaves the address that all share."""
        together = {**self.settings, **changes}
        if together.get("base_url") is None or together.get("model", "") is not None:
            return
        own = next((field for field in ("model", "base_url") if field in changes), None)
        at = ["settings", "base_url"] if own is None else ["variants", name, own]
        raise PydanticCustomError("setting", _ADDRESS_ALONE, {"at": at})

    def refuse_unknown_claims(self, data: Data) -> None:
        """Raises ConfigError where a claim that must pass is none of the data's, or has no label."""
        known = {item.run.id for item in data.items if data.kind == "claims" and item.gold[0] is not None}
        if strangers := [one for one in self.must_pass if one not in known]:
            raise ConfigError(f"must_pass: {strangers[0]!r} is no labelled claim of {self.data}")

    @property
    def baseline_name(self) -> str:
        return self.baseline or next(iter(self.variants))

    @property
    def data_path(self) -> Path:
        return self.folder / self.data

    def settings_of(self, variant: str, defaults: CheckSettings | None = None, **limits: Any) -> CheckSettings:
        """The settings that a variant checks with: `defaults`, over them the plan's, the variant's, and `limits`.

        Where none of them names a plan it is `fused`, whatever a claim comes with: all claims of an experiment are
        judged by the same prompts. Raises ConfigError for settings that do not go together.
        """
        changes = {**self.settings, **self.variants[variant]}
        resolved = {name: self._resolved(name, value) for name, value in changes.items()}
        settings = CheckSettings.of(defaults, **{**resolved, "k": self.k, **limits})
        return settings if settings.plan is not None else settings.model_copy(update={"plan": "fused"})

    def _resolved(self, name: str, value: Any) -> Any:
        """The value with paths relative to the plan's folder; `embeddings` may be a name instead."""
        if name not in _PATHS or value is None:
            return value
        if name == "docs":
            given = (value,) if isinstance(value, str) else value
            # The folder's own name is no pattern, whichever characters it has.
            return tuple(one if Path(one).is_absolute() else self._pattern(one) for one in given)
        path = self.folder / value
        return value if name == "embeddings" and not path.exists() else path

    def _pattern(self, given: str) -> str:
        plain = self.folder / given
        folder = str(self.folder) if plain.exists() else glob.escape(str(self.folder))
        return str(Path(folder) / given)


def load_plan(path: str | Path) -> ExperimentPlan:
    """The plan of a YAML file; paths in it are relative to its folder. Raises DataError with file, line and field."""
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError("is not UTF-8 text", path=str(path)) from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise DataError(f"cannot be read ({getattr(error, 'strerror', None) or error})", path=str(path)) from error
    placed = read_placed_yaml(text, str(path))
    if "folder" in placed.fields:
        raise placed.error("there is no such field", ["folder"])
    try:
        return ExperimentPlan.model_validate({**placed.fields, "folder": path.parent})
    except ValidationError as error:
        raise _placed(placed, error.errors(include_url=False)[0]) from error


def _check_settings(place: list[str], values: Mapping[str, Any]) -> None:
    """Raises PydanticCustomError for the first setting that does not exist, or whose value cannot be."""
    try:
        CheckSettings.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        said = describe(error, CheckSettings.model_fields)
        if first["type"] == "extra_forbidden":
            said = f"there is no such setting{is_it(str(first['loc'][0]), CheckSettings.model_fields)}"
        said = said.partition(" = ")[2] or said
        at = [*place, *map(str, first["loc"][:1])]
        raise PydanticCustomError("setting", "{said}", {"at": at, "said": said[:LONGEST_SAID]}) from error


def _placed(placed: PlacedYaml, first: ErrorDetails) -> DataError:
    at = first.get("ctx", {}).get("at") or first["loc"]
    said = {
        "extra_forbidden": "there is no such field",
        "missing": "it is missing",
        "string_pattern_mismatch": "a name is up to 64 letters, digits, `.`, `_` and `-`, and begins with no mark",
    }.get(first["type"])
    at = at[:-1] if at and at[-1] == "[key]" else at
    if said is None:
        own = first["type"] in {"baseline", "elsewhere", "setting"}
        said = first["msg"] if own else f"{first['msg'][0].lower()}{first['msg'][1:]}, not {shown(first['input'])}"
    return placed.error(said, at)


Place = tuple[str | int, ...]
"""The way from the top to a value: names of fields, and numbers of entries from 0."""


@dataclass(frozen=True)
class PlacedYaml:
    """The mapping that a file holds."""

    path: str
    fields: Mapping[str, Any]
    lines: Mapping[Place, int]
    """The line of every field and entry, from 1."""

    def error(self, message: str, place: Sequence[str | int]) -> DataError:
        """The error with its file, its field, and the line of that field or of the innermost one around it."""
        at = tuple(place)
        line = next(self.lines[at[:end]] for end in range(len(at), -1, -1) if at[:end] in self.lines)
        return DataError(message, path=self.path, line=line, field=".".join(map(str, at)) or None)


def read_placed_yaml(text: str, path: str) -> PlacedYaml:
    """The one mapping of a YAML text.

    Raises DataError, with the line, for what is not YAML or no mapping, and for a field that stands twice.
    """
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if not isinstance(node, yaml.MappingNode):
            raise DataError("fields and their values are needed, such as `name: first`", path=path, line=1)
        lines = dict(_lines(node, (), 1, path))
        return PlacedYaml(path, yaml.safe_load(text), lines)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = f"this is not YAML: {', '.join(part for part in (error.context, error.problem) if part)}"
        raise DataError(said, path=path, line=None if mark is None else mark.line + 1) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a control character, an impossible date
        raise DataError(f"this is not YAML: {str(error).splitlines()[0]}", path=path) from error


def _lines(node: yaml.Node, place: Place, line: int, path: str) -> Iterator[tuple[Place, int]]:
    yield place, line
    if isinstance(node, yaml.SequenceNode):
        for number, entry in enumerate(node.value):
            yield from _lines(entry, (*place, number), entry.start_mark.line + 1, path)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            line = key.start_mark.line + 1
            name = key.value if isinstance(key, yaml.ScalarNode) else ""
            if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                raise DataError(
                    f"the name of a field is a text; put {str(name)[:40]!r} in quotes", path=path, line=line
                )
            if name in seen:
                raise DataError(f"{name[:80]!r} stands here twice", path=path, line=line)
            seen.add(name)
            yield from _lines(value, (*place, name), line, path)
