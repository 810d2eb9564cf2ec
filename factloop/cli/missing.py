"""Refuses paths that lead nowhere before anything heavy is imported: a typing error is answered at once.

What is read later says the same words; here nothing is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from factloop.cli.inputs import STANDARD_INPUT
from factloop.core.errors import DataError

_GLOB = frozenset("*?[")


def refuse_missing(text: str, documents: Iterable[str] | None) -> None:
    """Raises DataError where the text under check, or a document that is no pattern, is not there."""
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
