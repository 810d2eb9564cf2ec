"""Finds the files that a user means by a list of files, folders and globs."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from factloop.core.errors import DataError
from factloop.tools.search.documents.names import extension_of

EXTENSIONS = frozenset(
    {".txt", ".md", ".html", ".htm", ".pdf", ".jsonl", ".csv", ".tsv", ".jsonl.gz", ".csv.gz", ".tsv.gz"}
)
_READABLE = ", ".join(sorted(EXTENSIONS))


@dataclass(frozen=True)
class FoundFiles:
    """`paths` are as the user wrote them, in order of their spelling, no file twice."""

    paths: tuple[Path, ...]
    skipped: int
    """Files left out of folders and globs because of their extension."""


def find_files(places: Sequence[str | Path]) -> FoundFiles:
    """All readable files at the places: a file, a folder (with its folders; hidden ones are skipped) or a glob.

    Raises DataError for a place that does not exist, a named file of a foreign extension, a glob without a match, and
    where nothing readable is left.
    """
    if isinstance(places, str | Path):
        places = [places]
    found: dict[Path, Path] = {}
    skipped: set[Path] = set()
    for place in places:
        for path, named in _files_at(str(place)):
            extension = extension_of(path)
            if extension in EXTENSIONS:
                found.setdefault(path.resolve(), path)
            elif named:
                raise DataError(f"files with extension {extension!r} are not read, only {_READABLE}", path=str(path))
            else:
                skipped.add(path)
    if not found:
        named_places = ", ".join(str(place) for place in places) or "no path given"
        raise DataError(f"no file to read ({len(skipped)} of other kinds); readable are {_READABLE}", path=named_places)
    return FoundFiles(tuple(sorted(found.values())), len(skipped))


def _files_at(place: str) -> Iterator[tuple[Path, bool]]:
    """Files with whether each was named itself rather than met in a folder or by a glob."""
    if not place.strip():
        raise DataError("an empty path names no documents; write . for the working directory", path=repr(place))
    if "\0" in place:
        raise DataError("a path cannot hold a NUL character", path=place.replace("\0", "\\0"))
    path = Path(place).expanduser()
    try:
        if path.is_dir():
            yield from ((inner, False) for inner in _walk(path))
        elif path.is_file():
            yield path, True
        elif path.exists():
            raise DataError("this is neither a file nor a folder", path=place)
        elif glob.has_magic(place):
            yield from _matches(path)
        else:
            raise DataError("there is no such file or folder", path=place)
    except OSError as error:
        raise DataError(f"cannot be opened: {error.strerror}", path=place) from error


def _matches(pattern: Path) -> Iterator[tuple[Path, bool]]:
    """`Path.glob` rather than `glob.glob`, whose `**` walks round in circles of symbolic links."""
    first = next(place for place, part in enumerate(pattern.parts) if glob.has_magic(part))
    base, wanted = Path(*pattern.parts[:first]), Path(*pattern.parts[first:])
    hidden_wanted = any(part.startswith(".") for part in wanted.parts)
    try:
        found = sorted(base.glob(str(wanted)))
    except ValueError as error:
        raise DataError(f"this is not a pattern: {error}", path=str(pattern)) from error
    matches = [match for match in found if hidden_wanted or not _is_hidden(match.relative_to(base))]
    if not matches:
        raise DataError("the pattern matches nothing", path=str(pattern))
    for match in matches:
        if match.is_dir():
            yield from ((inner, False) for inner in _walk(match))
        elif match.is_file():
            yield match, False


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _walk(folder: Path) -> Iterator[Path]:
    """Files below the folder, through symbolic links too, each folder once (links may lead round in a circle)."""
    visited: set[tuple[int, int]] = set()
    for root, folders, names in os.walk(folder, followlinks=True, onerror=_refuse):
        status = os.stat(root)
        if (status.st_dev, status.st_ino) in visited:
            folders.clear()
            continue
        visited.add((status.st_dev, status.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(root, name)
            if not name.startswith(".") and (path.is_file() or path.is_symlink()):  # no pipes; a dead link is an error
                yield path


def _refuse(error: OSError) -> None:
    raise error
