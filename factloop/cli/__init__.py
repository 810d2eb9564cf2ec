"""The command line. Heavy imports wait until a command runs, so that `--help` answers at once."""

from __future__ import annotations

import sys

WRONG_INPUT, INTERRUPTED = 2, 130
EVALUATION = "factloop.evaluation"
"""The folder of the optional part of an installation."""


def main() -> None:
    """Runs the command line; an error is one line on standard error and an exit code, never a traceback."""
    try:
        code = _run()
    except KeyboardInterrupt:  # while the commands were being imported
        code = INTERRUPTED
    if code == INTERRUPTED:  # a command that had begun its work has said how to go on, and ended the process
        sys.stderr.write("factloop: stopped.\n")
    sys.exit(code)


def _run() -> int | None:
    """The exit code of the command that the arguments name. Imported here, where an interrupt is met."""
    from factloop.cli.app import app
    from factloop.cli.help import UsageError, usage_complaint
    from factloop.cli.narrow import show_plainly
    from factloop.core.errors import FactloopError

    show_plainly(sys.stdout, sys.stderr)
    try:
        code: int | None = app(prog_name="factloop", standalone_mode=False)
        return code
    except UsageError as error:
        _complain(usage_complaint(error))
    except FactloopError as error:
        _complain(str(error))
    except ModuleNotFoundError as error:
        if error.name != EVALUATION:
            raise
        _complain(f"this command needs the package {EVALUATION}, which is not installed here")
    except OSError as error:
        if error.filename is None:
            raise
        # A path of the user's that the system refuses (too long, not to be entered), met where no check expected it.
        _complain(f"{error.filename}: {error.strerror}")
    return WRONG_INPUT


def _complain(message: str) -> None:
    from factloop.reports.visible import visible

    sys.stderr.write(f"factloop: {visible(' '.join(message.split()))}\n")
