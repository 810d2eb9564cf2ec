"""Judges the responses of a run by workers on Ray: processes of this machine, or of a cluster.

One process keeps hundreds of model calls in flight, since it mostly waits. More processes help where the work between
the calls (prompts, JSON, searching documents, the offline engine) takes all of one core, more machines where it takes
all cores of one.

Every worker has its share of the run's limits (`factloop.runs.shares`) and learns the server's pace for itself.
Journals: `factloop.runs.journals`. Identical calls are shared between workers only once one of them was answered.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import socket
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import factloop
from factloop.errors import ConfigError, ToolError
from factloop.evaluation.runs.records import JudgedResponse
from factloop.runs.here import AT_ONCE
from factloop.runs.items import RunItem
from factloop.runs.journals import gather
from factloop.runs.shares import divide, is_limited
from factloop.runs.worker import Home, Worker, Wrong, machine_of
from factloop.settings import CheckSettings

RESTARTS = 3
"""Of one worker that dies. One with a limit on calls or dollars is not started again: nobody knows what it spent."""
MOST_TRIALS = 3
"""Workers that a response is given to before it is blamed for their deaths."""
CLOSED_WITHIN_S = 5.0
REACHED_WITHIN_S = 10.0
_OBJECT_STORE_BYTES = 80 * 2**20
"""Close to the least that Ray takes: a response with its report has some hundred kilobytes."""
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}
_PASSED_ON = re.compile(
    r"(FACTLOOP|OPENAI|SERPER|ANTHROPIC|AZURE|AWS|GOOGLE|GEMINI|MISTRAL|COHERE|GROQ|HF|LANGCHAIN|LANGSMITH)_\w+"
    r"|\w+_(API_KEY|API_TOKEN|BASE_URL|API_BASE|ENDPOINT)|(HTTPS?|NO|ALL)_PROXY|SSL_CERT_FILE|REQUESTS_CA_BUNDLE",
    re.IGNORECASE,
)
"""Variables that workers on other machines are given."""


@dataclass(eq=False)
class _Member:
    """A worker as seen from here."""

    actor: Any
    at_once: int
    ready: bool = False
    n_under_way: int = 0


@dataclass(frozen=True)
class _Asked:
    """What a worker was asked for: to judge a response, or to open."""

    member: _Member
    item: RunItem | None = None
    trial: int = 1


@dataclass
class _Team:
    """Gives responses to workers and takes back what the dead leave behind."""

    members: list[_Member]
    items: Iterator[RunItem]
    end: Callable[[Any], None]
    """Ends an actor."""
    returned: deque[tuple[RunItem, int]] = field(default_factory=deque)
    under_way: dict[asyncio.Future[Any], _Asked] = field(default_factory=dict)
    last_death: str = ""

    async def judged(self) -> AsyncGenerator[JudgedResponse, None]:
        for member in self.members:
            self._ask(_Asked(member))
        self._hand_out()
        while self.under_way:
            done, _ = await asyncio.wait(self.under_way, return_when=asyncio.FIRST_COMPLETED)
            for future in done:
                answer = self._take(future)
                if answer is not None:
                    yield answer
            self._hand_out()

    def _ask(self, asked: _Asked) -> None:
        actor = asked.member.actor
        ref = actor.open.remote() if asked.item is None else actor.judge.remote(asked.item)
        self.under_way[asyncio.wrap_future(ref.future())] = asked
        asked.member.n_under_way += 1

    def _hand_out(self) -> None:
        """Fills up the workers, the least busy first. Raises ToolError where all are dead and something is left."""
        while free := [member for member in self.members if member.ready and member.n_under_way < member.at_once]:
            waiting = self._next()
            if waiting is None:
                return
            self._ask(_Asked(min(free, key=lambda member: member.n_under_way), *waiting))
        if not self.members and (self.returned or next(self.items, None) is not None):
            raise ToolError(f"all workers died: {self.last_death}. What was judged is kept", tool="ray")

    def _next(self) -> tuple[RunItem, int] | None:
        if self.returned:
            return self.returned.popleft()
        item = next(self.items, None)
        return None if item is None else (item, 1)

    def _take(self, future: asyncio.Future[Any]) -> JudgedResponse | None:
        from ray.exceptions import RayActorError  # it is installed, as a worker answered

        asked = self.under_way.pop(future)
        asked.member.n_under_way -= 1
        try:
            answer = future.result()
        except RayActorError as error:
            self._bury(asked, error)
            return None
        if isinstance(answer, Wrong):
            raise answer.raised()
        if asked.item is None:
            asked.member.ready = True
            return None
        assert isinstance(answer, JudgedResponse)
        return answer

    def _bury(self, asked: _Asked, error: Exception) -> None:
        """Its responses go to others. Raises ToolError for one that too many died of."""
        self.last_death = _one_line(error)
        if asked.member in self.members:
            self.members.remove(asked.member)
            self.end(asked.member.actor)  # one that is only out of reach would go on spending
        if asked.item is None:
            return
        if asked.trial == MOST_TRIALS:
            raise ToolError(
                f"{MOST_TRIALS} workers died while they judged the response {asked.item.id!r}: {self.last_death}",
                tool="ray",
            )
        self.returned.append((asked.item, asked.trial + 1))


async def judge_on_ray(
    settings: CheckSettings,
    items: Iterable[RunItem],
    *,
    directory: Path | None,
    workers: int,
    address: str | None = None,
) -> AsyncGenerator[JudgedResponse, None]:
    """The judged responses as they come, from so many workers; `items` is read no further than they have room.

    Without an `address` a small Ray of this machine is started, and ended with the generator; with one (`auto`,
    `HOST:6379`) the workers go to the machines of that cluster, each of which has this version of factloop, and the
    documents at the same paths. A response whose worker dies is given to another. `directory` keeps the answers paid
    for. Whoever stops before the end closes it (`contextlib.aclosing`), which ends the workers.

    Raises ConfigError (Ray is not installed, no cluster at that address, settings), DataError, and ToolError where
    workers keep dying.
    """
    if workers < 1:
        raise ConfigError(f"--workers {workers}: at least one is needed")
    divide(settings, workers, paid=(0, 0.0))  # what is wrong with it is said before Ray is started
    with connected(workers, address) as ray, _kept_in(settings, directory) as folder:
        home = _home(ray)
        elsewhere = any(node["NodeManagerAddress"] != home.machine for node in ray.nodes() if node["Alive"])
        paid = gather(folder, elsewhere=elsewhere) if folder is not None else (0, 0.0)
        restarts = 0 if is_limited(settings) else RESTARTS
        remote = ray.remote(num_cpus=1, max_restarts=restarts, max_task_retries=restarts, scheduling_strategy="SPREAD")(
            Worker
        )
        team = _Team(
            [
                _Member(remote.remote(share, folder, home), _at_once(share))
                for share in divide(settings, workers, paid=paid)
            ],
            iter(items),
            ray.kill,
        )
        actors = [member.actor for member in team.members]
        try:
            async for judged in team.judged():
                yield judged
        finally:
            for future in team.under_way:
                future.cancel()
            await _end(ray, actors)


@contextmanager
def _kept_in(settings: CheckSettings, directory: Path | None) -> Iterator[Path | None]:
    """The folder of the journals. Without one: the user's cache, or one for this run, as memory would grow with it."""
    if directory is not None:
        yield Path.cwd() / directory
    elif settings.cache and settings.model is not None:
        yield None
    else:
        with TemporaryDirectory(prefix="factloop-") as temporary:
            yield Path(temporary)


