"""Old names of arguments and fields, which one release more takes, with a DeprecationWarning."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

NEW_NAMES = {"prompt": "question", "answer": "response"}
"""The names that they have now, by their old ones."""


def with_new_names(given: Mapping[str, Any], known: Collection[str], *, stacklevel: int = 2) -> dict[str, Any]:
    """`given` under the new names, where these are among the `known` ones and the old ones are not.

    Where both are given, the old one stays, and is refused like any stranger.
    """
    named = dict(given)
    for old, new in NEW_NAMES.items():
        if old in named and old not in known and new in known and new not in named:
            warnings.warn(f"{old!r} is now called {new!r}", DeprecationWarning, stacklevel=stacklevel + 1)
            named[new] = named.pop(old)
    return named


def takes_old_names(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which may also be called with the old names of its arguments."""
    known = inspect.signature(function).parameters
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def coroutine(*args: Any, **kwargs: Any) -> Any:
            return await function(*args, **with_new_names(kwargs, known))

        return coroutine  # type: ignore[return-value]  # mypy cannot tell that R is a coroutine here

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        return function(*args, **with_new_names(kwargs, known))

    return called
