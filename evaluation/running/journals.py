"""The journals in which a run on several machines keeps the answers it paid for.

SQLite serves the processes of one machine, and breaks where two machines share a file over a network. So the workers on
the machine that the run was started on share the run's own journal with every other engine, and those on each other
machine have one beside it. At the start of the next attempt all of them become one again, and a machine without a
journal begins with a copy of it: with any number of workers, no answer in the folder is paid for twice. Where the
machines share no folder, an answer paid for elsewhere is known there only; what is lost by a kill is then the work on
responses that were not finished.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from factloop.core.errors import ConfigError
from factloop.core.files.private import make_private_file, make_private_folder
from factloop.tools.calls.cache import CallCache

JOURNAL = "journal.sqlite"
EARLIER = "earlier.sqlite"
"""A copy of the journal as it was at the start; it is never written to."""
_ELSEWHERE = "journal-*.sqlite"


def gather(directory: Path, *, elsewhere: bool) -> tuple[int, float]:
    """Makes one journal of all that earlier attempts left; gives model calls and dollars paid for what it holds.

    To be called while no worker is at work. `elsewhere`: there are other machines, which will want a copy. Raises
    ConfigError for a journal that cannot be used.
    """
    home = directory / JOURNAL
    make_private_folder(directory)
    for path in sorted(directory.glob(_ELSEWHERE)):
        with closing(CallCache(path)), closing(CallCache(home)):  # both are there, and of this format
            pass
        _take_in(path, home)
    (directory / EARLIER).unlink(missing_ok=True)
    with closing(CallCache(home)) as cache:
        paid = cache.paid()
    if elsewhere:
        _copy(home, directory / EARLIER)
    return paid


def journal_at(directory: Path, machine: str, home: str) -> Path:
    """The path of the journal of the workers on `machine`, of a run that was started on `home`."""
    if machine == home:
        return directory / JOURNAL
    make_private_folder(directory)
    path = directory / f"journal-{re.sub(r'[^0-9A-Za-z.]', '_', machine)}.sqlite"
    earlier = directory / EARLIER
    if earlier.exists() and not path.exists():
        draft = path.with_name(f".{secrets.token_hex(8)}.part")
        make_private_file(draft)
        shutil.copyfile(earlier, draft)
        with suppress(FileExistsError):  # another worker of this machine was first, and may have written to it by now
            os.link(draft, path)
        draft.unlink()
    return path


def _take_in(path: Path, home: Path) -> None:
    """Moves the answers at `path` into the journal `home`; killed on the way it does so again."""
    try:
        with closing(sqlite3.connect(home, isolation_level=None)) as connection:
            connection.execute("ATTACH ? AS elsewhere", (str(path),))
            connection.execute("INSERT OR IGNORE INTO answers SELECT * FROM elsewhere.answers")
            connection.execute("DETACH elsewhere")
    except sqlite3.Error as error:
        raise ConfigError(f"{path}: cannot be merged into {home} ({error}); move it away") from error
    for ending in ("", "-wal", "-shm"):
        path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)


def _copy(home: Path, copy: Path) -> None:
    draft = copy.with_name(f".{secrets.token_hex(8)}.part")
    make_private_file(draft)
    try:
        with closing(sqlite3.connect(home)) as source, closing(sqlite3.connect(draft)) as target:
            source.backup(target)
    except sqlite3.Error as error:
        raise ConfigError(f"{home}: cannot be copied ({error})") from error
    draft.replace(copy)
