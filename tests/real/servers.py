from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def running(
    command: Sequence[str | Path], port: int, path: str | None = None, *, within_s: float = 20.0, **options: Any
) -> Iterator[None]:
    """Runs a server until the block ends. It is ready once it listens or, with `path`, once that address responds."""
    process: subprocess.Popen[bytes] = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, **options
    )
    try:
        ends_at = time.monotonic() + within_s
        while not _is_ready(port, path):
            assert process.poll() is None, f"{command[0]} has ended"
            assert time.monotonic() < ends_at, f"{command[0]} does not answer"
            time.sleep(0.05)
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with the processes that it has started
        process.wait()


def _is_ready(port: int, path: str | None) -> bool:
    try:
        if path is not None:
            return httpx.get(f"http://127.0.0.1:{port}{path}", timeout=5.0).is_success
        socket.create_connection(("127.0.0.1", port)).close()
    except (OSError, httpx.TransportError):
        return False
    return True
