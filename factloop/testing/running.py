"""The test that is running under the pytest plugin, with its recording. A process runs one test at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from factloop.setup.recording import Recording
    from factloop.tools.calls.modes import TapeMode


@dataclass
class RunningTest:
    """A running test. Its recording is created on first use, and written only if the test requested an answer."""

    path: Path
    """Path of the recording."""
    mode: TapeMode
    remedy: str
    """How to record the test."""
    folder: Path
    """Folder of the test file, to which document paths may be relative."""
    root: Path
    """Folder that contains factloop.toml."""
    defaults: Mapping[str, object] = field(default_factory=dict)
    """Settings from pytest's ini file."""

    @cached_property
    def recording(self) -> Recording:
        from factloop.setup.recording import Recording

        return Recording(self.path, self.mode, remedy=self.remedy)

    def finish(self, *, passed: bool) -> None:
        """Saves the recording if the test passed and used it. Raises ConfigError if saving fails."""
        if passed and "recording" in vars(self):
            self.recording.save()


_running: list[RunningTest] = []


@contextmanager
def running(test: RunningTest) -> Iterator[None]:
    """Marks the test as running. With pytester, other tests run inside it."""
    _running.append(test)
    try:
        yield
    finally:
        _running.remove(test)


def running_test() -> RunningTest | None:
    """The innermost test that is running under the plugin, if any."""
    return _running[-1] if _running else None
