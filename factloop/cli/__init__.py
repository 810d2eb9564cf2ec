"""The command line interface. Slow imports happen only when a command runs, so that `--help` is fast."""

from __future__ import annotations

import codecs
import gc
import io
import logging
import sys
from typing import IO

WRONG_INPUT, INTERRUPTED = 2, 130
CONTAINERS = 50_000
"""New containers between garbage collections (Python's default is 700). With hundreds of claims in progress, collecting
more often would take a third of a check's CPU time."""
EVALUATION = "factloop.evaluation"  # some installations do not include this package
_PLAIN = {
    "✓": "+", "✗": "x", "○": "o", "·": "*", "•": "*", "×": "x", "−": "-", "–": "-", "—": "-", "’": "'", "‘": "'",
    "“": '"', "”": '"', "«": '"', "»": '"', "…": "...", "≠": "!=", "←": "<-", "▶": ">", "●": "*", "◆": "*", "■": "#",
    "→": "->", "↔": "<->", "≤": "<=", "≥": ">=", "›": ">", "─": "-", "│": "|",
}  # fmt: skip
"""Replacements for characters that the output encoding lacks, as in the C locale."""


def main() -> None:
    """Runs the command. Reports errors in one line on standard error, and through the exit code."""
    gc.set_threshold(CONTAINERS, *gc.get_threshold()[1:])
    try:
        code = _run()
    except KeyboardInterrupt:  # interrupted while the commands were being imported
        code = INTERRUPTED
    if code == INTERRUPTED:  # a command that was running has already printed how to resume and has ended the process
        sys.stderr.write("factloop: stopped.\n")
    sys.exit(code)


def _run() -> int | None:
    """Imports modules here so that `main` can handle an interrupt during the imports."""
    from factloop.cli.app import app
    from factloop.cli.help import UsageError, usage_complaint
    from factloop.core.errors import FactloopError
    from factloop.reports.visible import VisibleLines

    if logging.lastResort is not None:  # prints warnings unless the command sets up a log
        logging.lastResort.setFormatter(VisibleLines())
    show_plainly(sys.stdout, sys.stderr)
    try:
        code: int | None = app(prog_name="factloop", standalone_mode=False)
        return code
    except UsageError as error:
        _complain(usage_complaint(error))
    except FactloopError as error:
        _complain(str(error).replace("`price_in` and `price_out`", "`--price-in` and `--price-out`"))
    except ModuleNotFoundError as error:
        if error.name != EVALUATION:
            raise
        _complain(f"this command needs the {EVALUATION} package, which is not installed")
    except OSError as error:
        if error.filename is None:
            raise
        # The operating system rejected a user's path (too long or inaccessible) that factloop had accepted.
        _complain(f"{error.filename}: {error.strerror or error}")
    return WRONG_INPUT


def _complain(message: str) -> None:
    from factloop.reports.visible import visible

    sys.stderr.write(f"factloop: {visible(' '.join(message.split()))}\n")


def show_plainly(*streams: IO[str] | None) -> None:
    """Replaces characters that a stream cannot encode, instead of raising an error."""
    codecs.register_error("factloop.plain", _plainly)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="factloop.plain")


def _plainly(error: UnicodeError) -> tuple[str | bytes, int]:
    assert isinstance(error, UnicodeEncodeError)
    characters = error.object[error.start : error.end]
    plain = (_PLAIN.get(one) or one.encode("ascii", "backslashreplace").decode() for one in characters)
    return "".join(plain), error.end
