"""Judges the items of a run by workers on Ray: processes of this machine, or of a cluster.

One process keeps hundreds of model calls in flight, since it mostly waits. More processes help where the work between
the calls (prompts, JSON, searching documents, the offline engine) takes all of one core, more machines where it takes
all cores of one.

Every worker has its share of the run's limits and learns the server's pace for itself. Ray restarts a worker that dies,
and repeats the items that it was at. Answers are kept as the module `journals` says. Identical calls are shared between
workers only once one of them was answered.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import socket
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

import factloop
from factloop.core.errors import ConfigError, DataError, ToolError
from factloop.core.extras import require
from factloop.evaluation.running.journals import gather, journal_at
from factloop.evaluation.running.run import AT_ONCE, AnyRecord, Item, Judge, answers_folder
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.together import as_they_come

RESTARTS = 2
"""Restarts of a worker by Ray. With a limit on calls or dollars there are none: what a dead worker spent is unknown."""
MOST_WORKERS = 3
"""Workers that an item is given to before it is blamed for their deaths."""
STARTED_WITHIN_S = 300.0
"""Seconds without a worker that is ready, after which none is waited for: the cluster may never have room for one."""
REACHED_WITHIN_S = 10.0
_OBJECT_STORE_BYTES = 80 * 2**20
"""Bytes of Ray's object store, close to its least: a response with its report has some hundred kilobytes."""
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_DISABLE_FAILURE_SIGNAL_HANDLER": "1",  # or it prints its stack where the run is ended by SIGTERM
}
"""Variables that Ray reads when it is imported."""
_PASSED_ON = re.compile(
    r"(FACTLOOP|OPENAI|SERPER|ANTHROPIC|AZURE|AWS|GOOGLE|GEMINI|MISTRAL|COHERE|GROQ|HF|LANGCHAIN|LANGSMITH)_\w+"
    r"|\w+_(API_KEY|API_TOKEN|BASE_URL|API_BASE|ENDPOINT)|(HTTPS?|NO|ALL)_PROXY|SSL_CERT_FILE|REQUESTS_CA_BUNDLE",
    re.IGNORECASE,
)
"""Variables that workers on other machines are given."""


_LOGGER = logging.getLogger(__name__)

OpenJudge = Callable[[CheckSettings, Path | None], AbstractAsyncContextManager[Judge[Item, AnyRecord]]]
"""A judge with these settings that keeps answers at the path, or in the user's cache. A function of a module, which
processes find by its name."""


async def judged_on_ray(
    items: Iterable[Item],
    open_judge: OpenJudge[Item, AnyRecord],
    settings: CheckSettings,
    *,
    describe: Callable[[Item], str],
    directory: Path | None,
    workers: int,
    address: str | None = None,
) -> AsyncGenerator[AnyRecord, None]:
    """The records as they come, from so many workers; `items` is read no further than they have room.

    Without an `address` a small Ray of this machine is started, and ended with the generator; with one (`auto`,
    `HOST:6379`) the workers go to the machines of that cluster, each of which has this version of factloop, and the
    documents at the same paths. `describe` is what messages call an item. `directory` keeps the answers paid for. A
    caller that stops before the end closes the generator (`contextlib.aclosing`), which ends the workers.

    Raises ConfigError (Ray is not installed, no cluster at that address, settings), DataError, and ToolError where
    workers keep dying, or none can be started.
    """
    if workers < 1:
        raise ConfigError(f"--workers {workers}: at least one is needed")
    divide(settings, workers, paid=(0, 0.0))  # what is wrong with it is said before Ray is started
    with connected(workers, address) as ray, _kept_in(settings, directory) as folder:
        home = _home(ray)
        elsewhere = any(node["NodeManagerAddress"] != home.machine for node in ray.nodes() if node["Alive"])
        paid = gather(folder, elsewhere=elsewhere) if folder is not None else (0, 0.0)
        shares = divide(settings, workers, paid=paid)
        restarts = 0 if is_limited(settings) else RESTARTS
        remote = ray.remote(num_cpus=1, scheduling_strategy="SPREAD", max_restarts=restarts, max_task_retries=restarts)(
            Worker
        )
        actors = [remote.remote(open_judge, share, folder, home) for share in shares]
        pool = Pool[Item, AnyRecord](actors, [room_of(share) for share in shares], describe)
        try:
            async with aclosing(pool.judged(items)) as judging:
                async for judged in judging:
                    yield judged
        finally:
            for actor in actors:
                ray.kill(actor)


