"""Folders and globs that a user names: which files lie there, and whether one that is to be written would."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path


def walk(folder: Path, hidden: list[Path] | None = None, *, within: Path | None = None) -> Iterator[Path]:
    """What lies below the folder, each folder once (links may lead round in a circle).

    Not only files: pipes and links that lead nowhere, too. A folder that cannot be opened stands for what lies in it,
    and so does a link to a folder outside `within`, by default the folder itself. `hidden` takes the folders and files
    with hidden names, which are passed over.
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
        if hidden is not None:
            hidden += (Path(root, name) for name in sorted([*folders, *names]) if name.startswith("."))
        shown = sorted(Path(root, name) for name in folders if not name.startswith("."))
        folders[:] = [one.name for one in shown if not leads_out(one, within)]
        yield from (one for one in shown if one.name not in folders)
        yield from (Path(root, name) for name in sorted(names) if not name.startswith("."))
    yield from (Path(error.filename) for error in closed)


def leads_out(path: Path, within: Path) -> bool:
    """Whether the path is, or goes through, a link to a place outside `within`, which is resolved."""
    return not resolved(path).is_relative_to(within)


def resolved(path: Path) -> Path:
    """The path without links, as far as they lead anywhere."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # links in a circle
        return path.absolute()


def base_and_pattern(pattern: Path) -> tuple[Path, tuple[str, ...]]:
    """The folder before the first wildcard, and the parts from there on."""
    first = next(place for place, part in enumerate(pattern.parts) if glob.has_magic(part))
    return Path(*pattern.parts[:first]), pattern.parts[first:]


def is_hidden(path: Path) -> bool:
    """Whether the path, or a folder on its way, has a hidden name."""
    return any(part.startswith(".") for part in path.parts)


def first_taken_in(place: str, paths: Collection[Path]) -> Path | None:
    """The first of the paths (resolved) that is the place, or is read with it, or would be once it is written.

    None for a file, folder or glob that is not there: that it cannot be read is said where it is read. Raises OSError
    and ValueError as `pathlib` does.
    """
    named = Path(place).expanduser()
    if named.is_dir():
        return _first_below(named, paths)
    if named.exists() or not glob.has_magic(place):
        return next((path for path in paths if path == named.resolve()), None)
    base, wanted = base_and_pattern(named)
    for match in base.glob("/".join(wanted)):
        found = _first_below(match, paths) if match.is_dir() else None
        if found is not None or resolved(match) in paths:
            return resolved(match) if found is None else found
    # What is not there yet is compared by its name, below each folder that the pattern leads to: through links, too.
    for length in range(len(wanted)):
        folders = base.glob("/".join(wanted[:length])) if length else iter([base])
        for folder in {resolved(found) for found in folders if found.is_dir()}:
            for path in paths:
                if folder in path.parents and _fits(path.relative_to(folder).parts, wanted[length:]):
                    return path
    return None


def _first_below(folder: Path, paths: Collection[Path]) -> Path | None:
    """The first of the paths that is the folder, lies in it, not hidden, or is what a link in it leads to."""
    read = resolved(folder)
    for path in paths:
        if path == read or _is_read(path, [read]):
            return path
    folders: set[Path] = set()
    for file in walk(folder):
        if os.path.islink(file) and resolved(file) in paths:
            return resolved(file)
        if file != folder:  # which stands for itself where it is closed
            folders.add(file.parent)
    linked = {resolved(each) for each in folders}
    return next((path for path in paths if _is_read(path, linked)), None)


def _is_read(path: Path, folders: Collection[Path]) -> bool:
    """Whether the path lies in one of the folders, and there under no hidden name."""
    return any(folder in path.parents and not is_hidden(path.relative_to(folder)) for folder in folders)


def _fits(parts: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether the pattern takes in the path itself, or a folder above it, whose files are all read."""
    if not wanted:
        return True
    if wanted[0] == "**" and _fits(parts, wanted[1:]):
        return True
    if not parts or (parts[0].startswith(".") and not wanted[0].startswith(".")):
        return False
    if wanted[0] == "**":
        return _fits(parts[1:], wanted)
    return fnmatchcase(parts[0], wanted[0]) and _fits(parts[1:], wanted[1:])
