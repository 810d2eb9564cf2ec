"""Judges the items of a run by workers on Ray: processes of this machine, or of a cluster.

One process keeps hundreds of model calls in flight, since it mostly waits. More processes help where the work between
the calls (prompts, JSON, searching documents, the offline engine) takes all of one core, more machines where it takes
all cores of one.

Every worker has its share of the run's limits (module `shares`) and learns the server's pace for itself. Journals:
module `journals`. Identical calls are shared between workers only once one of them was answered.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import socket
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Any

import factloop
from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.evaluation.running.folders import answers_folder
from factloop.evaluation.running.journals import gather
from factloop.evaluation.running.run import AnyRecord, Item
from factloop.evaluation.running.shares import divide, is_limited
from factloop.evaluation.running.team import Team, one_line
from factloop.evaluation.running.worker import Home, OpenJudge, Worker, machine_of
from factloop.setup.settings import CheckSettings

REPLACEMENTS = 3
"""Replacements of each worker. With a limit on calls or dollars there are none: what a dead one spent is unknown."""
CLOSED_WITHIN_S = 5.0
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
    documents at the same paths. An item whose worker dies is given to another; `describe` is what messages call it.
    `directory` keeps the answers paid for. A caller that stops before the end closes the generator
    (`contextlib.aclosing`), which ends the workers.

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
        remote = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(Worker)
        team = Team[Item, AnyRecord](
            shares=divide(settings, workers, paid=paid),
            items=iter(items),
            describe=describe,
            hire=lambda share: remote.remote(open_judge, share, folder, home),
            end=ray.kill,
            n_replacements=0 if is_limited(settings) else REPLACEMENTS * workers,
        )
        try:
            async with aclosing(team.judged()) as judging:
                async for judged in judging:
                    yield judged
        finally:
            await _end(team)


@contextmanager
def _kept_in(settings: CheckSettings, directory: Path | None) -> Iterator[Path | None]:
    """The folder of the journals; None for the user's cache."""
    if directory is None and settings.cache and settings.model is not None:
        yield None
        return
    with answers_folder(directory) as folder:
        yield Path.cwd() / folder


async def _end(team: Team[Any, Any]) -> None:
    """Ends the workers, and gives up the items that they are at. Those still starting have nothing to close."""
    for future in team.under_way:
        _drop(future)
    ready = [member.actor for member in team.members if member.ready]
    for member in team.members:
        if not member.ready:
            team.end(member.actor)
    closing = {asyncio.wrap_future(actor.close.remote().future()): actor for actor in ready}
    if closing:
        await asyncio.wait(closing, timeout=CLOSED_WITHIN_S)
    for future, actor in closing.items():
        _drop(future)
        team.end(actor)


def _drop(future: asyncio.Future[Any]) -> None:
    if not future.cancel() and not future.cancelled():
        future.exception()  # or asyncio complains that it was never retrieved


@contextmanager
def connected(workers: int, address: str | None) -> Iterator[Any]:
    """Connects to Ray; several runs may share it. A connection that the caller has is used, and left open.

    Raises ConfigError where Ray is not installed, cannot be started, or no cluster is at the address.
    """
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    require("ray", "--engine ray")
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
