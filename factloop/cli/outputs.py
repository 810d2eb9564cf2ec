"""Writes the outputs of a command: files whole or not at all, and standard output even if its reader leaves."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from rich.console import Console

from factloop.cli.inputs import STANDARD_INPUT
from factloop.core.errors import ConfigError
from factloop.core.files.json import write_atomically
from factloop.setup.trace_export import flush_traces

STANDARD_OUTPUT = "-"


class Terminal(Console):
    """Standard output for a person. A reader who leaves early (`| head`) is no failure of the command."""

    def __init__(self) -> None:
        super().__init__(emoji=False, markup=False, highlight=False)

    def on_broken_pipe(self) -> None:
        self.quiet = True
        _abandon_standard_output()


def try_outputs(names: Sequence[str | None], inputs: Sequence[str]) -> None:
    """Finds out before anything is spent whether the outputs can be written, and over no input. Raises ConfigError."""
    named = [name for name in names if name is not None]
    if len(set(named)) < len(named):
        raise ConfigError("--json and --html name one place; give each its own")
    for name in named:
        if name == STANDARD_OUTPUT:
            continue
        try:
            _try_output(name)
            overwritten = next((read for read in inputs if read != STANDARD_INPUT and _is_one_place(name, read)), None)
        except (OSError, ValueError) as error:  # a name that is too long or that no file can have
            raise ConfigError(f"{name}: cannot be written ({getattr(error, 'strerror', None) or error})") from error
        if overwritten is not None:
            raise ConfigError(f"{name}: would overwrite {overwritten}, which is to be read; name another file")


def _try_output(name: str) -> None:
    path = Path(name)
    folder = path.absolute().parent
    if not folder.is_dir():
        raise ConfigError(f"{name}: cannot be written, the folder {folder} does not exist")
    if path.is_dir() or not os.access(folder, os.W_OK):
        raise ConfigError(f"{name}: cannot be written")


def _is_one_place(output: str, read: str) -> bool:
    """Whether both paths resolve to one: an output that is a second hard link to an input replaces only itself."""
    return os.path.realpath(output) == os.path.realpath(Path(read).expanduser())


def write_output(name: str, text: str) -> None:
    """Writes `text` as UTF-8 to a file, or to standard output for `-`. Raises ConfigError."""
    if name == STANDARD_OUTPUT:
        # Bytes, since the encoding of the terminal has no say in what a file of JSON or HTML holds.
        say(lambda: sys.stdout.buffer.write(text.encode()))
    else:
        write_atomically(Path(name), text)


def write_files(outputs: Mapping[str | None, Callable[[], str]]) -> None:
    """Writes each output that is named. Files first: standard output may have lost its reader. Raises ConfigError."""
    named = [(name, render) for name, render in outputs.items() if name is not None]
    for name, render in sorted(named, key=lambda output: output[0] == STANDARD_OUTPUT):
        write_output(name, render())


def say(speak: Callable[[], object]) -> None:
    """Calls what writes to standard output. Raises ConfigError where that cannot be written."""
    if sys.stdout is None:
        raise ConfigError("standard output is closed; name a file with --json or --html")
    try:
        speak()
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon_standard_output()
    except OSError as error:
        _abandon_standard_output()
        raise ConfigError(f"cannot write to standard output: {error.strerror or error}") from error


def leave_now(code: int) -> NoReturn:
    """Ends the process without its threads.

    Python would join them first, and one that waits for a search cannot be stopped before `--timeout`. Nothing is lost
    by it: answers are on disk before they are used, and the system gives up the locks.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # broken, closed, or not there from the start
            stream.flush()
    flush_traces()
    os._exit(code)


def _abandon_standard_output() -> None:
    """Sends standard output nowhere: Python would complain once more when it flushes at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def price(usd: float | None) -> str:
    """The price of an estimate, or how to get one."""
    return "price unknown (give --price-in and --price-out)" if usd is None else f"{usd:.4f} USD"
