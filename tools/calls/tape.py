"""Records the answers of a run's models and searches as text and replays them.

The gateways do the recording, not the clients below them, so recordings contain no headers or keys. Secrets from the
environment are hidden in the recording and in the answers passed on, so that a replay behaves like the recorded run.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from factloop.core.errors import BudgetExceeded, ConfigError, ModelRefusal, RecordingMissing, ToolError, ToolTimeout
from factloop.core.files.lines import open_given
from factloop.tools.calls.cache import UNREADABLE
from factloop.tools.calls.modes import TapeMode
from factloop.tools.calls.scrubbing import scrubbed

Failure = ToolError | ModelRefusal
KEPT = (ToolError, ModelRefusal)


def as_plain(error: Failure) -> dict[str, Any]:
    match error:
        case ToolTimeout():
            return {"error": "timeout", "tool": error.tool, "timeout_s": error.timeout_s}
        case BudgetExceeded():
            of = {"of": error.of} if error.of else {}
            return {"error": "budget", "limit": error.limit, **of}
        case ToolError():
            return {"error": "tool", "tool": error.tool, "status": error.status, "message": str(error)}
        case ModelRefusal():
            said = str(error).removeprefix(f"{error.schema}: ")
            return {"error": "refusal", "schema": error.schema, "message": said, "reply": error.reply}


def as_error(plain: dict[str, Any]) -> Failure:
    """Recreates the error as not retryable. Raises KeyError, TypeError or ValueError if `plain` is malformed."""
    match plain["error"]:
        case "timeout":
            return ToolTimeout(tool=str(plain["tool"]), timeout_s=float(plain["timeout_s"]))
        case "budget":
            return BudgetExceeded(str(plain["limit"]), str(plain.get("of", "")))
        case "tool":
            status = plain["status"] and int(plain["status"])
            return ToolError(str(plain["message"]), tool=str(plain["tool"]), status=status)
        case "refusal":
            return ModelRefusal(str(plain["message"]), schema=str(plain["schema"]), reply=str(plain["reply"]))
        case other:
            raise ValueError(f"unknown failure {other!r}")


FORMAT = 1
NAME = "factloop_recording"
LONGEST_SHOWN = 40

Kind = Literal["model", "search", "web"]
KINDS = ("model", "search", "web")
_KEY = re.compile(r"[0-9a-f]{32}")
# Matches characters that control a terminal, and lone surrogates, which UTF-8 cannot encode.
_ESCAPED = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True)
class TapeEntry:
    """One request and either its reply (any JSON value) or its failure."""

    kind: Kind
    key: str
    request: Mapping[str, Any]
    reply: Any = None
    failure: Mapping[str, Any] | None = None
    line: int = 0
    """Line number in the file, starting at 1, or 0 for an entry made in this process."""


def tape_text(entries: Iterable[TapeEntry]) -> str:
    """Returns the text of the file, with similar requests adjacent. It does not depend on the order of the entries."""
    lines = sorted(((entry.kind, _json(entry.request), entry.key), _line(entry)) for entry in entries)
    return "".join(f"{line}\n" for line in (_json({NAME: FORMAT}), *(text for _, text in lines)))


def read_tape(text: str, name: str) -> dict[str, TapeEntry]:
    """Returns the entries by key. Raises a ConfigError with `name` and the line if the text is damaged."""
    lines = text.removeprefix("\ufeff").split("\n")
    _check_header(lines[0], name)
    entries: dict[str, TapeEntry] = {}
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        entry = _entry(line, number, name)
        if entry.key in entries:
            raise _damaged(name, number, f"duplicates the request on line {entries[entry.key].line}")
        entries[entry.key] = entry
    return entries


def _check_header(line: str, name: str) -> None:
    header = _parsed(line, 1, name)
    if NAME not in header:
        raise _damaged(name, 1, "this is not a factloop recording")
    if header[NAME] != FORMAT:
        raise _damaged(name, 1, f"the format is {repr(header[NAME])[:LONGEST_SHOWN]}, but this version reads {FORMAT}")


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
        raise _damaged(name, number, f"the field {wrong[0]!r} is invalid")
    return TapeEntry(kind, str(key), request or {}, fields.get("reply"), failure, number)  # type: ignore[arg-type]  # kind is one of KINDS


def _parsed(line: str, number: int, name: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _damaged(name, number, "this line is not valid JSON") from error
    if not isinstance(value, dict):
        raise _damaged(name, number, "this line is not a JSON object")
    return value


def _damaged(name: str, line: int, what: str) -> ConfigError:
    return ConfigError(f"{name}:{line}: {what}; the recording is damaged or from another version, so record it again")


def _line(entry: TapeEntry) -> str:
    came = {"reply": entry.reply} if entry.failure is None else {"failure": entry.failure}
    start = f'{{"kind": {_json(entry.kind)}, "key": {_json(entry.key)}, "request": {_json(entry.request)}'
    # The fields of the reply keep their order, because a repair shows the model its own reply as it was written.
    return f"{start}, {_json(came, sort_keys=False)[1:]}"


def _json(value: Any, *, sort_keys: bool = True) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=sort_keys)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


@dataclass(frozen=True)
class TapeRequest:
    """`exact` contains everything that affects the answer except the server's URL. `shown` is what people see."""

    kind: Kind
    exact: Any
    shown: Mapping[str, Any]

    @cached_property
    def key(self) -> str:
        text = json.dumps([self.kind, self.exact], sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Tape:
    """The recording of a test or run, which checkers, event loops and threads can share. It is read on first use."""

    def __init__(self, path: Path, mode: TapeMode, *, secrets: tuple[str, ...] = (), remedy: str) -> None:
        """`remedy` tells the user how to record missing answers. The constructor does not access any file."""
        self.path, self.mode = path, mode
        self._secrets, self._remedy = secrets, remedy
        self.n_replayed = self.n_recorded = 0
        self._loaded: dict[str, TapeEntry] | None = None
        self._lock = threading.Lock()

    @property
    def _entries(self) -> dict[str, TapeEntry]:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> dict[str, TapeEntry]:
        if self.mode != "replay":
            self._check_place()
        if self.mode == "record":
            return {}
        try:
            with open_given(self.path) as file:
                text = file.read().decode("utf-8")
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"cannot read the recording {self.path} ({error})") from error
        entries = read_tape(text, str(self.path))
        if self.mode == "new":  # a call that failed in the recording may succeed now
            return {key: entry for key, entry in entries.items() if entry.failure is None}
        return entries

    async def take(
        self, asked: TapeRequest, ask: Callable[[], Awaitable[Any]], *, read: Callable[[Any], object]
    ) -> tuple[Any, bool]:
        """Returns the answer, and whether it was on the tape. If not, awaits `ask` and records the answer.

        `read` must raise an error if a value is not a valid answer, because the file may have been edited. Raises the
        call's recorded error, RecordingMissing if a replay lacks the request, ConfigError if the recording is damaged,
        and anything that `ask` raises.
        """
        entry = self._entries.get(asked.key)
        if entry is not None and not self._may_be_asked_again(entry):
            self.n_replayed += entry.line > 0
            return self._answer(entry, read), True
        if self.mode == "replay":
            raise self._missing(asked)
        try:
            answer = await ask()
        except KEPT as error:
            self._keep(asked, failure=as_plain(error))
            raise
        # Converts the answer to the form that a replay will read: tuples become lists, and secrets are hidden.
        reply = json.loads(json.dumps(scrubbed(answer, self._secrets)))
        self._keep(asked, reply=reply)
        return reply, False

    def _may_be_asked_again(self, entry: TapeEntry) -> bool:
        return self.mode != "replay" and entry.failure is not None and bool(entry.failure.get("of"))

    @property
    def text(self) -> str | None:
        """The new content of the file, or None if nothing was recorded."""
        return tape_text(list(self._entries.values())) if self.n_recorded else None

    def _keep(self, asked: TapeRequest, *, reply: Any = None, failure: dict[str, Any] | None = None) -> None:
        shown, hidden = scrubbed(asked.shown, self._secrets), scrubbed(failure, self._secrets)
        self._entries[asked.key] = TapeEntry(asked.kind, asked.key, shown, reply, hidden)
        self.n_recorded += 1

    def _answer(self, entry: TapeEntry, read: Callable[[Any], object]) -> Any:
        try:
            if entry.failure is None:
                read(entry.reply)
                return entry.reply
            failure = as_error(dict(entry.failure))
        except UNREADABLE as error:
            what = f"the recorded {'reply' if entry.failure is None else 'failure'} cannot be read"
            raise ConfigError(f"{self.path}:{entry.line}: {what} ({type(error).__name__}); record it again") from error
        raise failure

    def _missing(self, asked: TapeRequest) -> RecordingMissing:
        shown = scrubbed(asked.shown, self._secrets)
        if self._entries:
            why = f"not in {self.path}: {difference(asked.kind, shown, self._entries.values())}"
        else:
            why = f"{self.path} {'is empty' if self.path.exists() else 'does not exist'}"
        return RecordingMissing(f"no recording of this request ({described(asked.kind, shown)}): {why}. {self._remedy}")

    def _check_place(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"cannot write {self.path} ({error.strerror or error})") from error
        if self.path.is_dir() or not os.access(self.path.parent, os.W_OK):
            raise ConfigError(f"cannot write {self.path}")


