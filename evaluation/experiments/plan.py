"""An experiment's plan: which variants judge which data, and how often. It is read from YAML or built in Python.

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
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from factloop.core.errors import ConfigError, DataError
from factloop.core.files.lines import read_given
from factloop.core.files.placed_yaml import PlacedYaml, read_placed_yaml
from factloop.core.files.rows import shown
from factloop.evaluation.comparing.demands import read_demand, refuse_demands
from factloop.evaluation.comparing.differences import QUESTIONS
from factloop.evaluation.comparing.records import Quantity
from factloop.evaluation.datasets.folder import find_part
from factloop.evaluation.experiments.items import Data, load_data
from factloop.evaluation.experiments.records import Name
from factloop.reports.figures import plural
from factloop.setup.marks import marked, path_settings
from factloop.setup.settings import CheckSettings, describe, is_it
from factloop.tools.judges.build import BASELINE, parse_spec

MOST_VARIANTS, MOST_REPEATS = 50, 100
LONGEST_SAID = 300
_ADDRESS_ALONE = "`base_url` needs a model; for the offline engine, also set `base_url: null`"
WHOLE = frozenset(marked(CheckSettings, "whole_experiment"))
"""Settings that must be the same in all variants."""
_PATHS = path_settings(CheckSettings)
_OF_NO_PLAN = {
    "k": "K does not affect verdicts; set the plan's `k` to a list to report every variant for each K",
    "cache": "remove this setting: experiments store answers in their run directory instead of a cache",
}
_ELSEWHERE = {**dict.fromkeys(WHOLE, "must be the same in all variants; set it in `settings`"), **_OF_NO_PLAN}


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, int) and not isinstance(value, bool) else value


def _as_mapping(value: Any) -> Any:
    return {} if value is None else value  # `packaged:` without a value


Settings = Annotated[dict[str, Any], BeforeValidator(_as_mapping)]


HELD_OUT = ", held-out part"


class Until(BaseModel):
    """An experiment stops once, for every variant, a difference in the headline is shown or ruled out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    difference: Annotated[float, Field(gt=0.0, lt=1.0)]
    looks: Annotated[int, Field(ge=2, le=20)] = 4
    """Each look adds the same number of groups."""


