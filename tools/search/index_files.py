"""Finds and removes document indexes in the cache without loading the search engine.

There are two lock files next to an index folder. The process that updates the index holds `.lock`, and all processes
that search it hold `.use`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from factloop.core.files.holds import exclusive_hold

LOCK, USE = ".lock", ".use"
MANIFEST = "manifest.json"


def remove_index(folder: Path) -> bool:
    """Removes an index from its cache unless it is in use. Returns whether it was removed. Raises OSError.

    A symbolic link is kept, because factloop never creates one. If the removal is interrupted, the next process that
    opens the index rebuilds it, and the next process that removes it completes the removal.
    """
    if folder.is_symlink():
        return False
    with exclusive_hold(folder.with_suffix(USE)) as is_free:
        if not is_free:
            return False
        if folder.exists():
            (folder / MANIFEST).unlink(missing_ok=True)  # removed first, because an index without it is not used
            shutil.rmtree(folder)
        folder.with_suffix(LOCK).unlink(missing_ok=True)
    return True
