"""A PostgreSQL server of the tests' own, where its programs are installed."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

USER = "postgres"


@contextmanager
def running() -> Iterator[str]:
    """The URL of an empty database. Skips, with the reason, where no server can be started."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not programs:
        pytest.skip("PostgreSQL is not installed")
    pytest.importorskip("psycopg", reason="the extra factloop[postgres] is not installed")
    folder = Path(tempfile.mkdtemp(prefix="factloop-postgres-"))
    try:
        prefix = _as_somebody(folder)
        _run(*prefix, programs[-1], "-D", folder / "data", "-U", USER, "-A", "trust", "--no-sync")
        port = _free_port()
        control = [*prefix, programs[-1].with_name("pg_ctl"), "-D", folder / "data", "-w"]
        options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= -c fsync=off"
        _run(*control, "-l", folder / "log", "-o", options, "start")
        try:
            yield f"postgresql+psycopg://{USER}@127.0.0.1:{port}/postgres"
        finally:
            _run(*control, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _as_somebody(folder: Path) -> list[str]:
    """The beginning of a command: the server refuses to be run by root."""
    if os.geteuid() != 0:
        return []
    try:
        somebody = pwd.getpwnam(USER)
    except KeyError:
        pytest.skip("PostgreSQL cannot be run by root, and there is no user postgres")
    os.chown(folder, somebody.pw_uid, somebody.pw_gid)
    return ["runuser", "-u", USER, "--"]


def _run(*command: object) -> None:
    done = subprocess.run(
        [str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"PostgreSQL does not start: {done.stderr.decode(errors='replace')[:200]}")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
