"""Judges a run's items with Ray workers, which are processes on this machine or in a cluster.

A single process can keep hundreds of model calls in flight, because it mostly waits. More processes help if the work
between calls (prompts, JSON, searching documents, the offline engine) saturates one core, and more machines if it
saturates all cores of one machine.

Each worker gets a share of the run's limits and adapts to the server's rate limits independently. If a worker dies, Ray
restarts it, but the remaining workers take over its unfinished items, because the cluster may have no capacity for a
replacement. Workers share only saved answers (see `journals`), so a call that is in flight in one worker may be
repeated by another.
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
"""Number of times that Ray restarts a worker. If calls or costs are limited, workers are not restarted, because it is
unknown how much a dead worker has spent."""
MOST_WORKERS = 3
"""Number of workers that may die while judging the same item before the run fails."""
STARTED_WITHIN_S = 300.0
"""Maximum wait for the first worker. The cluster may never have capacity for one."""
REPLACED_WITHIN_S = 50.0
"""Maximum wait for a replacement if all workers have died."""
REACHED_WITHIN_S = 10.0
_OBJECT_STORE_BYTES = 80 * 2**20
"""Close to the minimum. A response with its report takes a few hundred kilobytes."""
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_DISABLE_FAILURE_SIGNAL_HANDLER": "1",  # otherwise SIGTERM makes it print its stack
}
_PASSED_ON = re.compile(
    r"(FACTLOOP|OPENAI|SERPER|ANTHROPIC|AZURE|AWS|GOOGLE|GEMINI|MISTRAL|COHERE|GROQ|HF|LANGCHAIN|LANGSMITH)_\w+"
    r"|\w+_(API_KEY|API_TOKEN|BASE_URL|API_BASE|ENDPOINT)|(HTTPS?|NO|ALL)_PROXY|SSL_CERT_FILE|REQUESTS_CA_BUNDLE",
    re.IGNORECASE,
)


_LOGGER = logging.getLogger(__name__)

OpenJudge = Callable[[CheckSettings, Path | None], AbstractAsyncContextManager[Judge[Item, AnyRecord]]]
"""Opens a judge with these settings. Answers are saved at the path, or in the user's cache if the path is None. The
function must be defined at module level, so that other processes can find it by name."""


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
    """Yields the records as workers complete them. Reads only as many `items` as the workers have capacity for.

    Without an `address`, a small local Ray instance runs until the generator is closed. With an address (`auto`,
    `HOST:6379`), the workers run on the machines of that cluster, each of which must have this version of factloop and
    the documents at the same paths. `describe` names an item in messages. Paid answers are saved in `directory`. A
    caller that stops early must close the generator (`contextlib.aclosing`), which stops the workers.

    Raises ConfigError if Ray is not installed, if there is no cluster at that address, or if the settings are invalid.
    Raises ToolError if workers keep dying or none can be started, and any DataError of the engine.
    """
    if workers < 1:
        raise ConfigError(f"--workers must be at least 1, not {workers}")
    divide(settings, workers, paid=(0, 0.0))  # reports errors in the settings before Ray is started
    with connected(workers, address) as ray, _kept_in(settings, directory) as folder:
        environment = {name: value for name, value in os.environ.items() if _PASSED_ON.fullmatch(name)}
        home = Home(machine_of(ray), Path.cwd(), environment, factloop.__version__)
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
    """`rooms` holds the number of items that each worker processes at a time."""

    def __init__(self, actors: Sequence[Any], rooms: Sequence[int], describe: Callable[[Item], str]) -> None:
        self._rooms = dict(zip(actors, rooms, strict=True))
        self._describe = describe
        self._alive = set(actors)
        self._unopened = set(actors)
        self._open: set[_Open] = set()
        self._opening: set[asyncio.Future[None]] = set()
        self._giving_up: asyncio.TimerHandle | None = None
        self._free: asyncio.Queue[_Open | BaseException] = asyncio.Queue()
        """Contains each running worker once per item that it has capacity for, or an error if none will ever run."""

    async def judged(
        self,
        items: Iterable[Item],
        *,
        started_within_s: float = STARTED_WITHIN_S,
        replaced_within_s: float = REPLACED_WITHIN_S,
    ) -> AsyncGenerator[AnyRecord, None]:
        """Yields the records as they are completed. Does not wait at the end for workers that are still starting.

        Raises ToolError if all workers have died and none is replaced within `replaced_within_s`, or if none is ready
        within `started_within_s`.
        """
        self._within_s = (started_within_s, replaced_within_s)
        try:
            for actor in self._rooms:
                self._begin(actor)
            self._await_one()
            judging = as_they_come(items, self._judge, at_once=sum(self._rooms.values()))
            async with aclosing(judging) as records:
                async for record in records:
                    yield record
                    for future in self._opening:
                        if future.done():
                            future.result()  # raises the error of a worker that could not be set up
        finally:
            if self._giving_up is not None:
                self._giving_up.cancel()
            for future in self._opening:
                future.cancel()
            await asyncio.gather(*self._opening, return_exceptions=True)

    def _begin(self, actor: Any) -> None:
        """Starts a worker in the background, or replaces a dead worker once Ray has capacity."""

        def note_error(opening: asyncio.Future[None]) -> None:
            if not opening.cancelled() and (error := opening.exception()) is not None:
                self._free.put_nowait(error)

        opening = asyncio.ensure_future(self._start(actor))
        opening.add_done_callback(note_error)
        self._opening.add(opening)

    async def _start(self, actor: Any) -> None:
        try:
            _refuse_wrong(await actor.open.remote())
        except _actor_error() as error:
            self._bury(actor, error)
            return
        worker = _Open(actor)
        self._open.add(worker)
        self._unopened.discard(actor)
        if self._giving_up is not None:
            self._giving_up.cancel()
        for _ in range(self._rooms[actor]):
            self._free.put_nowait(worker)

    def _await_one(self) -> None:
        """Ends the run if no worker starts in time. The first start may take longer, because machines must boot."""
        started_within_s, replaced_within_s = self._within_s
        error = _none_left(f"none was replaced within {replaced_within_s:g} s")
        if self._unopened:
            error = ToolError(
                f"no worker was ready within {started_within_s:g} s: the cluster has no capacity for one, or its "
                "machines do not respond. Finished judgements are kept",
                tool="ray",
            )
        within_s = started_within_s if self._unopened else replaced_within_s
        self._giving_up = asyncio.get_running_loop().call_later(within_s, self._free.put_nowait, error)

    async def _judge(self, item: Item) -> AnyRecord:
        for _ in range(MOST_WORKERS):
            worker = await self._next()
            try:
                judging = worker.actor.judge.options(max_task_retries=0).remote(item)
                record: AnyRecord = _refuse_wrong(await judging)
            except _actor_error() as error:
                self._replace(worker, error)
                death = one_line(error)
                continue
            self._free.put_nowait(worker)
            return record
        whom = self._describe(item)
        raise ToolError(f"{MOST_WORKERS} workers died while judging {whom}; the last error was: {death}", tool="ray")

    async def _next(self) -> _Open:
        while (worker := await self._free.get()) not in self._open:
            if isinstance(worker, BaseException):
                self._free.put_nowait(worker)  # for the other items
                raise worker
        return worker

    def _replace(self, worker: _Open, error: Exception) -> None:
        if worker in self._open:
            _LOGGER.warning("A worker died (%s); other workers take over its items.", type(error).__name__)
            self._open.discard(worker)
            self._begin(worker.actor)
            if not self._open:
                self._await_one()

    def _bury(self, actor: Any, error: Exception) -> None:
        self._alive.discard(actor)
        self._unopened.discard(actor)
        if not self._alive:
            self._free.put_nowait(_none_left(one_line(error)))


@dataclass(frozen=True, eq=False)
class _Open:
    """A running worker. The replacement for a dead worker is a new object."""

    actor: Any


def _none_left(why: str) -> ToolError:
    return ToolError(f"all workers died: {why}. Finished judgements are kept", tool="ray")


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
    machine: str
    folder: Path
    """The working directory, which relative paths in the settings refer to."""
    environment: Mapping[str, str]
    """Environment variables with keys and addresses. They stay out of Ray's runtime environment, which is logged."""
    version: str


