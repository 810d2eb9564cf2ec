"""Record and replay: what the models and searches of a run answered, kept as text and given again without them.

It stands in the gateways, above every provider: no header and no key passes here. What secrets the environment holds
are hidden in all that is kept, and in what is handed on, so that a replay goes the way of its recording.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from factloop.core.errors import ConfigError, RecordingMissing
from factloop.tools.calls.modes import TapeMode
from factloop.tools.calls.scrubbing import scrubbed
from factloop.tools.calls.tape_closest import described, difference
from factloop.tools.calls.tape_failures import KEPT, as_error, as_plain, failed_by_check_budget
from factloop.tools.calls.tape_format import Kind, TapeEntry, read_tape, tape_text

UNREADABLE = (KeyError, TypeError, ValueError, AttributeError)
"""What reading a reply of another shape raises; pydantic's errors are ValueErrors."""


@dataclass(frozen=True)
class TapeRequest:
    """One request: all that shapes its answer, but for where the server is, and the same for a reader."""

    kind: Kind
    exact: Any
    shown: Mapping[str, Any]

    @cached_property
    def key(self) -> str:
        text = json.dumps([self.kind, self.exact], sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Tape:
    """The recording of one test or run. May be shared by checkers, loops and threads; the file is read on first use."""

    def __init__(self, path: Path, mode: TapeMode, *, secrets: tuple[str, ...] = (), remedy: str) -> None:
        """`remedy` tells the user how to record what is missing. Touches no file."""
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
        """Loads the tape. Raises ConfigError for a file that cannot be read, or a place that cannot be written."""
        if self.mode != "replay":
            self._check_place()
        if self.mode == "record":
            return {}
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{self.path}: the recording cannot be read ({error})") from error
        entries = read_tape(text, str(self.path))
        if self.mode == "new":  # what failed then may be answered now
            return {key: entry for key, entry in entries.items() if entry.failure is None}
        return entries

    async def take(
        self, asked: TapeRequest, ask: Callable[[], Awaitable[Any]], *, read: Callable[[Any], object]
    ) -> tuple[Any, bool]:
        """The answer, and whether it was on the tape; otherwise `ask` is awaited and its answer kept.

        `read` raises where a value has not the shape of such an answer: the file may have been edited. Raises what the
        recorded call raised, RecordingMissing in a replay, ConfigError for a damaged recording, or as `ask`.
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
        # As it will be read again, so that a replay cannot differ: tuples are lists, secrets are hidden.
        reply = json.loads(json.dumps(scrubbed(answer, self._secrets)))
        self._keep(asked, reply=reply)
        return reply, False

    def _may_be_asked_again(self, entry: TapeEntry) -> bool:
        """Whether it holds only that one check had nothing left for it, and others can still be answered."""
        return self.mode != "replay" and entry.failure is not None and failed_by_check_budget(entry.failure)

    @property
    def text(self) -> str | None:
        """The file as it should be; None where nothing was recorded since."""
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
            raise ConfigError(f"{self.path}:{entry.line}: {what} ({type(error).__name__}); record it anew") from error
        raise failure

    def _missing(self, asked: TapeRequest) -> RecordingMissing:
        shown = scrubbed(asked.shown, self._secrets)
        if self._entries:
            why = f"not in {self.path}: {difference(asked.kind, shown, self._entries.values())}"
        else:
            why = f"{self.path} {'holds nothing' if self.path.exists() else 'is not there'}"
        return RecordingMissing(f"no recording of this request ({described(asked.kind, shown)}): {why}. {self._remedy}")

    def _check_place(self) -> None:
        """Before anything is spent: what will be recorded can be written."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"{self.path}: cannot be written ({error.strerror or error})") from error
        if self.path.is_dir() or not os.access(self.path.parent, os.W_OK):
            raise ConfigError(f"{self.path}: cannot be written")
