"""The command line. Heavy imports wait until a command runs, so that `--help` answers at once."""

from __future__ import annotations

import os
import sys

from factloop.cli.app import app
from factloop.errors import FactloopError

WRONG_INPUT = 2


def main() -> None:
    """Runs the command line; an error is one line on standard error and an exit code, never a traceback."""
    try:
        app()
    except FactloopError as error:
        _complain(error)
        sys.exit(WRONG_INPUT)
    except BrokenPipeError:
        # Whoever read our output has left. Python would complain again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _complain(error: FactloopError) -> None:
    from factloop.evaluation.reports.visible import visible

    sys.stderr.write(f"factloop: {visible(' '.join(str(error).split()))}\n")
