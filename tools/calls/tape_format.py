"""A recording as text: a line of JSON for each request with its answer, in an order that does not depend on time.

The first line says the format. Then, for each request: `kind`, `key` (a hash of all that shapes the answer), `request`
(the same for a reader), and `reply` or `failure`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from factloop.core.errors import ConfigError

FORMAT = 1
NAME = "factloop_recording"
LONGEST_SHOWN = 40
"""Characters of a file's wrong content that a message shows."""

Kind = Literal["model", "search", "web"]
KINDS = ("model", "search", "web")
_KEY = re.compile(r"[0-9a-f]{32}")
# What a terminal would obey, and lone surrogates, which UTF-8 cannot say.
_ESCAPED = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True)
class TapeEntry:
    """One request with its reply (any JSON value) or its failure."""

    kind: Kind
    key: str
    request: Mapping[str, Any]
    reply: Any = None
    failure: Mapping[str, Any] | None = None
    line: int = 0
    """Line in the file, from 1; 0 for an entry made in this process."""


def tape_text(entries: Iterable[TapeEntry]) -> str:
    """The file's text: the same for equal entries, whatever order they came in. Like requests stand together."""
    lines = sorted(((entry.kind, _json(entry.request), entry.key), _line(entry)) for entry in entries)
    return "".join(f"{line}\n" for line in (_json({NAME: FORMAT}), *(text for _, text in lines)))


def read_tape(text: str, name: str) -> dict[str, TapeEntry]:
    """The entries by key. Raises ConfigError with `name` and the line for what this version did not write."""
    lines = text.removeprefix("\ufeff").split("\n")
    _check_header(lines[0], name)
    entries: dict[str, TapeEntry] = {}
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        entry = _entry(line, number, name)
        if entry.key in entries:
            raise _damaged(name, number, f"the same request as in line {entries[entry.key].line}")
        entries[entry.key] = entry
    return entries


def _check_header(line: str, name: str) -> None:
    header = _parsed(line, 1, name)
    if NAME not in header:
        raise _damaged(name, 1, "no recording of factloop")
    if header[NAME] != FORMAT:
        raise _damaged(name, 1, f"format {repr(header[NAME])[:LONGEST_SHOWN]}, and this version reads {FORMAT}")


def _entry(line: str, number: int, name: str) -> TapeEntry:
    fields = _parsed(line, number, name)
    kind, key, request, failure = (fields.get(field) for field in ("kind", "key", "request", "failure"))
    wrong = [
        *(["kind"] if kind not in KINDS else []),
        *(["key"] if not isinstance(key, str) or not _KEY.fullmatch(key) else []),
        *(["request"] if not isinstance(request, dict) else []),
        *(["failure"] if failure is not None and not isinstance(failure, dict) else []),
        *(["reply"] if ("reply" in fields) == (failure is not None) else []),
        *sorted(fields.keys() - {"kind", "key", "request", "failure", "reply"}),
    ]
    if wrong:
        raise _damaged(name, number, f"field {wrong[0]!r}")
    return TapeEntry(kind, str(key), request or {}, fields.get("reply"), failure, number)  # type: ignore[arg-type]  # kind is one of KINDS


def _parsed(line: str, number: int, name: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _damaged(name, number, "no whole JSON") from error
    if not isinstance(value, dict):
        raise _damaged(name, number, "no JSON object")
    return value


def _damaged(name: str, line: int, what: str) -> ConfigError:
    return ConfigError(f"{name}:{line}: {what}: the recording is damaged or of another version; record it anew")


def _line(entry: TapeEntry) -> str:
    came = {"reply": entry.reply} if entry.failure is None else {"failure": entry.failure}
    start = f'{{"kind": {_json(entry.kind)}, "key": {_json(entry.key)}, "request": {_json(entry.request)}'
    # What came keeps its order: a model that is shown its own reply again is shown it as it wrote it.
    return f"{start}, {_json(came, sort_keys=False)[1:]}"


def _json(value: Any, *, sort_keys: bool = True) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=sort_keys)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
