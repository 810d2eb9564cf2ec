"""The journals that store the paid-for answers of a run on several machines.

SQLite supports several processes on one machine, but breaks if two machines share a file over a network. Workers on the
machine that started the run therefore share one journal, and each additional machine has its own in the same folder.
The next attempt first merges all journals into one, and a machine without a journal starts with a copy of it. No answer
in the folder is therefore paid for twice. If the machines do not share a folder, an answer is known only to the machine
that paid for it, and killing the run loses the work on unfinished responses.
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
"""A copy of the journal from the start of the run, which never changes."""
_ELSEWHERE = "journal-*.sqlite"


def gather(directory: Path, *, elsewhere: bool) -> tuple[int, float]:
    """Merges the journals of earlier attempts into one. Returns the calls and dollars spent on answers.

    Call this only when no workers are running. Set `elsewhere` if workers on other machines need a copy. Raises
    ConfigError if a journal cannot be used.
    """
    home = directory / JOURNAL
    make_private_folder(directory)
    for path in sorted(directory.glob(_ELSEWHERE)):
        with closing(CallCache(path)), closing(CallCache(home)):  # creates both if necessary and checks their format
            pass
        _take_in(path, home)
    (directory / EARLIER).unlink(missing_ok=True)
    with closing(CallCache(home)) as cache:
        paid = cache.paid()
    if elsewhere:
        _copy(home, directory / EARLIER)
    return paid


def journal_at(directory: Path, machine: str, home: str) -> Path:
    """Returns the journal's path for workers on `machine`, in a run that was started on `home`."""
    if machine == home:
        return directory / JOURNAL
    make_private_folder(directory)
    path = directory / f"journal-{re.sub(r'[^0-9A-Za-z.]', '_', machine)}.sqlite"
    earlier = directory / EARLIER
    if earlier.exists() and not path.exists():
        draft = path.with_name(f".{secrets.token_hex(8)}.part")
        make_private_file(draft)
        shutil.copyfile(earlier, draft)
        with suppress(FileExistsError):  # another worker on this machine was faster and may already have written to it
            os.link(draft, path)
        draft.unlink()
    return path


def _take_in(path: Path, home: Path) -> None:
    """Moves the answers at `path` into the journal at `home`. Safe to repeat if the process is killed halfway."""
    try:
        with closing(sqlite3.connect(home, isolation_level=None)) as connection:
            connection.execute("ATTACH ? AS elsewhere", (str(path),))
            for table in ("answers", "sent"):
                connection.execute(f"INSERT OR IGNORE INTO {table} SELECT * FROM elsewhere.{table}")
            connection.execute("DETACH elsewhere")
    except sqlite3.Error as error:
        raise ConfigError(f"cannot merge {path} into {home}: {error}; move {path.name} to another folder") from error
    for ending in ("", "-wal", "-shm"):
        path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)


def _copy(home: Path, copy: Path) -> None:
    draft = copy.with_name(f".{secrets.token_hex(8)}.part")
    make_private_file(draft)
    try:
        with closing(sqlite3.connect(home)) as source, closing(sqlite3.connect(draft)) as target:
            source.backup(target)
    except sqlite3.Error as error:
        raise ConfigError(f"cannot copy {home}: {error}") from error
    draft.replace(copy)
