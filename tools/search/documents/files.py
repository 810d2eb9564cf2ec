"""Finds the files that a user means by a list of files, folders and globs."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from factloop.core.errors import DataError
from factloop.core.files.places import base_and_pattern, is_hidden, leads_out, resolved, walk

COMPRESSED = ".gz"
_JOINED = re.compile(r"_+|(?<!\d)-+|-+(?!\d)")
"""What stands for a space in a name; a hyphen between figures is part of a date or a range."""


def is_compressed(path: Path) -> bool:
    return path.suffix.lower() == COMPRESSED


def extension_of(path: Path) -> str:
    """The extension in lower case; of a compressed file with the one before, as ".tsv.gz"."""
    inner = Path(path.stem).suffix if is_compressed(path) else ""
    return (inner + path.suffix).lower()


def stem_of(path: Path) -> str:
    """The name without `extension_of`."""
    return Path(path.stem).stem if is_compressed(path) else path.stem


def readable_name(path: Path) -> str:
    """The name as a title: `eddystone_light.txt` is *eddystone light*."""
    stem = stem_of(path)
    return " ".join(_JOINED.sub(" ", stem).split()) or stem


EXTENSIONS = frozenset(
    {".txt", ".md", ".html", ".htm", ".pdf", ".docx", ".pptx", ".xlsx", ".epub"}
    | {".json", ".jsonl", ".csv", ".tsv", ".jsonl.gz", ".csv.gz", ".tsv.gz"}
)
_READABLE = ", ".join(sorted(EXTENSIONS))
MOST_SEEN, _MOST_PLACES_SEEN = 1_000, 100
"""Files that are looked at in a hidden folder, and such folders: an environment or a repository has very many."""
_MOST_NAMED = 3


@dataclass(frozen=True)
class UnreadFile:
    """A file of a folder or a glob, or a folder in it, that is left out, and why."""

    path: Path
    why: str

    def __str__(self) -> str:
        return f"{self.path} ({self.why})"


@dataclass(frozen=True)
class HiddenFiles:
    """Hidden folders and files that are left out, and hold files that would be read otherwise."""

    places: tuple[Path, ...]

    def __str__(self) -> str:
        more = f" and {len(self.places) - _MOST_NAMED:,} more" if len(self.places) > _MOST_NAMED else ""
        return f"hidden files ({', '.join(map(str, self.places[:_MOST_NAMED]))}{more})"


@dataclass(frozen=True)
class FoundFiles:
    """`paths` are as the user wrote them, in order of their spelling, no file twice."""

    paths: tuple[Path, ...]
    named: frozenset[Path]
    """Those of them that the user named one by one: these must be readable."""
    unread: tuple[UnreadFile, ...]
    """What folders and globs hold besides: files of a kind that is not read, closed folders, pipes, links that are dead
    or lead out."""
    hidden: HiddenFiles | None = None


def find_files(places: Sequence[str | Path]) -> FoundFiles:
    """All readable files at the places: a file, a folder (with its folders; hidden ones are skipped) or a glob.

    Raises DataError for a place that does not exist, a named file of a foreign extension, a glob without a match, and
    where nothing readable is left.
    """
    if isinstance(places, str | Path):
        places = [places]
    found: dict[Path, Path] = {}
    named: set[Path] = set()
    unread: dict[Path, UnreadFile] = {}
    passed_over: list[Path] = []
    for place in places:
        for path, base in _files_at(str(place), passed_over):
            extension, is_named = extension_of(path), base is None
            if base is not None and leads_out(path, resolved(base)):
                unread[path] = UnreadFile(path, f"a link that leads out of {base}")
            elif extension in EXTENSIONS and (is_named or os.path.isfile(path)):
                kept = found.setdefault(resolved(path), path)
                if is_named:
                    named.add(kept)
            elif is_named:
                raise DataError(f"files with extension {extension!r} are not read, only {_READABLE}", path=str(path))
            else:
                unread[path] = UnreadFile(path, _why_unread(path))
    hidden = _hidden_files(passed_over, found)
    if not found:
        named_places = ", ".join(str(place) for place in places) or "no path given"
        left_out = f"; left out: {len(unread)}, such as {next(iter(unread.values()))}" if unread else ""
        left_out += "" if hidden is None else f"; {hidden} left out"
        raise DataError(f"no file to read{left_out}; readable are {_READABLE}", path=named_places)
    left_out_files = tuple(unread[path] for path in sorted(unread))
    return FoundFiles(tuple(sorted(found.values())), frozenset(named), left_out_files, hidden)


def _hidden_files(passed_over: Iterable[Path], read: Collection[Path]) -> HiddenFiles | None:
    """Those of the places that hold readable files which are not read as files of another place."""
    places: list[Path] = []
    for place in islice(dict.fromkeys(passed_over), _MOST_PLACES_SEEN):
        if not set(places) & set(place.parents) and _holds_unread(place, read):
            places.append(place)
    return HiddenFiles(tuple(places)) if places else None


def _holds_unread(place: Path, read: Collection[Path]) -> bool:
    return any(  # False also where it may not be looked at
        extension_of(path) in EXTENSIONS and os.path.isfile(path) and resolved(path) not in read
        for path in islice(_below(place), MOST_SEEN)
    )


def _below(place: Path) -> Iterator[Path]:
    """The place itself and all files and folders below it, one folder after the other as they are asked for."""
    yield place
    for root, folders, names in os.walk(place):  # links are not followed, which may lead anywhere
        folders.sort()
        yield from (Path(root, name) for name in (*folders, *sorted(names)))


def _files_at(place: str, passed_over: list[Path]) -> Iterator[tuple[Path, Path | None]]:
    """Files with the folder in which each was met, also by a glob; None for one that was named itself.

    `passed_over` takes what has a hidden name.
    """
    if not place.strip():
        raise DataError("an empty path names no documents; write . for the working directory", path=repr(place))
    if "\0" in place:
        raise DataError("a path cannot hold a NUL character", path=place.replace("\0", "\\0"))
    path = Path(place).expanduser()
    try:
        if path.is_dir():
            os.scandir(path).close()  # what is named must open; what lies in it may be closed
            yield from ((inner, path) for inner in walk(path, passed_over))
        elif path.is_file():
            yield path, None
        elif path.exists():
            raise DataError("this is neither a file nor a folder; save its output to a file", path=place)
        elif glob.has_magic(place):
            yield from _matches(path, passed_over)
        else:
            raise DataError("there is no such file or folder", path=place)
    except OSError as error:
        raise DataError(f"cannot be opened: {error.strerror}", path=place) from error


def _matches(pattern: Path, passed_over: list[Path]) -> Iterator[tuple[Path, Path]]:
    """`Path.glob` rather than `glob.glob`, whose `**` walks round in circles of symbolic links."""
    base, wanted = base_and_pattern(pattern)
    hidden_wanted = any(part.startswith(".") for part in wanted)
    try:
        found = sorted(base.glob("/".join(wanted)))
    except ValueError as error:
        raise DataError(f"this is not a pattern: {error}", path=str(pattern)) from error
    matches = [match for match in found if hidden_wanted or not is_hidden(match.relative_to(base))]
    passed_over += sorted(set(found).difference(matches))
    if not matches:
        raise DataError("the pattern matches nothing", path=str(pattern))
    for match in matches:
        is_open = os.path.isdir(match) and not leads_out(match, resolved(base))
        yield from ((inner, base) for inner in (walk(match, passed_over, within=base) if is_open else [match]))


def _why_unread(path: Path) -> str:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return "a broken link" if os.path.islink(path) else f"cannot be opened: {error.strerror}"
    if stat.S_ISDIR(mode):
        return "a folder that cannot be opened"
    return "a file of this kind is not read" if stat.S_ISREG(mode) else "neither a file nor a folder"
