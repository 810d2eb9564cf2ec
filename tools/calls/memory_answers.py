"""Answers kept in memory, where nothing can be kept on disk or need be."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

from factloop.tools.calls.cache import CallCache, StoredAnswer

MOST_IN_MEMORY = 4_096
"""Answers: several times those of a long answer's check, and some ten megabytes."""

T = TypeVar("T")


class MemoryAnswers:
    """Keeps the last answers: within a check even what is not worth keeping is asked once.

    It lives as long as the session, in which thousands of checks may follow each other, so the answers that were not
    asked for the longest time go.
    """

    def __init__(self, most: int = MOST_IN_MEMORY) -> None:
        self._values: OrderedDict[str, Any] = OrderedDict()
        self._most = most

    def get(self, key: str, *, newer_than_s: float | None = None) -> StoredAnswer | None:  # noqa: ARG002 - as CallCache has it
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return StoredAnswer(self._values[key], earlier=False)

    def put(self, key: str, value: Any, *, calls: int = 0, usd: float = 0.0) -> None:  # noqa: ARG002 - as CallCache has it
        self._values[key] = value
        if len(self._values) > self._most:
            self._values.popitem(last=False)

    def drop(self, key: str) -> None:
        self._values.pop(key, None)

    async def aside(self, work: Callable[[], T]) -> T:
        return work()

    def close(self) -> None:
        """Nothing is open; here since it is called wherever a cache is."""


AnswersKept = CallCache | MemoryAnswers
"""A place for answers, to be closed by the one who opened it."""
