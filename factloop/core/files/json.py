"""Writes records as strict JSON, and replaces files atomically."""

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

NEW_FILE_MODE = 0o666  # before the umask is applied

# DEL and C1 control characters, line and paragraph separators, bidirectional embeddings, overrides and isolates. In
# JSON they can occur only in strings; `json.dumps` itself escapes the C0 control characters.
_OBEYED = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def to_json(report: Record) -> str:
    """Returns indented JSON with a trailing newline. Equal records give identical text.

    Fields keep their declaration order, and mapping keys are sorted. Control characters are escaped so that the text is
    safe to print in a terminal. Raises ValueError for NaN and infinity.
    """
    return _escaped(json.dumps(_jsonable(report), ensure_ascii=False, allow_nan=False, indent=2)) + "\n"


def to_json_line(record: Record) -> str:
    """Returns one line of JSON with a trailing newline. Control characters and line separators are escaped."""
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


def write_atomically(path: Path, text: str | bytes, *, private: bool = False) -> None:
    """Writes the file so that readers see either the old or the new contents, never a mixture.

    Follows links, and writes directly to pipes and devices. An existing file keeps its permissions, and the umask
    applies to a new one. With `private`, only the owner can access the file. Raises ConfigError if the file cannot be
    written, in which case an existing file is left unchanged.
    """
    data = text.encode("utf-8") if isinstance(text, str) else text
    try:
        if path.exists() and not path.is_file():  # such as `/dev/stdout`, which may resolve to "pipe:[7]"
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
        with open(partial, "wb", opener=open_private) as file:  # restricts the permissions while the file is empty
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with suppress(OSError):  # a file system without permissions
            partial.chmod(stat.S_IMODE(mode))
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
