"""Runs many items through one engine and saves each record to disk, so a killed run loses only unfinished items.

A feature defines its items and records, how an item is judged, and how records are summarized. `Run` skips items that
already have a record, saves each new one before reporting it, and finally creates the summary.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import ExitStack, aclosing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile, gettempdir
from typing import IO, Any, Generic, Self, TypeVar

from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json, write_atomically
from factloop.core.records import Record, Usage
from factloop.evaluation.running.log import Log
from factloop.setup.run_directory import RunDirectory
from factloop.tools.calls.together import as_they_come

Item = TypeVar("Item")
AnyRecord = TypeVar("AnyRecord")
Summary = TypeVar("Summary", bound=Record)

AT_ONCE = 32
"""Number of items to process concurrently: enough for 64 calls, but few enough to fit in memory."""
BATCHED_AT_ONCE = 2_000
"""The limit if models are called in batches, because all items in progress wait for one batch. A response takes 1 to 3
MB."""

Judge = Callable[[Item], Awaitable[AnyRecord]]
"""Makes the record of one item. May be called concurrently."""
Engine = Callable[[Iterable[Item]], AsyncGenerator[AnyRecord, None]]
"""Makes the records of items, in any order. The engine reads no more items than it has capacity for."""


@dataclass(frozen=True)
class RunStarted:
    """Sent after the whole input has been read. `n_done` items already have a record."""

    n_items: int
    n_done: int


@dataclass(frozen=True)
class NewRecord(Generic[AnyRecord]):
    record: AnyRecord
    usage: Usage
    """The cost of the record or, if records share answers, the cost since the previous record."""


Events = AsyncGenerator[RunStarted | NewRecord[AnyRecord] | Summary, None]
"""The events of a run: its start, each record as soon as it is saved, and finally the summary. A caller that stops
early must close the generator (`contextlib.aclosing`)."""


@dataclass(frozen=True)
class Run(Generic[Item, AnyRecord, Summary]):
    """The log must stay open until the end of the stream."""

    items: Iterable[Item]
    key: Callable[[Item], Hashable]
    log: Log[AnyRecord, Any]
    engine: Engine[Item, AnyRecord]
    usage: Callable[[AnyRecord], Usage]
    summarise: Callable[[Iterator[AnyRecord]], Summary]
    results: tuple[Path, ...] = ()
    """Files that are valid only once the run has ended. A new attempt removes them at the start. The summary is written
    to the first one."""

    async def stream(self) -> Events[AnyRecord, Summary]:
        """Yields the events of the run. Raises anything that the engine raises, and ConfigError if writing to disk
        fails."""
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
    """Returns an engine that runs in this process, with up to `at_once` items in progress."""
    return partial(as_they_come, work=judge, at_once=at_once)


async def summary_of(events: Events[AnyRecord, Summary]) -> Summary:
    """Consumes the events of a run and returns the summary, which is the last one."""
    async with aclosing(events):
        async for event in events:
            if not isinstance(event, RunStarted | NewRecord):
                return event
    raise AssertionError("the run ended without a summary")


class Increments:
    def __init__(self, account: Callable[[], Usage]) -> None:
        self._account = account
        self._before = Usage(cost_usd=0.0)

    def __call__(self, _record: object) -> Usage:
        before, now = self._before, self._account()
        self._before = now
        is_known = before.cost_usd is not None and now.cost_usd is not None
        cost_usd = max(0.0, (now.cost_usd or 0.0) - (before.cost_usd or 0.0)) if is_known else None
        return Usage(calls=now.calls - before.calls, cost_usd=cost_usd)


@contextmanager
def claimed_folder(run_dir: str | Path | None, configuration: Mapping[str, Any]) -> Iterator[Path | None]:
    """Locks the directory of a run for this process, and yields it. Yields None if the user did not set one.

    `configuration` must be the same in all attempts at the run. Raises ConfigError if the directory is in use, or if it
    contains another run or other files.
    """
    if run_dir is None:
        yield None
        return
    with RunDirectory(Path(run_dir)) as directory:
        directory.claim(configuration)
        yield directory.path


@contextmanager
def answers_folder(folder: Path | None) -> Iterator[Path]:
    """Yields the folder for answers: the run's own, or a temporary one, because answers might not fit in memory."""
    if folder is not None:
        yield folder
        return
    with TemporaryDirectory(prefix="factloop-") as temporary:
        yield Path(temporary)


class Spool(Generic[Item]):
    """Validated items in an unnamed temporary file, which the system removes even if the process is killed. Use as a
    context manager. The copy is needed because a pipe can be read only once, and a file may change during the run."""

    def __init__(
        self,
        items: Iterable[Item],
        *,
        dump: Callable[[Item], bytes],
        load: Callable[[bytes], Item],
        limit: int | None = None,
    ) -> None:
        """Reads all items and keeps the first `limit`. `dump` converts an item to a line, including the newline, and
        `load` reads it back. Raises anything that `items` raises, and ConfigError if the disk is full."""
        self.n = 0
        self._load = load
        self._hash = hashlib.sha256()
        with _storing():
            self._file: IO[bytes] = TemporaryFile()  # noqa: SIM115 - closed by `__exit__`
        with ExitStack() as on_error:
            on_error.push(self)
            for item in items:
                line = dump(item)
                self._hash.update(line)
                if limit is None or self.n < limit:
                    with _storing():
                        self._file.write(line)
                    self.n += 1
            on_error.pop_all()

    @property
    def digest(self) -> str:
        """SHA-256 hash of all items, even those beyond the limit, so that a run can be resumed with a higher limit."""
        return self._hash.hexdigest()

    def __iter__(self) -> Iterator[Item]:
        """There can be only one reader at a time."""
        with _storing():
            self._file.seek(0)  # also flushes the buffer
        yield from map(self._load, self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # the buffer may contain text that did not fit on the disk and is no longer needed
            self._file.close()


@contextmanager
def _storing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        said = f"cannot store the input in {gettempdir()} ({error.strerror or error})"
        raise ConfigError(f"{said}; free disk space, or set TMPDIR to another folder") from error