def _at_once(share: CheckSettings) -> int:
    """Responses in work at a time: enough to use a share of the calls in flight, as in one process."""
    return max(2, min(AT_ONCE, share.concurrency // 2)) if share.concurrency else AT_ONCE


async def _end(ray: Any, actors: list[Any]) -> None:
    closing = [asyncio.wrap_future(actor.close.remote().future()) for actor in actors]
    await asyncio.wait(closing, timeout=CLOSED_WITHIN_S)
    for future, actor in zip(closing, actors, strict=True):
        if future.done() and not future.cancelled():
            future.exception()  # seen: it was dead already
        future.cancel()
        ray.kill(actor)


@contextmanager
def connected(workers: int, address: str | None) -> Iterator[Any]:
    """Ray, connected; several runs may share it. A connection that the caller has is used, and left open.

    Raises ConfigError where Ray is not installed, cannot be started, or no cluster is at the address.
    """
    try:
        import ray
    except ImportError as error:
        raise ConfigError("--engine ray needs Ray: pip install 'factloop[ray]'") from error
    if ray.is_initialized():
        yield ray
        return
    logger = logging.getLogger("ray")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        _connect(ray, workers, address)
        try:
            yield ray
        finally:
            ray.shutdown()
    finally:
        logger.setLevel(level)


def _connect(ray: Any, workers: int, address: str | None) -> None:
    quiet: Mapping[str, Any] = {"log_to_driver": False, "configure_logging": False}
    try:
        if address is not None:
            _try_to_reach(address)
            ray.init(address=address, **quiet)
            return
        for name, value in _QUIET.items():
            os.environ.setdefault(name, value)
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
        raise ConfigError(f"{where} ({_one_line(error)})") from error


def _try_to_reach(address: str) -> None:
    """Ray itself tries for minutes, and then ends the process. Raises OSError."""
    found = re.fullmatch(r"(?:\w+://)?([^/:]+):([0-9]{1,5})", address)
    if found is not None:
        socket.create_connection((found[1], int(found[2])), timeout=REACHED_WITHIN_S).close()


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def _home(ray: Any) -> Home:
    environment = {name: value for name, value in os.environ.items() if _PASSED_ON.fullmatch(name)}
    return Home(machine_of(ray), Path.cwd(), environment, factloop.__version__)
