"""Runs the command line in this process, as its entry point does."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from factloop.cli import main


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        assert self.err.endswith("\n")
        (line,) = self.err.splitlines()
        return line


COLLECTED = re.compile(
    r"^Exception ignored in: .*\nTraceback \(most recent call last\):\n(?:  .*\n)*ResourceWarning: .*\n", re.MULTILINE
)
"""Said of a connection that an earlier test left open, when it happens to be collected while the command runs."""
Command = Callable[..., Result]


def build_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["factloop", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        said = COLLECTED.sub("", captured.err)
        assert "Traceback" not in said
        code = ended.value.code
        assert isinstance(code, int)
        return Result(code, captured.out, said)

    return run
