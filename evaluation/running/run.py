"""A run: many items through one engine, each with its record on disk, so that a kill costs only what was in flight.

A feature says what its items and records are, how an item is judged, and what the records add up to; `Run` keeps the
order of things: what is there is not made again, each new record is kept before it is reported, and the summary
comes last. A killed run goes on when it is started again.
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
"""Items in work at a time, such as responses: enough to keep 64 calls under way, few enough to hold in memory."""
BATCHED_AT_ONCE = 2_000
"""The same where models are asked in batches: what is in work together waits together. A response takes 1 to 3 MB."""

Judge = Callable[[Item], Awaitable[AnyRecord]]
"""Makes the record of one item; any number may be under way."""
Engine = Callable[[Iterable[Item]], AsyncGenerator[AnyRecord, None]]
"""Makes the records of items, in any order; reads the items no further than it has room."""


@dataclass(frozen=True)
class RunStarted:
    """The input is whole, everything is ready, and `n_done` items have their record already."""

    n_items: int
    n_done: int


@dataclass(frozen=True)
class NewRecord(Generic[AnyRecord]):
    """One more record is there, and on disk."""

    record: AnyRecord
    usage: Usage
    """What it cost; where records share answers, what was paid since the one before."""


Events = AsyncGenerator[RunStarted | NewRecord[AnyRecord] | Summary, None]
"""The events of a run: its start, each record as soon as it is kept, and the summary last. A caller that stops before
the end closes it (`contextlib.aclosing`)."""


@dataclass(frozen=True)
class Run(Generic[Item, AnyRecord, Summary]):
    """A run as a feature describes it. The log is open, and stays so until the end of the stream."""

    items: Iterable[Item]
    """The items, which are gone through several times."""
    key: Callable[[Item], Hashable]
    """The key of the item's record in the log."""
    log: Log[AnyRecord, Any]
    engine: Engine[Item, AnyRecord]
    usage: Callable[[AnyRecord], Usage]
    """The cost of a record, for `NewRecord`; called once for each, in order."""
    summarise: Callable[[Iterator[AnyRecord]], Summary]
    """Makes the summary from the records of these items, in their order, once all are there."""
    results: tuple[Path, ...] = ()
    """Files that hold only at the end, and that a new attempt removes before it begins. The first gets the summary."""

    async def stream(self) -> Events[AnyRecord, Summary]:
        """Yields the events of the run. Raises as the engine, and ConfigError where the disk fails."""
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
    """An engine of this process, with `at_once` items under way."""
    return partial(as_they_come, work=judge, at_once=at_once)


async def summary_of(events: Events[AnyRecord, Summary]) -> Summary:
    """The last of the events of a run."""
    async with aclosing(events):
        async for event in events:
            if not isinstance(event, RunStarted | NewRecord):
                return event
    raise AssertionError("a run ends with its summary")


class Increments:
    """The increments of an account that grows: what was added since the last call."""

    def __init__(self, account: Callable[[], Usage]) -> None:
        self._account = account
        self._before = Usage(cost_usd=0.0)

    def __call__(self, _record: object) -> Usage:
        """Calls and cost since the last call; the cost is None where it is unknown."""
        before, now = self._before, self._account()
        self._before = now
        is_known = before.cost_usd is not None and now.cost_usd is not None
        cost_usd = max(0.0, (now.cost_usd or 0.0) - (before.cost_usd or 0.0)) if is_known else None
        return Usage(calls=now.calls - before.calls, cost_usd=cost_usd)


@contextmanager
def claimed_folder(run_dir: str | Path | None, configuration: Mapping[str, Any]) -> Iterator[Path | None]:
    """The directory of a run, held by this process; None where the user named none.

    `configuration` is what must not change between the attempts at one run. Raises ConfigError where the directory
    holds something else, another run, or is in use.
    """
    if run_dir is None:
        yield None
        return
    with RunDirectory(Path(run_dir)) as directory:
        directory.claim(configuration)
        yield directory.path


@contextmanager
def answers_folder(folder: Path | None) -> Iterator[Path]:
    """The folder for answers: the run's, or a temporary one. Never in memory, which would grow with the run."""
    if folder is not None:
        yield folder
        return
    with TemporaryDirectory(prefix="factloop-") as temporary:
        yield Path(temporary)


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
