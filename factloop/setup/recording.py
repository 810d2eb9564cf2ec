"""Records the answers of models and searches."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Self

from factloop.core.errors import ConfigError
from factloop.core.files.json import write_atomically
from factloop.setup.settings import RunSettings
from factloop.tools.calls.modes import TapeMode
from factloop.tools.calls.scrubbing import secrets_in
from factloop.tools.calls.tape import Tape

REPLAYED = "Replayed from a recording: no model or search was called."
REMEDY = "To record missing answers, set recording_mode='new' (--recording-mode new); to start afresh, set 'record'."


class Recording:
    """A file of answers, which checkers and scorers in any thread can share.

    In `replay` mode, no calls are made, and a missing answer raises RecordingMissing. `record` rewrites the file and
    drops answers that are no longer requested. `new` keeps the existing answers and adds missing ones. Secrets from the
    environment are masked. The constructor does not access the file.
    """

    def __init__(self, path: str | Path, mode: TapeMode = "replay", *, remedy: str = REMEDY) -> None:
        """`remedy` completes the message about a missing answer by saying how to record it."""
        self.path, self.mode = Path(path), mode
        self.tape = Tape(self.path, mode, secrets=secrets_in(os.environ), remedy=remedy)
        self._lock = threading.Lock()
        self._users = 0
        self._written: str | None = None

    @classmethod
    def of(cls, settings: RunSettings) -> Self | None:
        return None if settings.recording is None else cls(settings.recording, settings.recording_mode)

    def save(self) -> bool:
        """Writes the file atomically. Returns whether anything was new. Raises ConfigError if writing fails."""
        with self._lock:
            text = self.tape.text
            if text is None or text == self._written:
                return False
            write_atomically(self.path, text)
            self._written = text
            return True

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Saves the file when the last concurrent use ends, unless that use fails."""
        with self._lock:
            self._users += 1
        try:
            yield
        except BaseException:
            self._left()
            raise
        if self._left():
            self.save()

    def _left(self) -> bool:
        with self._lock:
            self._users -= 1
            return not self._users


class UsedRecording:
    """A checker's or scorer's recording, if any, either passed in by the caller or made from the settings."""

    def __init__(self, given: str | Path | Recording | None, settings: RunSettings) -> None:
        self._is_given = isinstance(given, Recording)
        self.recording = given if isinstance(given, Recording) else Recording.of(settings)

    @staticmethod
    def settings(given: str | Path | Recording | None) -> Mapping[str, Any]:
        if given is None:
            return {}
        if isinstance(given, Recording):
            return {"recording": given.path, "recording_mode": given.mode}
        return {"recording": Path(given)}

    @property
    def tape(self) -> Tape | None:
        return None if self.recording is None else self.recording.tape

    def in_use(self) -> AbstractContextManager[None]:
        """Saves the recording on exit, unless it was passed in by the caller, who then saves it."""
        return nullcontext() if self.recording is None or self._is_given else self.recording.in_use()


def refuse_missing_recording(settings: RunSettings) -> None:
    """Raises ConfigError if the recording to replay does not exist, or if a mode is set without a recording."""
    place = settings.recording
    if place is None and "recording_mode" in settings.model_fields_set:
        raise ConfigError("`recording_mode` needs a recording; name its file with --recording FILE")
    if settings.recording_mode == "replay" and place is not None and not place.exists():
        raise ConfigError(f"the recording {place} does not exist. {REMEDY}")


def replay_warnings(tape: Tape | None) -> tuple[str, ...]:
    """Returns a warning for readers if any answer was replayed."""
    return (REPLAYED,) if tape is not None and tape.mode == "replay" and tape.n_replayed else ()
