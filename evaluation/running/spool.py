"""The items of a run, looked through once before anything is spent, and then read from disk one at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self

from pydantic import TypeAdapter

from factloop.core.errors import DataError
from factloop.core.files.temporary_lines import TemporaryLines
from factloop.core.given_text import check_whole
from factloop.evaluation.runs.items import RunItem

_ITEM: TypeAdapter[RunItem] = TypeAdapter(RunItem)


class Spool:
    """Items in a temporary file. Use as a context manager.

    A pipe can be read only once, and a file may change while it is judged; here they stay as they were checked.
    """

    def __init__(self, items: Iterable[RunItem], *, limit: int | None = None) -> None:
        """Takes all items in, and keeps the first `limit`. Raises DataError for items that cannot be told apart,
        and ConfigError where there is no room for them."""
        self.n = 0
        """Items kept."""
        self._lines = TemporaryLines()
        self._hash = hashlib.sha256()
        try:
            self._take_in(items, limit)
        except BaseException:
            self._lines.close()
            raise

    @property
    def digest(self) -> str:
        """SHA-256 of all items, of those beyond the limit too: a higher limit goes on with the same run."""
        return self._hash.hexdigest()

    def __iter__(self) -> Iterator[RunItem]:
        """The items kept, from the first. One reader at a time."""
        for line in self._lines:
            yield _ITEM.validate_json(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lines.close()

    def _take_in(self, items: Iterable[RunItem], limit: int | None) -> None:
        ids: set[str] = set()
        answers: dict[tuple[str, str], str] = {}
        for item in items:
            if item.id in ids:
                raise DataError(f"two responses have the id {item.id!r}")
            ids.add(item.id)
            first = answers.setdefault((item.system, item.prompt_id), item.id)
            if first != item.id:
                raise DataError(
                    f"{item.system!r} answers the prompt {item.prompt_id!r} twice, in {first!r} and {item.id!r}; "
                    "give each sample a system of its own"
                )
            check_whole(f"response {item.id!r}", item.response)
            check_whole(f"prompt of {item.id!r}", item.prompt or "")
            line = _ITEM.dump_json(item) + b"\n"
            self._hash.update(line)
            if limit is None or self.n < limit:
                self._lines.append(line)
                self.n += 1
