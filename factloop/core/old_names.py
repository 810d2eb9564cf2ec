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
"""Old name to new."""


def with_new_names(given: Mapping[str, Any], known: Collection[str], *, stacklevel: int = 2) -> dict[str, Any]:
    """`given` under new names that are among the `known` ones; an old name beside its new one stays, as a stranger."""
    named = dict(given)
    for old, new in NEW_NAMES.items():
        if old in named and old not in known and new in known and new not in named:
            warnings.warn(f"{old!r} is now called {new!r}", DeprecationWarning, stacklevel=stacklevel + 1)
            named[new] = named.pop(old)
    return named


def takes_old_names(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which may also be called with the old names of its arguments."""
    known = inspect.signature(function).parameters

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **with_new_names(kwargs, known))

    @wraps(function)
    async def awaited(*args: Any, **kwargs: Any) -> Any:  # still known as a coroutine function
        return await function(*args, **with_new_names(kwargs, known))  # type: ignore[misc]  # then R is awaitable

    return awaited if inspect.iscoroutinefunction(function) else called  # type: ignore[return-value]  # R is Any here
