"""Creates files and folders that only their owner can access, because they may contain checked text.

Files that an older version or a library left accessible to others are restricted when they are opened. Files that
belong to someone else, and file systems without permissions, are silently left alone. On Windows, the folder's
inherited permissions already suffice.
"""

from __future__ import annotations

import os
import stat
import threading
from contextlib import suppress
from pathlib import Path

FILE_MODE, FOLDER_MODE = 0o600, 0o700
BESIDE_DATABASE = ("-wal", "-shm")
"""Files that SQLite creates next to an open database."""
_OF_OTHERS = 0o077
_MAKING = threading.Lock()


def open_private(path: str, flags: int) -> int:
    """Opens a file that only its owner can access. Pass this function to `open` as `opener`."""
    descriptor = os.open(path, flags, FILE_MODE)
    with suppress(OSError):
        _narrow(descriptor)
    return descriptor


def write_private(path: Path, data: bytes) -> None:
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
    """Creates the folder and any missing parents. Leaves existing folders unchanged. Raises OSError."""
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
    """Removes other users' access, if the file or folder belongs to the current user."""
    with suppress(OSError):
        _narrow(path)


def narrow_contents(folder: Path) -> None:
    """Removes other users' access to a folder and to the files in it, but not to its subfolders."""
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
