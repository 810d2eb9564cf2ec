"""The test that is running, where the pytest plugin is at work: where its recording lies, and what it spent.

A variable of the process, not of the context: one test runs at a time, and its fixtures, threads and loops all belong
to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from factloop.core.records import Usage
    from factloop.setup.recording import Recording
    from factloop.tools.calls.modes import TapeMode


@dataclass
class Spending:
    """Checks that tests made, and what these cost."""

    n_checks: int = 0
    """Assertions that got a report."""
    n_claims: int = 0
    cost_usd: float = 0.0
    n_unpriced: int = 0
    """How many of these have an unknown cost."""
    n_replayed: int = 0
    n_recorded: int = 0
    n_written: int = 0
    """Files."""
    n_unwritten: int = 0
    """Recordings of tests that failed."""

    def add(self, other: Spending) -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def note(self, usage: Usage, n_claims: int) -> None:
        """Counts one check."""
        self.n_checks += 1
        self.n_claims += n_claims
        self.cost_usd += usage.cost_usd or 0.0
        self.n_unpriced += usage.cost_usd is None


@dataclass
class RunningTest:
    """One test. Its recording is made when it is first wanted, and its file only where something was asked."""

    path: Path
    """Path of its recording."""
    mode: TapeMode
    remedy: str
    """Says how to record it."""
    folder: Path
    """Folder of the test file: documents are looked for there, too."""
    root: Path
    """Folder of factloop.toml."""
    defaults: Mapping[str, object] = field(default_factory=dict)
    """Settings from pytest's ini file, by name."""
    spent: Spending = field(default_factory=Spending)

    @cached_property
    def recording(self) -> Recording:
        from factloop.setup.recording import Recording

        return Recording(self.path, self.mode, remedy=self.remedy)

    def finish(self, *, passed: bool) -> None:
        """Writes what was recorded where the test passed, and counts. Raises ConfigError where that fails."""
        if "recording" not in vars(self):
            return
        self.spent.n_replayed, self.spent.n_recorded = self.recording.tape.n_replayed, self.recording.tape.n_recorded
        if passed:
            self.spent.n_written = int(self.recording.save())
        else:
            self.spent.n_unwritten = int(self.recording.tape.n_recorded > 0)


_running: list[RunningTest] = []


@contextmanager
def running(test: RunningTest) -> Iterator[None]:
    """Makes it the test that is running; tests of a test's own (pytester) may run within it."""
    _running.append(test)
    try:
        yield
    finally:
        _running.remove(test)


def running_test() -> RunningTest | None:
    """The innermost test that is running, under the plugin."""
    return _running[-1] if _running else None
