"""Reads a command's inputs. Rejects unreadable or unsuitable inputs with a one-line message."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from factloop.core.errors import ConfigError, DataError
from factloop.core.files.lines import STANDARD_INPUT, encoding_of, read_given

if TYPE_CHECKING:
    from factloop.evaluation.runs.summary import WantedK

_CONTROLS = frozenset(range(32)) - {9, 10, 12, 13, 27}
_GLOB = frozenset("*?[")
_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".7z", ".rar")
_WITH_TEXT_INSIDE = (".pdf", ".docx", ".doc", ".odt", ".pptx", ".xlsx", ".epub")
MOST_CONTROLS = 0.1  # input with a larger fraction of control characters is binary, even if it can be decoded


def read_text(name: str) -> str:
    """Reads text from a file or, for `-`, standard input. Raises DataError."""
    if name.lower().endswith(_WITH_TEXT_INSIDE):
        raise DataError("this is not plain text: copy the text to check into a .md or .txt file", path=name)
    if name == STANDARD_INPUT:
        if sys.stdin is None or sys.stdin.closed:  # `<&-` in a shell
            raise DataError("standard input is closed; pass a file, or pipe the text to factloop")
        return decode(sys.stdin.buffer.read(), "standard input")
    if Path(name).is_dir():
        raise DataError("this is a folder; pass the file with the text to check", path=name)
    return decode(read_given(name), name)


def file_name(name: str) -> str:
    """The file's name without its folder, or "" for standard input."""
    return "" if name == STANDARD_INPUT else Path(name).name


def decode(raw: bytes, name: str) -> str:
    """Decodes UTF-8, or UTF-16 or UTF-32 with a byte order mark. Raises DataError for anything else."""
    encoding = encoding_of(raw)
    controls = sum(raw.count(bytes([control])) for control in _CONTROLS) if encoding.startswith("utf-8") else 0
    if controls > MOST_CONTROLS * len(raw):
        raise DataError("this is a binary file, not text; pass a text file", path=name)
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        place = f"byte {error.object[error.start]:#04x} at offset {error.start}"
        raise DataError(f"this is not UTF-8 text ({place}); convert it, for example with iconv", path=name) from error


def refuse_missing(text: str, documents: Iterable[str] | None) -> None:
    """Raises DataError if a path does not exist. Imports nothing heavy, so that typos are reported at once."""
    for place in (text, *(documents or ())):
        if place.lower().startswith(("http://", "https://")):
            raise DataError("web pages are not downloaded: save the page (`curl -O`) and pass the file", path=place)
        if place.lower().endswith(_ARCHIVES) and _is_there(place):
            raise DataError("this is an archive: unpack it, and pass the folder or a file in it", path=place)
    if text != STANDARD_INPUT and not _is_there(text):
        raise DataError("no such file", path=text)
    for place in documents or ():
        if not _GLOB & set(place) and not _is_there(place):
            raise DataError("there is no such file or folder", path=place)


def refuse_missing_data(data: str | Path | None, documents: Iterable[str] | None = ()) -> None:
    """Raises DataError if the data or a document does not exist. Does not expand glob patterns."""
    refuse_missing(STANDARD_INPUT if data is None else str(data), documents)


def _is_there(place: str | Path) -> bool:
    """Returns False only if the path certainly does not exist. Other errors are reported when the path is read."""
    for path in (Path(place), Path(os.path.expanduser(place))):
        try:
            os.lstat(path)
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            pass
        return True
    return False


def refuse_self_support(text: str, documents: Sequence[str], flag: str) -> None:
    """Raises ConfigError if the text is also one of the documents, and DataError if a document cannot be found."""
    if not documents or text == STANDARD_INPUT or not Path(text).is_file():
        return
    from factloop.tools.search.documents.files import find_files

    if Path(text).resolve() in {path.resolve() for path in find_files(documents).paths}:
        raise ConfigError(f"{text} is one of the documents ({flag}), so it would support itself; move it elsewhere")


def pairs_given(flag: str, given: Sequence[str], what: str) -> dict[str, str]:
    """Maps names to values, in order. Raises ConfigError unless all are `NAME=VALUE` pairs with distinct names."""
    pairs: dict[str, str] = {}
    for one in given:
        name, mark, value = one.partition("=")
        if not (mark and name.strip() and value.strip()):
            raise ConfigError(f"{flag} {one[:80]}: must be {what}")
        if name in pairs:
            raise ConfigError(f"{flag} {one[:80]}: {name} is set twice; set it only once")
        pairs[name] = value
    return pairs


def wanted_k(k: str) -> WantedK:
    """Raises ConfigError unless K is a positive whole number, `median` or `maximum`."""
    if k == "median":
        return "median"
    if k == "maximum":
        return "maximum"
    if not k.isascii() or not k.isdecimal() or len(k) > 9 or int(k) < 1:
        raise ConfigError(f"--k {k[:40]}: must be a positive whole number, median or maximum")
    return int(k)
