"""Reads settings. Flags override environment variables (`FACTLOOP_...`), which override `factloop.toml`."""

from __future__ import annotations

import logging
import os
import tomllib
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from factloop.core.errors import ConfigError
from factloop.core.files.lines import open_given
from factloop.setup.marks import is_list
from factloop.setup.settings import LONGEST_NAME, RunSettings, describe
from factloop.setup.trace_export import open_tracing
from factloop.tools.search.build import built_in_searches

log = logging.getLogger(__name__)
SETTINGS_FILE = "factloop.toml"
PREFIX = "FACTLOOP_"
NEAR = 0.8
"""Variable names at least this similar to a setting (`difflib.SequenceMatcher.ratio`) count as misspelled."""
S = TypeVar("S", bound=BaseModel)


def load_settings(
    kind: type[S],
    flags: Mapping[str, Any],
    environment: Mapping[str, str] = os.environ,
    folder: Path = Path(),
    *,
    given_in: str = "command line",
) -> S:
    """Loads settings and starts exporting traces. Raises ConfigError, which says that `flags` are from `given_in`."""
    file = _from_file(folder / SETTINGS_FILE)
    if file:
        others = _settings_of_all() - set(kind.model_fields)
        file = {name: value for name, value in file.items() if name not in others}
    variables = _from_environment(kind, environment)
    _warn_of_misspelt(environment, known=kind.model_fields)
    try:
        settings = kind.model_validate({**file, **variables, **flags})
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        place = given_in if name in flags else _place(name, variables, file)
        raise ConfigError(f"{place}: {describe(error, kind.model_fields)}") from error
    if isinstance(settings, RunSettings):
        open_tracing(settings.tracing)
    return settings


def _settings_of_all() -> frozenset[str]:
    from factloop.correction.records import CorrectionSettings  # imported here because most folders have no file
    from factloop.entrance.serving import ServeSettings
    from factloop.trust.settings import TrustSettings

    kinds = CorrectionSettings, ServeSettings, TrustSettings
    return frozenset(name for kind in kinds for name in kind.model_fields)


def _warn_of_misspelt(environment: Mapping[str, str], known: Collection[str]) -> None:
    named = {name.removeprefix(PREFIX).lower() for name in environment if name.startswith(PREFIX)}
    unknown = named.difference(known, (f"{search}_url" for search in built_in_searches()))
    settings = _settings_of_all() if unknown else frozenset()
    for name in sorted(unknown - settings):
        for near in get_close_matches(name[:LONGEST_NAME], settings, n=1, cutoff=NEAR):
            _say_misspelt(PREFIX + name.upper(), PREFIX + near.upper())


@cache
def _say_misspelt(name: str, near: str) -> None:
    log.warning("the environment variable %s has no effect; did you mean %s?", name, near)


def _place(name: str, variables: Mapping[str, Any], file: Mapping[str, Any]) -> str:
    if name in variables:
        return f"environment variable {PREFIX}{name.upper()}"
    return SETTINGS_FILE if name in file else "settings"


def _from_environment(kind: type[BaseModel], environment: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, field in kind.model_fields.items():
        value = environment.get(PREFIX + name.upper())
        if value:  # empty variables count as unset
            found[name] = split_list(value) if is_list(field) else value
    return found


def split_list(value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _from_file(path: Path) -> dict[str, Any]:
    try:
        with open_given(path) as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path} ({error})") from error
