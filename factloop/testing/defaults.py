"""Defaults of assertions, where the test says nothing: pytest's ini file, the environment, `factloop.toml`.

What the test says comes first, then the environment, then the ini file, then `factloop.toml`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from factloop.core.errors import FactloopError
from factloop.entrance.settings_sources import PREFIX, load_settings
from factloop.setup.recording import Recording
from factloop.setup.settings import RunSettings
from factloop.testing.running import running_test

S = TypeVar("S", bound=RunSettings)
Failure = TypeVar("Failure", bound=FactloopError)


def settings_here(kind: type[S], given: Mapping[str, Any]) -> S:
    """The settings of an assertion in the running test, or outside pytest. Raises ConfigError."""
    test = running_test()
    ini = {} if test is None else test.defaults
    known = {
        name: value
        for name, value in ini.items()
        if name in kind.model_fields and not os.environ.get(PREFIX + name.upper())
    }
    folder = Path.cwd() if test is None else test.root
    return load_settings(kind, {**known, **given}, os.environ, folder, given_in="the assertion or pytest's ini file")


def recording_here(given: str | Path | Recording | None) -> str | Path | Recording | None:
    """The recording that the test names, or else the one that the plugin keeps for it."""
    test = running_test()
    return given if given is not None or test is None else test.recording


def paths_here(paths: Sequence[str | Path]) -> list[str]:
    """Paths as given; those that lead nowhere from the working directory, from the folder of the test."""
    test = running_test()
    if test is None:
        return [str(path) for path in paths]
    beside = {path: test.folder / path for path in paths}
    return [str(there if there.exists() and not Path(path).exists() else path) for path, there in beside.items()]


def bare(error: Failure) -> Failure:
    """The error without the frames and notes of the graphs that it came through, which do not help a test's reader.

    Its message names what is wrong and how to mend it.
    """
    error.__notes__ = []
    return error.with_traceback(None)
