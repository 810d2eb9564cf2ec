"""Creates files and folders that only their owner can read, since they may contain checked text.

If an older version or a library left a file accessible to other users, those users lose access when the file is opened.
Files that belong to someone else, or that are on a file system without permissions, are left unchanged silently. On
Windows, nothing needs to be done: files inherit their folder's permissions, and a user's folders are accessible only to
that user and to administrators.
"""

from __future__ import annotations

import os
import stat
import threading
from contextlib import suppress
from pathlib import Path

FILE_MODE, FOLDER_MODE = 0o600, 0o700
BESIDE_DATABASE = ("-wal", "-shm")
"""Suffixes of the files that SQLite creates next to an open database. They get the permissions of the database."""
_OF_OTHERS = 0o077
_MAKING = threading.Lock()


def open_private(path: str, flags: int) -> int:
    """Opens the file and returns a descriptor. For use as the `opener` of `open`."""
    descriptor = os.open(path, flags, FILE_MODE)
    with suppress(OSError):
        _narrow(descriptor)
    return descriptor


def write_private(path: Path, data: bytes) -> None:
    """Writes a new file. Raises OSError."""
    with open(path, "wb", opener=open_private) as file:
        file.write(data)


def make_private_file(path: Path) -> None:
    """Creates an empty file if there is none, for libraries that open files by name. Raises OSError.

    An existing file is not opened, because closing it would drop any locks that SQLite holds on it in this process.
    """
    with _MAKING:  # for the same reason, another thread must not open the new file before it is closed here
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))
        except FileExistsError:
            if path.is_file():
                narrow(path)


def make_private_database(path: Path) -> None:
    """Like `make_private_file`, but also restricts the files that SQLite keeps next to the database."""
    make_private_file(path)
    for ending in BESIDE_DATABASE:
        narrow(path.with_name(f"{path.name}{ending}"))


def make_private_folder(path: Path) -> None:
    """Creates the folder and any missing parents. Existing folders are unchanged. Raises OSError."""
    try:
        path.mkdir(FOLDER_MODE)
    except FileNotFoundError:
        if path.parent == path:
            raise
        make_private_folder(path.parent)
        path.mkdir(FOLDER_MODE, exist_ok=True)
    except FileExistsError:
        if not path.is_dir():
            raise


def narrow(path: Path) -> None:
    """Takes away other users' access to a file or folder that belongs to the current user."""
    with suppress(OSError):
        _narrow(path)


def narrow_contents(folder: Path) -> None:
    """Restricts the permissions of a folder and the files in it."""
    narrow(folder)
    with suppress(OSError):
        for path in folder.iterdir():
            if path.is_file() and not path.is_symlink():
                narrow(path)


def _narrow(place: Path | int) -> None:
    if os.name != "posix":
        return
    status = os.stat(place)
    is_kept = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
    if is_kept and status.st_uid == os.geteuid() and status.st_mode & _OF_OTHERS:
        os.chmod(place, stat.S_IMODE(status.st_mode) & ~_OF_OTHERS)
