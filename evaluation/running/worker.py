"""One worker of a run on Ray: a process of its own with an engine of its own, on this machine or another."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

import factloop
from factloop.core.errors import ConfigError, DataError
from factloop.evaluation.running.journals import journal_at
from factloop.evaluation.running.run import AnyRecord, Item, Judge
from factloop.evaluation.running.shares import add_paid, is_limited
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.cache import CallCache

OpenJudge = Callable[[CheckSettings, Path | None], AbstractAsyncContextManager[Judge[Item, AnyRecord]]]
"""A judge with these settings that keeps answers at the path, or in the user's cache. A function of a module, which
processes find by its name."""


@dataclass(frozen=True)
class Home:
    """The process that started the run, as its workers need to know it."""

    machine: str
    folder: Path
    """Its working directory, which relative paths in the settings start from."""
    environment: Mapping[str, str]
    """Keys and addresses. They travel with the worker, and not in Ray's runtime environment, which Ray logs."""
    version: str


@dataclass(frozen=True)
class Wrong:
    """A ConfigError or a DataError, as an exception would not survive the way between processes."""

    is_about_data: bool
    message: str

    def raised(self) -> ConfigError | DataError:
        return DataError(self.message) if self.is_about_data else ConfigError(self.message)


class Worker(Generic[Item, AnyRecord]):
    """Judges items, any number at a time."""

    def __init__(
        self, open_judge: OpenJudge[Item, AnyRecord], share: CheckSettings, directory: Path | None, home: Home
    ) -> None:
        """Without a `directory`, answers are kept in the user's cache."""
        self._open_judge, self._share, self._directory, self._home = open_judge, share, directory, home
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._opened: Judge[Item, AnyRecord] | None = None
        self._judging: set[asyncio.Task[AnyRecord | Wrong]] = set()
        os.environ.update(home.environment)
        with suppress(OSError):  # on another machine it may not be there: paths from it are then missed by name
            os.chdir(home.folder)

    async def open(self) -> Wrong | None:
        """Starts the engine. A wrong set-up shows here."""
        if factloop.__version__ != self._home.version:
            return Wrong(
                is_about_data=False,
                message=f"{_here()} has factloop {factloop.__version__}, this machine {self._home.version}",
            )
        try:
            await self._judge()
        except (ConfigError, DataError) as error:
            return _wrong(error)
        return None

    async def judge(self, item: Item) -> AnyRecord | Wrong:
        task = asyncio.create_task(self._judged(item))
        self._judging.add(task)
        try:
            return await task
        finally:
            self._judging.discard(task)

    async def close(self) -> None:
        """Stops what is under way, then closes connections and the journal: no answer comes that cannot be kept."""
        judging = tuple(self._judging)
        for task in judging:
            task.cancel()
        await asyncio.gather(*judging, return_exceptions=True)
        await self._stack.aclose()

    async def _judged(self, item: Item) -> AnyRecord | Wrong:
        try:
            judge = await self._judge()
            return await judge(item)
        except (ConfigError, DataError) as error:
            return _wrong(error)

    async def _judge(self) -> Judge[Item, AnyRecord]:
        async with self._opening:
            if self._opened is None:
                journal, share = None, self._share
                if self._directory is not None:
                    journal = journal_at(self._directory, _here(), self._home.machine)
                if journal is not None and is_limited(share):
                    share = add_paid(share, paid=_paid(journal))
                self._opened = await self._stack.enter_async_context(self._open_judge(share, journal))
            return self._opened


def machine_of(ray: Any) -> str:
    """The address of this process's machine in the cluster that it is connected to."""
    here = ray.get_runtime_context().get_node_id()
    return next(str(node["NodeManagerAddress"]) for node in ray.nodes() if node["NodeID"] == here)


def _here() -> str:
    import ray

    return machine_of(ray)


def _paid(journal: Path) -> tuple[int, float]:
    cache = CallCache(journal)
    try:
        return cache.paid()
    finally:
        cache.close()


def _wrong(error: ConfigError | DataError) -> Wrong:
    return Wrong(is_about_data=isinstance(error, DataError), message=str(error))
