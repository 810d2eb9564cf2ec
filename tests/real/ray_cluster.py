from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.real.servers import free_port

HEAD, SECOND = "127.0.0.1", "127.0.0.2"
STARTED_WITHIN_S = 90.0
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}


def is_installed() -> bool:
    return _program().exists()


def _program() -> Path:
    return Path(sys.executable).parent / "ray"


@dataclass
class Cluster:
    address: str
    environment: Mapping[str, str]
    """What a caller needs: the token."""
    nodes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def kill(self, node: str) -> None:
        """Kills all processes of a node at once, like a power failure."""
        process = self.nodes.pop(node)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def kill_agent(self, node: str) -> None:
        """Kills only a node's agent; the node then stops itself."""
        names = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in _in_group(self.nodes[node].pid)}
        (agent,) = [pid for pid, name in names.items() if name.startswith(b"ray::DashboardAgent")]
        os.kill(agent, signal.SIGKILL)


def _in_group(group: int) -> Iterator[int]:
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.getpgid(int(place.name)) == group:
                yield int(place.name)


@contextmanager
def running_cluster(folder: Path) -> Iterator[Cluster]:
    """Two nodes. `folder` must have a short path, since Ray puts sockets there."""
    port = free_port()
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    cluster = Cluster(f"{HEAD}:{port}", token)
    head = ("--head", f"--port={port}", "--include-dashboard=false", f"--temp-dir={folder}")
    with ExitStack() as running:
        running.callback(_kill_all, cluster)
        for node, arguments in ((HEAD, head), (SECOND, (f"--address={cluster.address}",))):
            log = folder.parent / f"{node}.log"
            cluster.nodes[node] = _start(node, arguments, cluster.environment, log)
            _wait_for(log)
        yield cluster


def _start(node: str, arguments: tuple[str, ...], environment: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
    command = [
        str(_program()), "start", "--block", "--num-cpus=1", f"--object-store-memory={80 * 2**20}",
        f"--node-ip-address={node}", *arguments,
    ]  # fmt: skip
    with log.open("wb") as said:
        return subprocess.Popen(
            command,
            stdout=said,
            stderr=subprocess.STDOUT,
            env={**os.environ, **_QUIET, **environment},
            start_new_session=True,
        )


def _wait_for(log: Path) -> None:
    for _ in range(int(STARTED_WITHIN_S / 0.1)):
        if "Ray runtime started" in log.read_text(encoding="utf-8", errors="replace"):
            return
        time.sleep(0.1)
    raise AssertionError(f"Ray does not start: {log.read_text(encoding='utf-8', errors='replace')[-1_000:]}")


def _kill_all(cluster: Cluster) -> None:
    for node in [*cluster.nodes]:
        cluster.kill(node)
