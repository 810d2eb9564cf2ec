"""Finds the files that a folder or glob pattern includes, and predicts whether it would include a new file."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path


def walk(folder: Path, *, within: Path | None = None) -> Iterator[Path]:
    """Yields all paths in and below the folder, including pipes and broken links but not hidden paths.

    Each folder is visited only once, because links may form a cycle. Folders that cannot be opened, and links to
    folders outside `within` (by default, `folder`), are yielded without their contents.
    """
    within = resolved(within or folder)
    visited: set[tuple[int, int]] = set()
    closed: list[OSError] = []
    for root, folders, names in os.walk(folder, followlinks=True, onerror=closed.append):
        status = os.stat(root)
        if (status.st_dev, status.st_ino) in visited:
            folders.clear()
            continue
        visited.add((status.st_dev, status.st_ino))
        shown = sorted(Path(root, name) for name in folders if not name.startswith("."))
        folders[:] = [one.name for one in shown if not leads_out(one, within)]
        yield from (one for one in shown if one.name not in folders)
        yield from (Path(root, name) for name in sorted(names) if not name.startswith("."))
    yield from (Path(error.filename) for error in closed)


def leads_out(path: Path, within: Path) -> bool:
    """Whether a link in the path points outside `within`, which must already be resolved."""
    return not resolved(path).is_relative_to(within)


def resolved(path: Path) -> Path:
    return Path(os.path.realpath(path))


def base_and_pattern(pattern: Path) -> tuple[Path, tuple[str, ...]]:
    """The folder before the first wildcard, and the remaining parts of the pattern."""
    first = next(place for place, part in enumerate(pattern.parts) if glob.has_magic(part))
    return Path(*pattern.parts[:first]), pattern.parts[first:]


def is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def first_taken_in(place: str, paths: Collection[Path]) -> Path | None:
    """The first resolved path that `place` would include if a file were there. Raises OSError or ValueError."""
    named = Path(place).expanduser()
    base, wanted = named, tuple[str, ...]()
    if named.is_dir():
        wanted = ("**",)
    elif not named.exists() and glob.has_magic(place):
        base, wanted = base_and_pattern(named)
    read = resolved(base)
    for path in paths:
        if path == read or (wanted and read in path.parents and _fits(path.relative_to(read).parts, wanted)):
            return path
    matches = walk(base) if named.is_dir() else base.glob("/".join(wanted)) if wanted else ()
    linked = {resolved(match) for match in matches}
    return next((path for path in paths if path in linked), None)


def _fits(parts: Sequence[str], wanted: Sequence[str]) -> bool:
    if not wanted:
        return True
    if wanted[0] == "**" and _fits(parts, wanted[1:]):
        return bool(wanted[1:]) or not is_hidden(Path(*parts))
    if not parts or (parts[0].startswith(".") and not wanted[0].startswith(".")):
        return False
    if wanted[0] == "**":
        return _fits(parts[1:], wanted)
    return fnmatchcase(parts[0], wanted[0]) and _fits(parts[1:], wanted[1:])