@dataclass(frozen=True)
class Wrong:
    """A ConfigError or a DataError in a form that, unlike the exception itself, can be passed between processes."""

    is_about_data: bool
    message: str


class Worker(Generic[Item, AnyRecord]):
    def __init__(
        self, open_judge: OpenJudge[Item, AnyRecord], share: CheckSettings, directory: Path | None, home: Home
    ) -> None:
        """Without a `directory`, answers are saved in the user's cache."""
        self._open_judge, self._share, self._directory, self._home = open_judge, share, directory, home
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._opened: Judge[Item, AnyRecord] | None = None
        os.environ.update(home.environment)
        with suppress(OSError):  # it may not exist on another machine; errors then name the missing relative paths
            os.chdir(home.folder)

    async def open(self) -> Wrong | None:
        ours, theirs = factloop.__version__, self._home.version
        if ours != theirs:
            message = f"the worker on {_here()} has factloop {ours}, but the run has {theirs}; install the same version"
            return Wrong(is_about_data=False, message=message)
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
                    with closing(CallCache(journal)) as cache:
                        share = add_paid(share, paid=cache.paid())
                self._opened = await self._stack.enter_async_context(self._open_judge(share, journal))
            return self._opened


def machine_of(ray: Any) -> str:
    here = ray.get_runtime_context().get_node_id()
    return next(str(node["NodeManagerAddress"]) for node in ray.nodes() if node["NodeID"] == here)


