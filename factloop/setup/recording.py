"""A recording of what models and searches answered: used by checkers and scorers, written by its owner."""

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
REMEDY = "To record it, set recording_mode='new' (--recording-mode new) to add to it, or 'record' to start afresh."


class Recording:
    """One file of answers. Several checkers and scorers may share it, in any thread.

    `mode`: `replay` makes no call, and a missing answer raises RecordingMissing; `record` makes the file anew, without
    what is no longer asked; `new` keeps what is there and adds what is missing. Secrets in the environment are hidden
    in the file. Construction touches no file.
    """

    def __init__(self, path: str | Path, mode: TapeMode = "replay", *, remedy: str = REMEDY) -> None:
        """`remedy` ends the message of a missing answer: how to record it."""
        self.path, self.mode = Path(path), mode
        self.tape = Tape(self.path, mode, secrets=secrets_in(os.environ), remedy=remedy)
        self._lock = threading.Lock()
        self._users = 0
        self._written: str | None = None

    @classmethod
    def of(cls, settings: RunSettings) -> Self | None:
        """The recording that the settings name."""
        return None if settings.recording is None else cls(settings.recording, settings.recording_mode)

    def save(self) -> bool:
        """Writes what was recorded, whole or not at all; says whether there was anything new. Raises ConfigError."""
        with self._lock:
            text = self.tape.text
            if text is None or text == self._written:
                return False
            write_atomically(self.path, text)
            self._written = text
            return True

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Writes the file at the end of the last of the uses under way, unless that one fails."""
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
    """The recording of one checker or scorer, if it has one: given by its owner, who writes it, or made here."""

    def __init__(self, given: str | Path | Recording | None, settings: RunSettings) -> None:
        self._is_given = isinstance(given, Recording)
        self.recording = given if isinstance(given, Recording) else Recording.of(settings)

    @staticmethod
    def settings(given: str | Path | Recording | None) -> Mapping[str, Any]:
        """The settings that a given recording replaces."""
        if given is None:
            return {}
        if isinstance(given, Recording):
            return {"recording": given.path, "recording_mode": given.mode}
        return {"recording": Path(given)}

    @property
    def tape(self) -> Tape | None:
        return None if self.recording is None else self.recording.tape

    def in_use(self) -> AbstractContextManager[None]:
        """A context for each use; at its end it writes what was recorded, unless the recording's owner does."""
        return nullcontext() if self.recording is None or self._is_given else self.recording.in_use()


def refuse_missing_recording(settings: RunSettings) -> None:
    """Raises ConfigError where a recording is to be replayed that is not there, or a mode is set without one.

    Commands ask it of a name that was typed. A test may name one that is yet to be made, or that it does not need.
    """
    place = settings.recording
    if place is None and "recording_mode" in settings.model_fields_set:
        raise ConfigError("recording_mode is set, but recording is not: name its file (--recording FILE)")
    if settings.recording_mode == "replay" and place is not None and not place.exists():
        raise ConfigError(f"{place}: there is no such recording. {REMEDY}")


def replay_warnings(tape: Tape | None) -> tuple[str, ...]:
    """Warnings for readers of a report on the tape that was used."""
    return (REPLAYED,) if tape is not None and tape.mode == "replay" and tape.n_replayed else ()
