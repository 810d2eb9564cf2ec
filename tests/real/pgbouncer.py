"""PgBouncer of Debian before the tests' PostgreSQL server, pooling by transaction."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.engine import make_url

from tests.real.servers import free_port, running

PROGRAM = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
N_CONNECTIONS = 4  # connections to the server, which all services share


def is_installed() -> bool:
    return os.path.exists(PROGRAM)


@contextmanager
def running_pgbouncer(folder: Path, url: str) -> Iterator[str]:
    server = make_url(url)
    port = free_port()
    users = folder / "users.txt"
    users.write_text(f'"{server.username}" ""\n', encoding="utf-8")
    configuration = folder / "pgbouncer.ini"
    configuration.write_text(
        f"[databases]\n{server.database} = host={server.host} port={server.port}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
        f"auth_type = trust\nauth_file = {users}\npool_mode = transaction\ndefault_pool_size = {N_CONNECTIONS}\n",
        encoding="utf-8",
    )
    for path in (folder, *folder.iterdir()):
        path.chmod(0o755)
    given = ["-u", "postgres"] if os.geteuid() == 0 else []  # it refuses to be run by root
    with running([PROGRAM, *given, configuration], port):
        yield server.set(port=port).render_as_string(hide_password=False)