class Optimise(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: str = "safe/assessment"
    rounds: Annotated[int, Field(ge=1, le=20)] = 3
    proposals: Annotated[int, Field(ge=1, le=10)] = 2
    model: str | None = None
    """The model that proposes changes. Defaults to the model that judges."""


class ExperimentPlan(BaseModel):
    """The variants to compare, and the data to compare them on. Paths are relative to `folder`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    data: str = ""
    """A file of claims or responses, as read by `factloop.evaluation.experiments.items`."""
    dataset: Annotated[str, Field(pattern=r"^[^:]+:[^:]+$")] | None = None
    """A labelled data set, such as `wice:dev`, instead of a file. If it was not downloaded, `data` must be its path."""
    held_out: Annotated[float, Field(gt=0.0, lt=1.0)] | None = None
    """The fraction of groups that are judged only on request, once the prompt has been chosen."""
    until: Until | None = None
    optimise: Optimise = Optimise()
    pairs: Literal["baseline", "all"] = "baseline"
    """Whether to compare each variant with the baseline only, or with every other variant."""
    baseline: Name | None = None
    repeats: Annotated[int, Field(ge=1, le=MOST_REPEATS)] = 1
    """Number of times that every variant judges every item, each time with new model calls."""
    k: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1), BeforeValidator(_as_list)] = (64,)
    questions: tuple[Quantity, ...] = QUESTIONS
    """Quantities tested in addition to the headline. Their p-values are adjusted only among themselves."""
    demands: tuple[str, ...] = ()
    """Demands in the syntax of `--fail-if-worse`, such as `tnr:0.05`, `tpr >= 0.8` or `flips <= 3`."""
    must_pass: tuple[str, ...] = ()
    """The ids of claims that every variant must judge correctly."""
    splitting: str | None = None
    """The judge that measures how well each variant splits responses, in the syntax of `--verifier` in `factloop
    research verify`: `baseline`, `nli:MODEL`, `llm:PROVIDER:NAME`."""
    settings: Settings = {}
    variants: Annotated[dict[Name, Settings], Field(min_length=1, max_length=MOST_VARIANTS)]
    folder: Path = Field(default=Path(), exclude=True)
    """The working directory, or the folder that contains the plan file."""

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if not self.data and self.dataset is None:
            raise PydanticCustomError(
                "elsewhere", "is missing; set `data` to a file, or set `dataset`", {"at": ["data"]}
            )
        if self.baseline is not None and self.baseline not in self.variants:
            raise PydanticCustomError("baseline", "must be one of " + ", ".join(self.variants), {"at": ["baseline"]})
        field = "demands"
        try:
            refuse_demands([read_demand(one) for one in self.demands])
            field = "splitting"
            parse_spec(self.splitting or BASELINE)
        except ConfigError as error:
            raise PydanticCustomError("elsewhere", "{said}", {"at": [field], "said": str(error)}) from error
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
        together = {**self.settings, **changes}
        if together.get("base_url") is None or together.get("model", "") is not None:
            return
        own = next((field for field in ("model", "base_url") if field in changes), None)
        at = ["settings", "base_url"] if own is None else ["variants", name, own]
        raise PydanticCustomError("setting", _ADDRESS_ALONE, {"at": at})

    def load(self, *, held_out: bool = False) -> Data:
        """Returns the development part or the held-out part of the data. Claims in `must_pass` are never held out.

        Raises DataError if the data cannot be read. Raises ConfigError if nothing is held out, a part contains no
        groups, a claim in `must_pass` is unknown or unlabelled, or `splitting` is set for claims.
        """
        data = load_data(self.data_path, self.dataset)
        self._refuse_unknown_claims(data)
        if self.splitting is not None and data.kind == "claims":
            raise ConfigError(f"remove `splitting`: {self.dataset or self.data} contains claims, which are not split")
        if self.held_out is None:
            if held_out:
                raise ConfigError("nothing is held out; set `held_out` in the plan, for example to 0.3")
            return data
        needed = {*self.must_pass}
        known = {data.group_of(item) for item in data.items if item.run.id in needed}
        groups = data.groups
        kept = {*groups[round(len(groups) * (1.0 - self.held_out)) :]} - known
        if not 0 < len(kept) < len(groups):
            raise ConfigError(
                f"held_out: {self.held_out:g} of {len(groups)} groups leaves one part empty; choose another share"
            )
        if held_out:
            return data.of_groups(kept, HELD_OUT)
        n = len(data.of_groups(kept).items)
        return data.of_groups({*groups} - kept, f", {n:,} of {plural(len(data.items), data.kind[:-1])} held out")

    def _refuse_unknown_claims(self, data: Data) -> None:
        known = {item.run.id for item in data.items if data.kind == "claims" and item.gold[0] is not None}
        if strangers := [one for one in self.must_pass if one not in known]:
            raise ConfigError(f"must_pass: unknown claim {strangers[0]!r}; use ids of labelled claims in {self.data}")

    @property
    def baseline_name(self) -> str:
        return self.baseline or next(iter(self.variants))

    @property
    def data_path(self) -> Path:
        """Raises ConfigError if the data set was not found."""
        if self.dataset is None:
            return self.folder / self.data
        name, _, part = self.dataset.partition(":")
        return find_part(name, part, str(self.folder / self.data) if self.data else None)

    def settings_of(self, variant: str, defaults: CheckSettings | None = None, **limits: Any) -> CheckSettings:
        """Returns a variant's settings: `defaults`, overridden by the plan, then the variant, and finally `limits`.

        The `plan` setting defaults to `fused`, so that all claims are judged with the same prompts. Raises ConfigError
        for settings that cannot be combined.
        """
        changes = {**self.settings, **self.variants[variant]}
        resolved = {name: self._resolved(name, value) for name, value in changes.items()}
        settings = CheckSettings.of(defaults, **{**resolved, "k": self.k, **limits})
        return settings if settings.plan is not None else settings.model_copy(update={"plan": "fused"})

    def _resolved(self, name: str, value: Any) -> Any:
        """Makes paths relative to the plan's folder. `embeddings` may be a name instead."""
        if name not in _PATHS or value is None:
            return value
        if name == "docs":
            given = (value,) if isinstance(value, str) else value
            # the folder's name is not a pattern, whatever characters it contains
            return tuple(one if Path(one).is_absolute() else self._pattern(one) for one in given)
        path = self.folder / value
        return value if name == "embeddings" and not path.exists() else path

    def _pattern(self, given: str) -> str:
        plain = self.folder / given
        folder = str(self.folder) if plain.exists() else glob.escape(str(self.folder))
        return str(Path(folder) / given)


def load_plan(path: str | Path) -> ExperimentPlan:
    """Reads a plan from a YAML file. Paths are relative to the file's folder. Raises DataError with line and field."""
    path = Path(path)
    try:
        text = read_given(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError("must be UTF-8 text", path=str(path)) from error
    placed = read_placed_yaml(text, str(path))
    if "folder" in placed.fields:
        raise placed.error("unknown field; remove it", ["folder"])
    try:
        return ExperimentPlan.model_validate({**placed.fields, "folder": path.parent})
    except ValidationError as error:
        raise _placed(placed, error.errors(include_url=False)[0]) from error


def _check_settings(place: list[str], values: Mapping[str, Any]) -> None:
    try:
        CheckSettings.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        said = describe(error, CheckSettings.model_fields)
        if first["type"] == "extra_forbidden":
            said = f"unknown setting{is_it(str(first['loc'][0]), CheckSettings.model_fields)}"
        said = said.partition(" = ")[2] or said
        at = [*place, *map(str, first["loc"][:1])]
        raise PydanticCustomError("setting", "{said}", {"at": at, "said": said[:LONGEST_SAID]}) from error


def _placed(placed: PlacedYaml, first: ErrorDetails) -> DataError:
    at = first.get("ctx", {}).get("at") or first["loc"]
    said = {
        "extra_forbidden": "unknown field",
        "missing": "is missing",
        "string_pattern_mismatch": "use up to 64 letters, digits, `.`, `_` or `-`, starting with a letter or digit",
    }.get(first["type"])
    at = at[:-1] if at and at[-1] == "[key]" else at
    if said is None:
        own = first["type"] in {"baseline", "elsewhere", "setting"}
        said = first["msg"] if own else f"{first['msg'][0].lower()}{first['msg'][1:]}, not {shown(first['input'])}"
    return placed.error(said, at)
