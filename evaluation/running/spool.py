"""The spool of a run: its items, looked through once before anything is spent, then read from disk one at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import Generic, Self, TypeVar

from factloop.core.files.temporary_lines import TemporaryLines

Item = TypeVar("Item")


class Spool(Generic[Item]):
    """Items in a temporary file. Use as a context manager.

    A pipe can be read only once, and a file may change while it is judged; here they stay as they were checked.
    """

    def __init__(
        self,
        items: Iterable[Item],
        *,
        dump: Callable[[Item], bytes],
        load: Callable[[bytes], Item],
        limit: int | None = None,
    ) -> None:
        """Takes all items in, and keeps the first `limit`; `dump` makes a line of one, with its end, `load` reads it.

        Raises what `items` raises, and ConfigError where there is no room for them.
        """
        self.n = 0
        """Items kept."""
        self._load = load
        self._lines = TemporaryLines()
        self._hash = hashlib.sha256()
        with ExitStack() as on_error:
            on_error.callback(self._lines.close)
            for item in items:
                line = dump(item)
                self._hash.update(line)
                if limit is None or self.n < limit:
                    self._lines.append(line)
                    self.n += 1
            on_error.pop_all()

    @property
    def digest(self) -> str:
        """SHA-256 of all items, of those beyond the limit too: a higher limit goes on with the same run."""
        return self._hash.hexdigest()

    def __iter__(self) -> Iterator[Item]:
        """The items kept, from the first. One reader at a time."""
        return map(self._load, self._lines)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lines.close()
