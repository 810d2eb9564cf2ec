"""Who has a part of the cache open: any number of processes may, and whoever would remove it must find nobody.

    with Hold(path):                     # shared
        ...
    with exclusive_hold(path) as is_free:   # meanwhile nobody gets a hold
        ...

The locks are the system's, so that a killed process leaves none behind. On Windows there are none of this kind: there
the system refuses to remove what somebody has open.
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
    """A share in what the file at `path` stands for; until it is released, left to the collector, or the end.

    The file's time is that of the last beginning or end.
    """

    def __init__(self, path: Path) -> None:
        """Waits while somebody removes that part. Raises OSError where the file cannot be made."""
        descriptor = _locked(path, exclusive=False)
        assert descriptor is not None  # as it waited
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
    """Whether nobody has a hold, this process among them. If so, the file is gone in the end. Raises OSError."""
    descriptor = _locked(path, exclusive=True)
    if descriptor is None:
        yield False
        return
    try:
        yield True
        with suppress(PermissionError):  # of Windows, which removes nothing that is open
            path.unlink(missing_ok=True)  # while it is locked: who waits for it sees that it is gone, and makes another
    finally:
        os.close(descriptor)


def _locked(path: Path, *, exclusive: bool) -> int | None:
    """A descriptor of the file, locked; None where it would be exclusive, and others have it."""
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

    def _lock(_descriptor: int, *, exclusive: bool) -> bool:  # noqa: ARG001 - as elsewhere
        return True

else:
    import fcntl

    def _lock(descriptor: int, *, exclusive: bool) -> bool:
        """Shared it waits. On a file system without locks many share all the same, and nobody is ever alone."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB if exclusive else fcntl.LOCK_SH)
        except OSError:
            return not exclusive
        return True