_COMPARED = 4_000
_MOST = 300
_SHOWN = 80
_BEFORE = 20


def described(kind: Kind, request: Mapping[str, Any]) -> str:
    """Describes the request on one line: its model or tool, and the end of its text, where requests usually differ."""
    match kind:
        case "model":
            texts = [str(message[-1]) for message in request.get("messages", ()) if message]
            wanted = request.get("schema") or "free text"
            return f"model {request.get('model')}, {wanted}, {_tail(texts[-1] if texts else '')}"
        case "search":
            return f"search {request.get('tool')}, query {_tail(str(request.get('query')))}"
        case "web":
            return f"{request.get('tool')}, {_tail(json.dumps(request.get('fields'), ensure_ascii=False))}"


def difference(kind: Kind, request: Mapping[str, Any], entries: Iterable[TapeEntry]) -> str:
    """Describes how the request differs from the closest recorded request of its kind, on one line."""
    alike = list(islice((entry for entry in entries if entry.kind == kind), _MOST))
    if not alike:
        return f"it contains no {kind} requests"
    wanted = _text(request)
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)

    def likeness(entry: TapeEntry) -> float:
        matcher.set_seq1(_text(entry.request))
        return matcher.quick_ratio()

    closest = max(alike, key=likeness)
    fields = [
        name
        for name in sorted({*request, *closest.request})
        if _plain(request.get(name)) != _plain(closest.request.get(name))
    ]
    where = f"the closest (line {closest.line})" if closest.line else "the closest"
    if not fields:
        return f"{where} differs only in details that are not shown"
    shown = "; ".join(_place(name, closest.request.get(name), request.get(name)) for name in fields)
    return f"{where} differs in {shown}"


def _place(name: str, recorded: Any, asked: Any) -> str:
    before, now = _plain(recorded), _plain(asked)
    parts = next((place for place, pair in enumerate(zip(before, now, strict=False)) if pair[0] != pair[1]), None)
    start = max(0, (min(len(before), len(now)) if parts is None else parts) - _BEFORE)
    return f"{name}: recorded {_cut(before, start)}, requested {_cut(now, start)}"


def _cut(text: str, start: int) -> str:
    shown = text[start : start + _SHOWN]
    return repr(f"{'…' if start else ''}{shown}{'…' if start + _SHOWN < len(text) else ''}")


def _tail(text: str) -> str:
    flat = " ".join(text[-4 * _SHOWN :].split())
    return repr(flat if len(flat) <= _SHOWN else f"…{flat[-_SHOWN:]}")


def _text(request: Mapping[str, Any]) -> str:
    return _plain(request)[-_COMPARED:]


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
