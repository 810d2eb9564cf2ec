"""Files and folders that only their owner can read, whatever the umask: they hold what users checked.

New ones are made so. Files that an older version or a library left open to others are narrowed when they are opened:
group and others lose their rights. Files of other users stay as they are, and so do files on a file system without such
rights; neither is an error. On Windows nothing is done: there the rights of the folder above hold, and a user's own
folders let in that user and administrators.
"""

from __future__ import annotations

import os
import stat
import threading
from contextlib import suppress
from pathlib import Path

FILE_MODE, FOLDER_MODE = 0o600, 0o700
BESIDE_DATABASE = ("-wal", "-shm")
"""What SQLite keeps beside a file while it is open, with the rights that the file had."""
_OF_OTHERS = 0o077
_MAKING = threading.Lock()


def open_private(path: str, flags: int) -> int:
    """A descriptor of the file: what `open(..., opener=)` asks for."""
    descriptor = os.open(path, flags, FILE_MODE)
    with suppress(OSError):
        _narrow(descriptor)
    return descriptor


def write_private(path: Path, data: bytes) -> None:
    """Makes the file anew. Raises OSError."""
    with open(path, "wb", opener=open_private) as file:
        file.write(data)


def make_private_file(path: Path) -> None:
    """Makes an empty file if it is missing, for libraries that open it by its name. Raises OSError.

    A file that is there is not opened: in this process SQLite may have locks on it, which closing it would drop.
    """
    with _MAKING:  # until the new one is closed, for the same reason
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))
        except FileExistsError:
            if path.is_file():
                narrow(path)


def make_private_database(path: Path) -> None:
    """`make_private_file` for SQLite."""
    make_private_file(path)
    for ending in BESIDE_DATABASE:
        narrow(path.with_name(f"{path.name}{ending}"))


def make_private_folder(path: Path) -> None:
    """Makes the folder and its parents if they are missing; an existing one keeps its rights. Raises OSError."""
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
    """Takes the rights of others from a file or a folder that is ours."""
    with suppress(OSError):
        _narrow(path)


def narrow_contents(folder: Path) -> None:
    """Narrows a folder and the files in it."""
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
