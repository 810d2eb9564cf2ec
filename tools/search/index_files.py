"""Finds an index of documents in its cache, and removes it. Loads no search engine.

Beside the folder of an index stand two files: the process that updates it holds `.lock`, all that search it `.use`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from factloop.core.files.holds import exclusive_hold

LOCK, USE = ".lock", ".use"
MANIFEST = "manifest.json"


def remove_index(folder: Path) -> bool:
    """Removes an index from its cache, unless a process uses it, and says whether it was removed. Raises OSError.

    A link in its place is not ours, and stays. Killed on the way it leaves what the next one to open the index builds
    anew, and the next to remove it removes.
    """
    if folder.is_symlink():
        return False
    with exclusive_hold(folder.with_suffix(USE)) as is_free:
        if not is_free:
            return False
        if folder.exists():
            (folder / MANIFEST).unlink(missing_ok=True)  # first: without it nothing else is trusted
            shutil.rmtree(folder)
        folder.with_suffix(LOCK).unlink(missing_ok=True)
    return True
