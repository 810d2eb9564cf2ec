"""Reports as strict JSON, and files that are written whole or not at all."""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python

from factloop.core.errors import ConfigError
from factloop.core.files.private import FILE_MODE, open_private
from factloop.core.records import Record

NEW_FILE_MODE = 0o666
"""Less the umask."""

# DEL and C1 controls, line and paragraph separators, bidirectional embeddings, overrides and isolates. In JSON they can
# stand in strings only; the C0 controls `json.dumps` escapes itself.
_OBEYED = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def to_json(report: Record) -> str:
    """The record as indented JSON with a newline at its end, the same text for equal records.

    Fields stand in the order in which the record declares them, the keys of mappings in alphabetical order. What a
    terminal would obey is escaped: harmless to look at, and the same value. Raises ValueError for a NaN or an
    infinity, which JSON cannot say.
    """
    return _escaped(json.dumps(_jsonable(report), ensure_ascii=False, allow_nan=False, indent=2)) + "\n"


def to_json_line(record: Record) -> str:
    """The record as one line of JSON with its line end; nothing in it ends a line or is obeyed by a terminal."""
    return _escaped(record.model_dump_json()) + "\n"


def _escaped(text: str) -> str:
    return _OBEYED.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _jsonable(value: Any) -> Any:
    if isinstance(value, Record):
        return {name: _jsonable(getattr(value, name)) for name in type(value).model_fields}
    if isinstance(value, Mapping):
        return {str(key): _jsonable(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    return value if isinstance(value, float) else to_jsonable_python(value)


def write_atomically(path: Path, text: str, *, private: bool = False) -> None:
    """Writes `text` as UTF-8 so that readers see the old file or the new one, never a part.

    A link is followed; a pipe or a device is written to directly. A file that was there keeps its rights, a new one has
    those of the umask; a `private` one is its owner's alone, and so is each until it is whole. Raises ConfigError,
    naming the path, where the place cannot be written; what was there before is then untouched.
    """
    data = text.encode("utf-8")
    try:
        if path.exists() and not path.is_file():  # by its own name: `/dev/stdout` leads to "pipe:[7]", which is no path
            path.write_bytes(data)
        else:
            _replace(Path(os.path.realpath(path)), data, private=private)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror or error}") from error


def _replace(target: Path, data: bytes, *, private: bool) -> None:
    partial = target.parent / f".factloop-{secrets.token_hex(8)}.tmp"
    try:
        is_new = not target.exists()
        partial.touch(NEW_FILE_MODE if is_new and not private else FILE_MODE, exist_ok=False)
        mode = partial.stat().st_mode if is_new or private else target.stat().st_mode
        with open(partial, "wb", opener=open_private) as file:  # which narrows it while it is empty
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with suppress(OSError):  # a file system without rights
            partial.chmod(stat.S_IMODE(mode))
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