def _here() -> str:
    import ray

    return machine_of(ray)


def _wrong(error: ConfigError | DataError) -> Wrong:
    return Wrong(is_about_data=isinstance(error, DataError), message=str(error))


def room_of(share: CheckSettings) -> int:
    """Returns how many items a worker should process at once to use its full share of the calls in flight."""
    return max(2, min(AT_ONCE, share.concurrency // 2)) if share.concurrency else AT_ONCE


def one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def divide(settings: CheckSettings, workers: int, *, paid: tuple[int, float]) -> list[CheckSettings]:
    """Divides the limits among the workers, after subtracting the calls and dollars that earlier attempts `paid` for.

    No worker can use the unused share of another, so a run may end slightly below its budget. Raises ConfigError if
    there are more workers than concurrent calls allowed.
    """
    if 0 < settings.concurrency < workers:
        raise ConfigError(f"--workers must not exceed --concurrency ({settings.concurrency}), but is {workers}")
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
    """Adds paid calls and dollars to a share, because an engine counts the calls in its journal against its limits."""
    changes: dict[str, int | float] = {}
    if share.max_calls is not None:
        changes["max_calls"] = share.max_calls + paid[0]
    if share.budget_usd is not None:
        changes["budget_usd"] = share.budget_usd + paid[1]
    return CheckSettings.of(share, **changes)


def is_limited(settings: CheckSettings) -> bool:
    return settings.max_calls is not None or settings.budget_usd is not None


def _part(whole: int, number: int, parts: int) -> int:
    return whole // parts + (number < whole % parts)


@contextmanager
def _kept_in(settings: CheckSettings, directory: Path | None) -> Iterator[Path | None]:
    if directory is None and settings.cache and settings.model is not None:
        yield None
        return
    with answers_folder(directory) as folder:
        yield Path.cwd() / folder


@contextmanager
def connected(workers: int, address: str | None) -> Iterator[Any]:
    """Connects to Ray. An existing connection is used and left open. Raises ConfigError if Ray is not installed or
    cannot be started, or if there is no cluster at the address."""
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
    """Silences Ray, which otherwise reports its start on standard error and dead workers on our standard output."""
    from ray._private import worker

    theirs: Any = worker  # there is no public option
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
        # Must be called in this thread, which stays alive: the system kills Ray's processes when the thread that
        # started them ends.
        ray.init(
            address="local",  # otherwise a RAY_ADDRESS in the environment would be used
            num_cpus=workers,
            include_dashboard=False,
            object_store_memory=_OBJECT_STORE_BYTES,
            _node_ip_address="127.0.0.1",
            **quiet,
        )
    except Exception as error:  # Ray raises a bare Exception if a node does not start in time
        where = f"no Ray cluster responds at --address {address}" if address else "cannot start Ray"
        raise ConfigError(f"{where} ({one_line(error)})") from error


def _try_to_reach(address: str) -> None:
    """Tests the connection, because Ray itself would retry for minutes and then exit the process. Raises OSError."""
    found = re.fullmatch(r"(?:\w+://)?([^/:]+):([0-9]{1,5})", address)
    if found is not None:
        socket.create_connection((found[1], int(found[2])), timeout=REACHED_WITHIN_S).close()
