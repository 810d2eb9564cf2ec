"""Runs many items through one engine and saves each record on disk; if killed, it loses only what was in flight.

A feature defines its items and records, how an item is judged, and how records are summarized. `Run` ensures the order:
existing records are not made again, each new record is saved before it is reported, and the summary comes last. A
killed run continues when it is started again.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import ExitStack, aclosing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from factloop.core.files.json import to_json, write_atomically
from factloop.core.files.temporary_lines import TemporaryLines
from factloop.core.records import Record, Usage
from factloop.evaluation.running.log import Log
from factloop.setup.run_directory import RunDirectory
from factloop.tools.calls.together import as_they_come

Item = TypeVar("Item")
AnyRecord = TypeVar("AnyRecord")
Summary = TypeVar("Summary", bound=Record)

AT_ONCE = 32
"""Number of items, such as responses, to process concurrently: enough to keep 64 calls in flight, but few enough to fit
in memory."""
BATCHED_AT_ONCE = 2_000
"""The same if models are called in batches, where items that are processed together also wait together. A response
takes 1 to 3 MB."""

Judge = Callable[[Item], Awaitable[AnyRecord]]
"""Makes the record of one item; may be called concurrently."""
Engine = Callable[[Iterable[Item]], AsyncGenerator[AnyRecord, None]]
"""Makes the records of items, in any order; reads no more items than it has capacity for."""


@dataclass(frozen=True)
class RunStarted:
    """The input has been read completely, everything is ready, and `n_done` items already have a record."""

    n_items: int
    n_done: int


@dataclass(frozen=True)
class NewRecord(Generic[AnyRecord]):
    """Another record has been made and saved on disk."""

    record: AnyRecord
    usage: Usage
    """The cost of the record or, if records share answers, what was paid since the previous one."""


Events = AsyncGenerator[RunStarted | NewRecord[AnyRecord] | Summary, None]
"""The events of a run: its start, each record as soon as it is saved, and finally the summary. A caller that stops
early must close it (`contextlib.aclosing`)."""


@dataclass(frozen=True)
class Run(Generic[Item, AnyRecord, Summary]):
    """A run as defined by a feature. The log is open and must stay open until the end of the stream."""

    items: Iterable[Item]
    """The items, which are iterated several times."""
    key: Callable[[Item], Hashable]
    """The key of the item's record in the log."""
    log: Log[AnyRecord, Any]
    engine: Engine[Item, AnyRecord]
    usage: Callable[[AnyRecord], Usage]
    """The cost of a record, for `NewRecord`; called once for each, in order."""
    summarise: Callable[[Iterator[AnyRecord]], Summary]
    """Makes the summary from the records of these items, in the order of the items, once all records exist."""
    results: tuple[Path, ...] = ()
    """Files that are valid only at the end, which a new attempt therefore removes at the start. The first one receives
    the summary."""

    async def stream(self) -> Events[AnyRecord, Summary]:
        """Yields the events of the run. Raises the errors of the engine, and ConfigError if writing to disk fails."""
        n_items = n_done = 0
        for item in self.items:
            n_items += 1
            n_done += self.key(item) in self.log.finished
        yield RunStarted(n_items, n_done)
        if n_done < n_items:
            for path in self.results:
                path.unlink(missing_ok=True)
            waiting = (item for item in self.items if self.key(item) not in self.log.finished)
            async with aclosing(self.engine(waiting)) as judging:
                async for record in judging:
                    self.log.append(record)
                    yield NewRecord(record, self.usage(record))
        summary = self.summarise(self.log.records(map(self.key, self.items)))
        if self.results:
            write_atomically(self.results[0], to_json(summary), private=True)
        yield summary


def judged_here(judge: Judge[Item, AnyRecord], *, at_once: int = AT_ONCE) -> Engine[Item, AnyRecord]:
    """An engine that runs in this process, with `at_once` items in progress."""
    return partial(as_they_come, work=judge, at_once=at_once)


async def summary_of(events: Events[AnyRecord, Summary]) -> Summary:
    """The summary, which is the last event of a run."""
    async with aclosing(events):
        async for event in events:
            if not isinstance(event, RunStarted | NewRecord):
                return event
    raise AssertionError("the run ended without a summary")


class Increments:
    """The increments of a growing usage: what was added since the last call."""

    def __init__(self, account: Callable[[], Usage]) -> None:
        self._account = account
        self._before = Usage(cost_usd=0.0)

    def __call__(self, _record: object) -> Usage:
        """Calls and cost since the last call; the cost is None if it is unknown."""
        before, now = self._before, self._account()
        self._before = now
        is_known = before.cost_usd is not None and now.cost_usd is not None
        cost_usd = max(0.0, (now.cost_usd or 0.0) - (before.cost_usd or 0.0)) if is_known else None
        return Usage(calls=now.calls - before.calls, cost_usd=cost_usd)


@contextmanager
def claimed_folder(run_dir: str | Path | None, configuration: Mapping[str, Any]) -> Iterator[Path | None]:
    """The directory of a run, locked by this process; None if the user named none.

    `configuration` is what must be the same in all attempts at the run. Raises ConfigError if the directory contains
    something else or another run, or is in use.
    """
    if run_dir is None:
        yield None
        return
    with RunDirectory(Path(run_dir)) as directory:
        directory.claim(configuration)
        yield directory.path


@contextmanager
def answers_folder(folder: Path | None) -> Iterator[Path]:
    """The folder for answers: the run's own, or a temporary one. Answers are never kept in memory, since that would
    grow with the run."""
    if folder is not None:
        yield folder
        return
    with TemporaryDirectory(prefix="factloop-") as temporary:
        yield Path(temporary)


class Spool(Generic[Item]):
    """Items in a temporary file. Use as a context manager.

    A pipe can be read only once, and a file may change during the run; this keeps the items as they were validated.
    """

    def __init__(
        self,
        items: Iterable[Item],
        *,
        dump: Callable[[Item], bytes],
        load: Callable[[bytes], Item],
        limit: int | None = None,
    ) -> None:
        """Reads all items and keeps the first `limit`; `dump` converts an item to a line with its end, and `load` reads
        it back.

        Raises any error raised by `items`, and ConfigError if there is no space for them.
        """
        self.n = 0
        """Number of items kept."""
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
        """SHA-256 hash of all items, including those beyond the limit, so a run can be resumed with a higher limit."""
        return self._hash.hexdigest()

    def __iter__(self) -> Iterator[Item]:
        """Yields the items kept, from the first. Only one reader at a time."""
        return map(self._load, self._lines)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lines.close()
