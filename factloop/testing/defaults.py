"""Defaults of assertions, where the test says nothing: pytest's ini file, the environment, `factloop.toml`.

What the test says comes first, then the environment, then the ini file, then `factloop.toml`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from factloop.core.errors import ConfigError, FactloopError
from factloop.core.records import Usage
from factloop.core.sync import run_blocking
from factloop.entrance.settings_sources import PREFIX, load_settings
from factloop.setup.recording import Recording
from factloop.setup.settings import RunSettings
from factloop.testing.running import running_test

S = TypeVar("S", bound=RunSettings)
Failure = TypeVar("Failure", bound=Exception)
P = ParamSpec("P")
T = TypeVar("T")


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


def blocking(asynchronous: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The same assertion for tests that are not asynchronous; works in a running event loop, too.

    Its errors come without the frames and notes of the graphs that they came through, which do not help a test's
    reader: the message says what is wrong and what to do.
    """

    @wraps(asynchronous)
    def assertion(*args: P.args, **kwargs: P.kwargs) -> T:
        __tracebackhide__ = True
        try:
            return run_blocking(asynchronous(*args, **kwargs))
        except (AssertionError, FactloopError) as error:
            raise bare(error) from None

    assertion.__name__ = assertion.__qualname__ = asynchronous.__name__.removeprefix("a")
    return assertion


def refuse_beside(owner: str, given: Mapping[str, object]) -> None:
    """Raises ConfigError for a setting beside a checker or a scorer, which has its own."""
    named = next((name for name, value in given.items() if value not in (None, (), [])), None)
    if named is not None:
        raise ConfigError(f"{named} is the {owner}'s own: give it to the {owner}, or no {owner}")


def note_spending(usage: Usage, n_claims: int) -> None:
    """Counts the check for the summary of the test session."""
    test = running_test()
    if test is not None:
        test.spent.note(usage, n_claims)


def bare(error: Failure) -> Failure:
    """The error without the frames and notes of the graphs that it came through, which do not help a test's reader.

    Its message names what is wrong and how to mend it.
    """
    error.__notes__ = []
    return error.with_traceback(None)
