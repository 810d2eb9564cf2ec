from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

USER = "postgres"


class CommandFailed(Exception):
    """A PostgreSQL command failed; the message has its output."""


@dataclass(frozen=True)
class PostgresServer:
    """A server with an empty database that can be stopped and restarted. Raises CommandFailed."""

    url: str
    _control: tuple[object, ...]
    _start: tuple[object, ...]

    def start(self) -> None:
        _run(*self._control, *self._start)

    def stop(self) -> None:
        _run(*self._control, "-m", "immediate", "stop")


@contextmanager
def running() -> Iterator[PostgresServer]:
    """Starts a separate server. Skips the test, with the reason, if none can be started."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not programs:
        pytest.skip("PostgreSQL is not installed")
    pytest.importorskip("psycopg", reason="the extra factloop[postgres] is not installed")
    folder = Path(tempfile.mkdtemp(prefix="factloop-postgres-"))
    try:
        try:
            server = _started(programs[-1], folder)
        except CommandFailed as error:
            pytest.skip(f"PostgreSQL does not start: {error}")
        try:
            yield server
        finally:
            with suppress(CommandFailed):  # where the test stopped it
                server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _started(initdb: Path, folder: Path) -> PostgresServer:
    prefix = _as_somebody(folder)
    _run(*prefix, initdb, "-D", folder / "data", "-U", USER, "-A", "trust", "--no-sync")
    port = _free_port()
    options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= -c fsync=off"
    server = PostgresServer(
        f"postgresql+psycopg://{USER}@127.0.0.1:{port}/postgres",
        (*prefix, initdb.with_name("pg_ctl"), "-D", folder / "data", "-w"),
        ("-l", folder / "log", "-o", options, "start"),
    )
    server.start()
    return server


def _as_somebody(folder: Path) -> list[str]:
    """A prefix for commands: the server refuses to run as root."""
    if os.geteuid() != 0:
        return []
    try:
        somebody = pwd.getpwnam(USER)
    except KeyError:
        pytest.skip("PostgreSQL cannot be run by root, and there is no user postgres")
    os.chown(folder, somebody.pw_uid, somebody.pw_gid)
    return ["runuser", "-u", USER, "--"]


def _run(*command: object) -> None:
    words = [str(word) for word in command]
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise CommandFailed(f"{' '.join(words)}: {done.stderr.decode(errors='replace')[:200]}")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
