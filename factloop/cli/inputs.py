"""Reads what a command is given, and refuses in one line what cannot be read or makes no sense."""

from __future__ import annotations

import codecs
import hashlib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from factloop.core.errors import ConfigError, DataError

if TYPE_CHECKING:
    from factloop.evaluation.runs.summary import WantedK

STANDARD_INPUT = "-"
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_CONTROLS = frozenset(range(32)) - {9, 10, 12, 13, 27}
_GLOB = frozenset("*?[")
MOST_CONTROLS = 0.1
"""Share of control characters above which bytes are taken for a binary, even if they decode."""


def read_text(name: str) -> str:
    """The text of a file or a pipe, or of standard input for `-`. Raises DataError."""
    if name == STANDARD_INPUT:
        if sys.stdin is None or sys.stdin.closed:  # `<&-` in a shell
            raise DataError("is closed; name a file, or pipe the text in", path="standard input")
        return decode(sys.stdin.buffer.read(), "standard input")
    try:
        return decode(Path(name).read_bytes(), name)
    except FileNotFoundError as error:
        raise DataError("no such file", path=name) from error
    except IsADirectoryError as error:
        raise DataError("is a folder; name the file with the text to check", path=name) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot be read ({reason})", path=name) from error


def decode(raw: bytes, name: str) -> str:
    """Bytes as text: UTF-8, or what a byte order mark says. Raises DataError for anything else."""
    encoding = next((encoding for mark, encoding in _BYTE_ORDER_MARKS.items() if raw.startswith(mark)), "utf-8")
    controls = sum(raw.count(bytes([control])) for control in _CONTROLS) if encoding.startswith("utf-8") else 0
    if controls > MOST_CONTROLS * len(raw):
        raise DataError("is a binary file, not text", path=name)
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        place = f"byte {error.object[error.start]:#04x} at offset {error.start}"
        raise DataError(f"is not UTF-8 text ({place}); convert it first, for example with iconv", path=name) from error


def name_of_data(data: str) -> str:
    """The name of the data and, of a file, its hash; a pipe can be read only once, and is read for its rows.

    Raises DataError.
    """
    if data == STANDARD_INPUT:
        return "standard input"
    if not Path(data).is_file():
        return Path(data).name
    try:
        with Path(data).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", path=data) from error
    return f"{Path(data).name} (sha256 {digest[:12]})"


def refuse_missing(text: str, documents: Iterable[str] | None) -> None:
    """Raises DataError where the text under check, or a document that is no pattern, is not there.

    Nothing heavy is imported for it, so that a typing error is answered at once.
    """
    if text != STANDARD_INPUT and not _is_there(text):
        raise DataError("no such file", path=text)
    for place in documents or ():
        if not _GLOB & set(place) and not _is_there(place):
            raise DataError("there is no such file or folder", path=place)


def refuse_missing_data(data: str | Path | None, documents: Iterable[str] | None = ()) -> None:
    """Raises DataError where a file of rows, or a document that is no pattern, is not there."""
    if data is not None and str(data) != STANDARD_INPUT and not _is_there(data):
        raise DataError("cannot be read (No such file or directory)", path=str(data))
    refuse_missing(STANDARD_INPUT, documents)


def _is_there(place: str | Path) -> bool:
    """False only where that is certain: what else is wrong with a path is said by what reads it."""
    for path in (Path(place), _at_home(Path(place))):
        try:
            path.lstat()
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            pass
        return True
    return False


def _at_home(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:  # there is no such user
        return path


def refuse_self_support(text: str, documents: Sequence[str], flag: str) -> None:
    """Raises ConfigError where the file `text` is one of the documents, and DataError where these cannot be found."""
    if not documents or text == STANDARD_INPUT or not Path(text).is_file():
        return
    from factloop.tools.search.documents.files import find_files

    if Path(text).resolve() in {path.resolve() for path in find_files(documents).paths}:
        raise ConfigError(f"{text}: is among the documents ({flag}) and would support itself; keep it elsewhere")


def pairs_given(flag: str, given: Sequence[str], what: str) -> dict[str, str]:
    """Name to value, in order. Raises ConfigError for anything but `NAME=VALUE`, and for a name given twice."""
    pairs: dict[str, str] = {}
    for one in given:
        name, mark, value = one.partition("=")
        if not (mark and name.strip() and value.strip()):
            raise ConfigError(f"{flag} {one[:80]}: must be {what}")
        if name in pairs:
            raise ConfigError(f"{flag} {one[:80]}: {name} is given twice")
        pairs[name] = value
    return pairs


def wanted_k(k: str) -> WantedK:
    """A K for F1@K. Raises ConfigError for anything but a whole number from 1, median or maximum."""
    if k == "median":
        return "median"
    if k == "maximum":
        return "maximum"
    if not k.isascii() or not k.isdecimal() or len(k) > 9 or int(k) < 1:
        raise ConfigError(f"--k {k[:40]}: must be a whole number from 1, median or maximum")
    return int(k)