class Pool(Generic[Item, AnyRecord]):
    """Workers, each with room for so many items at a time."""

    def __init__(self, actors: Sequence[Any], rooms: Sequence[int], describe: Callable[[Item], str]) -> None:
        self._rooms = dict(zip(actors, rooms, strict=True))
        self._describe = describe
        self._alive = set(actors)
        self._free: asyncio.Queue[Any] = asyncio.Queue()
        """A worker once for each item that it has room for."""

    async def judged(
        self, items: Iterable[Item], *, started_within_s: float = STARTED_WITHIN_S
    ) -> AsyncGenerator[AnyRecord, None]:
        """The records as they come. Ends with the last, even if workers are still starting: they may never find room.

        Raises ToolError where no worker is left, or none gets ready in `started_within_s`.
        """
        opening = {asyncio.ensure_future(self._open(actor)) for actor in self._rooms}
        try:
            done, _ = await asyncio.wait(opening, timeout=started_within_s, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                raise ToolError(
                    f"no worker was ready within {started_within_s:g} s: the cluster has no room for one, or its "
                    "machines do not answer. What was judged is kept",
                    tool="ray",
                )
            judging = as_they_come(items, self._judge, at_once=sum(self._rooms.values()))
            async with aclosing(judging) as records:
                _raise_first(opening)
                async for record in records:
                    yield record
                    _raise_first(opening)
        finally:
            for future in opening:
                future.cancel()
            await asyncio.gather(*opening, return_exceptions=True)

    async def _open(self, actor: Any) -> None:
        try:
            _refuse_wrong(await actor.open.remote())
        except _actor_error() as error:
            self._bury(actor, error)
            return
        for _ in range(self._rooms[actor]):
            self._free.put_nowait(actor)

    async def _judge(self, item: Item) -> AnyRecord:
        for _ in range(MOST_WORKERS):
            while (actor := await self._free.get()) not in self._alive:
                pass
            try:
                record: AnyRecord = _refuse_wrong(await actor.judge.remote(item))
            except _actor_error() as error:
                self._bury(actor, error)
                death = one_line(error)
                continue
            self._free.put_nowait(actor)
            return record
        raise ToolError(f"{MOST_WORKERS} workers died while they judged {self._describe(item)}: {death}", tool="ray")

    def _bury(self, actor: Any, error: Exception) -> None:
        """Takes a worker that Ray gave up out of the pool. Raises ToolError where none is left."""
        if actor in self._alive:
            _LOGGER.warning("A worker died (%s); its work goes to others.", type(error).__name__)
        self._alive.discard(actor)
        if not self._alive:
            raise ToolError(f"all workers died: {one_line(error)}. What was judged is kept", tool="ray")


def _raise_first(opening: Iterable[asyncio.Future[None]]) -> None:
    """Raises the error of a worker that could not be set up."""
    for future in opening:
        if future.done():
            future.result()


def _actor_error() -> type[Exception]:
    from ray.exceptions import RayActorError

    error: type[Exception] = RayActorError
    return error


def _refuse_wrong(answer: Any) -> Any:
    if isinstance(answer, Wrong):
        raise (DataError if answer.is_about_data else ConfigError)(answer.message)
    return answer


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
        os.environ.update(home.environment)
        with suppress(OSError):  # on another machine it may not be there: paths from it are then missed by name
            os.chdir(home.folder)

    async def open(self) -> Wrong | None:
        """Starts the engine. A wrong set-up shows here."""
        ours, theirs = factloop.__version__, self._home.version
        if ours != theirs:
            return Wrong(is_about_data=False, message=f"{_here()} has factloop {ours}, this machine {theirs}")
        try:
            await self._judge()
        except (ConfigError, DataError) as error:
            return _wrong(error)
        return None

    async def judge(self, item: Item) -> AnyRecord | Wrong:
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
    with closing(CallCache(journal)) as cache:
        return cache.paid()


def _wrong(error: ConfigError | DataError) -> Wrong:
    return Wrong(is_about_data=isinstance(error, DataError), message=str(error))


def room_of(share: CheckSettings) -> int:
    """Items in work at a time: enough to use a share of the calls in flight, as in one process."""
    return max(2, min(AT_ONCE, share.concurrency // 2)) if share.concurrency else AT_ONCE


def one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def divide(settings: CheckSettings, workers: int, *, paid: tuple[int, float]) -> list[CheckSettings]:
    """The settings of each worker. Calls and dollars `paid` by earlier attempts are taken off first.

    What one worker leaves of its share no other can use: near its end a budget is kept, not used up. Raises ConfigError
    for more workers than calls may be in flight.
    """
    if 0 < settings.concurrency < workers:
        raise ConfigError(f"--workers {workers}: must not exceed --concurrency ({settings.concurrency})")
    shares = []
    for number in range(workers):
        changes: dict[str, int | float] = {"concurrency": _part(settings.concurrency, number, workers)}
        if settings.requests_per_second is not None:
            changes["requests_per_second"] = settings.requests_per_second / workers
        if settings.max_calls is not None:
            changes["max_calls"] = _part(max(0, settings.max_calls - paid[0]), number, workers)
        if settings.budget_usd is not None:
            changes["budget_usd"] = max(0.0, settings.budget_usd - paid[1]) / workers
        shares.append(CheckSettings.of(settings, **changes))
    return shares


def add_paid(share: CheckSettings, *, paid: tuple[int, float]) -> CheckSettings:
    """The share as limits for an engine whose journal says that so much is paid already."""
    changes: dict[str, int | float] = {}
    if share.max_calls is not None:
        changes["max_calls"] = share.max_calls + paid[0]
    if share.budget_usd is not None:
        changes["budget_usd"] = share.budget_usd + paid[1]
    return CheckSettings.of(share, **changes)


def is_limited(settings: CheckSettings) -> bool:
    """Whether calls or dollars are counted against a limit."""
    return settings.max_calls is not None or settings.budget_usd is not None


def _part(whole: int, number: int, parts: int) -> int:
    """One of `parts` nearly equal parts of `whole`, the larger ones first: 5 in two is 3 and 2."""
    return whole // parts + (number < whole % parts)


@contextmanager
def _kept_in(settings: CheckSettings, directory: Path | None) -> Iterator[Path | None]:
    """The folder of the journals; None for the user's cache."""
    if directory is None and settings.cache and settings.model is not None:
        yield None
        return
    with answers_folder(directory) as folder:
        yield Path.cwd() / folder


@contextmanager
def connected(workers: int, address: str | None) -> Iterator[Any]:
    """Connects to Ray; several runs may share it. A connection that the caller has is used, and left open.

    Raises ConfigError where Ray is not installed, cannot be started, or no cluster is at the address.
    """
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    require("ray", "--workers")
    import ray

    if ray.is_initialized():
        yield ray
        return
    with _quiet():
        _connect(ray, workers, address)
        try:
            yield ray
        finally:
            ray.shutdown()


@contextmanager
def _quiet() -> Iterator[None]:
    """Silences Ray: it tells of its start on standard error, and of dead workers on standard output, which is ours."""
    from ray._private import worker

    theirs: Any = worker  # there is no public switch
    logger = logging.getLogger("ray")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    theirs._worker_logs_enabled = False
    try:
        yield
    finally:
        theirs._worker_logs_enabled = True
        logger.setLevel(level)


def _connect(ray: Any, workers: int, address: str | None) -> None:
    quiet: Mapping[str, Any] = {"log_to_driver": False, "configure_logging": False}
    try:
        if address is not None:
            _try_to_reach(address)
            ray.init(address=address, **quiet)
            return
        # From this thread, which lasts: the system ends Ray's processes with the thread that started them.
        ray.init(
            address="local",  # or a RAY_ADDRESS in the environment would be taken
            num_cpus=workers,
            include_dashboard=False,
            object_store_memory=_OBJECT_STORE_BYTES,
            _node_ip_address="127.0.0.1",
            **quiet,
        )
    except (OSError, RuntimeError, ValueError) as error:
        where = f"--address {address}: no Ray cluster answers" if address else "Ray cannot be started here"
        raise ConfigError(f"{where} ({one_line(error)})") from error


def _try_to_reach(address: str) -> None:
    """Connects to the address first: Ray itself tries for minutes, and then ends the process. Raises OSError."""
    found = re.fullmatch(r"(?:\w+://)?([^/:]+):([0-9]{1,5})", address)
    if found is not None:
        socket.create_connection((found[1], int(found[2])), timeout=REACHED_WITHIN_S).close()


def _home(ray: Any) -> Home:
    environment = {name: value for name, value in os.environ.items() if _PASSED_ON.fullmatch(name)}
    return Home(machine_of(ray), Path.cwd(), environment, factloop.__version__)
