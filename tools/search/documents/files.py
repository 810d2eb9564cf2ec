"""Finds the files that a list of files, folders and globs refers to."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from factloop.core.errors import DataError
from factloop.core.files.places import base_and_pattern, is_hidden, leads_out, resolved, walk

COMPRESSED = ".gz"
_JOINED = re.compile(r"_+|(?<!\d)-+|-+(?!\d)")
"""Matches characters that stand for spaces in file names. A hyphen between digits is part of a date or range."""


def is_compressed(path: Path) -> bool:
    return path.suffix.lower() == COMPRESSED


def extension_of(path: Path) -> str:
    """Returns the extension in lowercase, such as ".txt", or both extensions of a compressed file: ".tsv.gz"."""
    inner = Path(path.stem).suffix if is_compressed(path) else ""
    return (inner + path.suffix).lower()


def stem_of(path: Path) -> str:
    return Path(path.stem).stem if is_compressed(path) else path.stem


def readable_name(path: Path) -> str:
    """Returns the name as a title: `eddystone_light.txt` becomes *eddystone light*."""
    stem = stem_of(path)
    return " ".join(_JOINED.sub(" ", stem).split()) or stem


EXTENSIONS = frozenset(
    {".txt", ".md", ".html", ".htm", ".pdf", ".docx", ".pptx", ".xlsx"}
    | {".json", ".jsonl", ".csv", ".tsv", ".jsonl.gz", ".csv.gz", ".tsv.gz"}
)
_READABLE = ", ".join(sorted(EXTENSIONS))


@dataclass(frozen=True)
class UnreadFile:
    path: Path
    why: str

    def __str__(self) -> str:
        return f"{self.path} ({self.why})"


@dataclass(frozen=True)
class FoundFiles:
    """The files that the user selected. `paths` are sorted, distinct, and spelled as the user wrote them."""

    paths: tuple[Path, ...]
    named: frozenset[Path]
    """Files that the user named individually, which must be readable."""
    unread: tuple[UnreadFile, ...]
    """Anything else in folders and globs, such as unsupported files and links that are broken or point outside."""


def find_files(places: Sequence[str | Path]) -> FoundFiles:
    """Finds all supported files in these files, folders (with subfolders, except hidden ones) and globs.

    Raises DataError if a path does not exist, a named file has an unsupported extension, a glob has no matches, or
    there are no supported files.
    """
    if isinstance(places, str | Path):
        places = [places]
    found: dict[Path, Path] = {}
    named: set[Path] = set()
    unread: dict[Path, UnreadFile] = {}
    for place in places:
        for path, base in _files_at(str(place)):
            extension, is_named = extension_of(path), base is None
            if base is not None and leads_out(path, resolved(base)):
                unread[path] = UnreadFile(path, f"a link that leads outside {base}")
            elif extension in EXTENSIONS and (is_named or os.path.isfile(path)):
                kept = found.setdefault(resolved(path), path)
                if is_named:
                    named.add(kept)
            elif is_named:
                raise DataError(f"unsupported extension {extension!r}; use one of {_READABLE}", path=str(path))
            else:
                unread[path] = UnreadFile(path, _why_unread(path))
    if not found:
        named_places = ", ".join(str(place) for place in places) or "no path given"
        skipped = f"; skipped {len(unread)}, such as {next(iter(unread.values()))}" if unread else ""
        raise DataError(f"found no files to read{skipped}; supported extensions are {_READABLE}", path=named_places)
    return FoundFiles(tuple(sorted(found.values())), frozenset(named), tuple(unread[path] for path in sorted(unread)))


def _files_at(place: str) -> Iterator[tuple[Path, Path | None]]:
    if not place.strip():
        raise DataError("the path is empty; use `.` for the working directory", path=repr(place))
    if "\0" in place:
        raise DataError("a path cannot contain a NUL character", path=place.replace("\0", "\\0"))
    path = Path(place).expanduser()
    try:
        if path.is_dir():
            os.scandir(path).close()  # a named folder must be readable, but folders inside it need not be
            yield from ((inner, path) for inner in walk(path))
        elif path.is_file():
            yield path, None
        elif path.exists():
            raise DataError("this is neither a file nor a folder; save its output to a file", path=place)
        elif glob.has_magic(place):
            yield from _matches(path)
        else:
            raise DataError("there is no such file or folder", path=place)
    except OSError as error:
        raise DataError(f"cannot open this path ({error.strerror or error})", path=place) from error


def _matches(pattern: Path) -> Iterator[tuple[Path, Path]]:
    """Uses `Path.glob`, because `**` in `glob.glob` can loop through symbolic links."""
    base, wanted = base_and_pattern(pattern)
    hidden_wanted = any(part.startswith(".") for part in wanted)
    try:
        found = sorted(base.glob("/".join(wanted)))
    except ValueError as error:
        raise DataError(f"invalid pattern: {error}", path=str(pattern)) from error
    matches = [match for match in found if hidden_wanted or not is_hidden(match.relative_to(base))]
    if not matches:
        raise DataError("no files match the pattern", path=str(pattern))
    for match in matches:
        is_open = os.path.isdir(match) and not leads_out(match, resolved(base))
        yield from ((inner, base) for inner in (walk(match, within=base) if is_open else [match]))


def _why_unread(path: Path) -> str:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return "a broken link" if os.path.islink(path) else f"cannot be opened: {error.strerror or error}"
    if stat.S_ISDIR(mode):
        return "a folder that cannot be opened"
    return "files of this kind are not supported" if stat.S_ISREG(mode) else "neither a file nor a folder"
