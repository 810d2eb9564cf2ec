"""Manages shared locks on parts of the cache. A part can be removed only while no process is using it.

    with Hold(path):                     # shared
        ...
    with exclusive_hold(path) as is_free:   # meanwhile, no process can get a shared lock
        ...

The system releases the locks of a killed process. Windows has no shared locks, but refuses to remove open files.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Self

from factloop.core.files.private import open_private


class Hold:
    """A shared lock on one part of the cache, represented by the file at `path`.

    The lock is held until it is released or garbage-collected, or the process ends. The file's modification time
    records when a lock was last acquired or released.
    """

    def __init__(self, path: Path) -> None:
        """Waits while another process is removing this part. Raises OSError if the file cannot be created."""
        descriptor = _locked(path, exclusive=False)
        assert descriptor is not None  # because a shared lock waits
        _note_use(path)
        self._close = weakref.finalize(self, _let_go, descriptor, path)

    def release(self) -> None:
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _let_go(descriptor: int, path: Path) -> None:
    _note_use(path)
    os.close(descriptor)


def _note_use(path: Path) -> None:
    with suppress(OSError):
        os.utime(path)


@contextmanager
def exclusive_hold(path: Path) -> Iterator[bool]:
    """Yields True if no process holds a shared lock. In that case, removes the file on exit. Raises OSError."""
    descriptor = _locked(path, exclusive=True)
    if descriptor is None:
        yield False
        return
    try:
        yield True
        with suppress(PermissionError):  # on Windows, which cannot remove an open file
            path.unlink(missing_ok=True)  # a process that waits for the lock then creates a new file
    finally:
        os.close(descriptor)


def _locked(path: Path, *, exclusive: bool) -> int | None:
    while True:
        with ExitStack() as closing:
            descriptor = open_private(str(path), os.O_RDWR | os.O_CREAT)
            closing.callback(os.close, descriptor)
            is_locked = _lock(descriptor, exclusive=exclusive)
            if is_locked and os.fstat(descriptor).st_nlink:
                closing.pop_all()
                return descriptor
        if not is_locked:
            return None


if sys.platform == "win32":

    def _lock(_descriptor: int, *, exclusive: bool) -> bool:  # noqa: ARG001 - same signature as below
        return True

else:
    import fcntl

    def _lock(descriptor: int, *, exclusive: bool) -> bool:
        """Waits only for shared locks. On a file system without locks, these always succeed and exclusive ones fail."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB if exclusive else fcntl.LOCK_SH)
        except OSError:
            return not exclusive
        return True
