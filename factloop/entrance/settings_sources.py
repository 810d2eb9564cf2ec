"""Reads settings from flags, then the environment (`FACTLOOP_...`), then `factloop.toml` in the working directory."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from factloop.core.errors import ConfigError
from factloop.entrance.settings_file import SETTINGS_FILE
from factloop.setup.marks import is_list
from factloop.setup.settings import RunSettings, describe
from factloop.setup.trace_export import open_tracing

PREFIX = "FACTLOOP_"
S = TypeVar("S", bound=RunSettings)


def load_settings(
    kind: type[S],
    flags: Mapping[str, Any],
    environment: Mapping[str, str],
    folder: Path,
    *,
    given_in: str = "command line",
) -> S:
    """The settings of a command; with them, the way of its traces. `given_in`: where the flags were given.

    Raises ConfigError that says where what is wrong.
    """
    file = _from_file(folder / SETTINGS_FILE)
    if file:
        others = _settings_of_all() - set(kind.model_fields)
        file = {name: value for name, value in file.items() if name not in others}
    variables = _from_environment(kind, environment)
    try:
        settings = kind.model_validate({**file, **variables, **flags})
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        place = given_in if name in flags else _place(name, variables, file)
        raise ConfigError(f"{place}: {describe(error)}") from error
    open_tracing(settings.tracing)
    return settings


def _settings_of_all() -> frozenset[str]:
    """Names of the settings of all commands, which one file serves."""
    from factloop.correction.settings import CorrectionSettings  # only where there is a file: most folders have none
    from factloop.trust.settings import TrustSettings

    return frozenset({*CorrectionSettings.model_fields, *TrustSettings.model_fields})


def _place(name: str, variables: Mapping[str, Any], file: Mapping[str, Any]) -> str:
    if name in variables:
        return f"environment variable {PREFIX}{name.upper()}"
    return SETTINGS_FILE if name in file else "settings"


def _from_environment(kind: type[RunSettings], environment: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, field in kind.model_fields.items():
        value = environment.get(PREFIX + name.upper())
        if value:  # an empty variable is an unset one
            found[name] = _parts(value) if is_list(field) else value
    return found


def _parts(value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _from_file(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read ({error})") from error
