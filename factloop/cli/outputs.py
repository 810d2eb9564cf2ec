"""Writes the outputs of a command: files whole or not at all, and standard output even if its reader leaves."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, NoReturn, TextIO, cast

from rich.console import Console

from factloop.cli.inputs import STANDARD_INPUT
from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json, write_atomically
from factloop.core.files.places import first_taken_in
from factloop.entrance.settings_sources import SETTINGS_FILE
from factloop.reports.visible import visible
from factloop.setup.trace_export import flush_traces

if TYPE_CHECKING:
    from factloop.cli.options import Arguments
    from factloop.core.records import Record
    from factloop.setup.settings import RunSettings

STANDARD_OUTPUT = "-"
_PADDING = re.compile("(?<! ) +(?=\n)")
FILLED_IN = "a person may have filled it in"
"""Why a sheet of labels is not written over."""


class _WithoutPadding:
    """A stream for lines that tables have padded to their width: the blanks at their ends are left out."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(_PADDING.sub("", text))

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()


class Terminal(Console):
    """Standard output for a person. A reader who leaves early (`| head`) is no failure of the command.

    Where it is a file or a pipe, lines have no blanks at their ends.
    """

    def __init__(self) -> None:
        super().__init__(emoji=False, markup=False, highlight=False)
        if not self.is_terminal:
            self.file = cast("IO[str]", _WithoutPadding(sys.stdout))  # rich asks no more of a file

    def on_broken_pipe(self) -> None:
        self.quiet = True
        _abandon_standard_output()


def try_outputs(
    names: Sequence[str | None],
    inputs: Iterable[str | None],
    *,
    settings: RunSettings | None = None,
    run_dir: Path | None = None,
) -> None:
    """Finds out before anything is spent whether the outputs can be written, and over no input. Raises ConfigError.

    What `settings` read is an input, too, as is the file that settings come from. What they write, and the run
    directory, may be folders, and are made where they are missing.
    """
    files = [name for name in names if name not in (None, STANDARD_OUTPUT)]
    if names.count(STANDARD_OUTPUT) > 1:
        raise ConfigError("two outputs go to standard output; give each its own file")
    of_settings = () if settings is None else settings.written_paths
    written: dict[Path, str] = {}
    for name in (*files, *of_settings, *(() if run_dir is None else (str(run_dir),))):
        place = _real_place(name)
        if place in written:
            raise ConfigError(f"{name}: two outputs would be written there; give each its own file")
        written[place] = name
    filled = dict(written)  # with a file of the run directory that a glob might take in
    if run_dir is not None:
        folder = _real_place(str(run_dir))
        _keep_out_of(folder, written)
        filled[folder / "reports.jsonl"] = str(run_dir)
    for name in files:
        _try_output(name)
    for read in (*inputs, *(settings.read_paths if settings is not None else ()), SETTINGS_FILE):
        if read not in (None, STANDARD_INPUT):
            _refuse_to_write_over(read, filled)


def refuse_existing(names: Sequence[str | None], why: str) -> None:
    """Raises ConfigError where an output is there already, for those that people or money have gone into."""
    for name in names:
        if name not in (None, STANDARD_OUTPUT) and os.path.lexists(name):
            raise ConfigError(f"{name}: already exists, and {why}; name another file")


def _real_place(name: str) -> Path:
    try:
        return Path(os.path.realpath(name))
    except (OSError, ValueError) as error:  # a name that is too long or that no file can have
        raise _unwritable(name, error) from error


def _keep_out_of(folder: Path, written: Mapping[Path, str]) -> None:
    """What lies in a run directory is the run's alone: its answers were paid for, and a strange file stops it."""
    for place, name in written.items():
        if folder in place.parents:
            raise ConfigError(f"{name}: is inside the run directory {written[folder]}; name a place outside it")


def _refuse_to_write_over(read: str, written: Mapping[Path, str]) -> None:
    """No output falls on an input, and none among files that are read: the next run would take it for a source."""
    try:
        taken, source = first_taken_in(read, written), Path(read).expanduser().resolve()
        is_folder = source.is_dir()
    except (OSError, RuntimeError, ValueError):  # what no file can have as its name: said where it is read
        return
    if taken is None:
        return
    name = written[taken]
    if taken == source:
        raise ConfigError(f"{name}: would overwrite {read}, which is an input; name another file")
    if is_folder:
        raise ConfigError(f"{name}: is inside {read}, whose files are inputs; name a place outside it")
    raise ConfigError(f"{name}: would match {read}, which is an input; name another file")


def _try_output(name: str) -> None:
    path = Path(name)
    folder = _real_place(name).parent
    try:
        if path.is_dir():
            raise ConfigError(f"{name}: cannot be written, it is a folder; name a file")
        if path.exists() and not path.is_file():  # a pipe or a device, whose folder need not be writable
            return
        if not folder.is_dir():
            raise ConfigError(f"{name}: cannot be written, the folder {folder} does not exist")
        if not os.access(folder, os.W_OK):
            raise ConfigError(f"{name}: cannot be written, the folder {folder} is not writable")
    except (OSError, ValueError) as error:
        raise _unwritable(name, error) from error


def _unwritable(name: str, error: OSError | ValueError) -> ConfigError:
    return ConfigError(f"{name}: cannot be written ({getattr(error, 'strerror', None) or error})")


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


def deliver(
    given: Arguments,
    record: Record | None,
    show: Callable[[Console], object],
    *,
    page: Callable[[], str] | None = None,
    files: Mapping[str | None, Callable[[], str]] | None = None,
) -> None:
    """Writes a report where the arguments want it, and shows it on the terminal unless they decline that.

    `page` renders it as HTML; `files` are outputs beside it. Raises ConfigError for one that cannot be written.
    """
    outputs = dict(files or {})
    if record is not None:
        outputs[getattr(given, "json_", None)] = partial(to_json, record)
    if page is not None:
        outputs[getattr(given, "html", None)] = page
    if (tables := getattr(given, "tables", None)) is not None:
        from factloop.reports.sheet.files import tables_file

        outputs[tables] = partial(tables_file, show, tables)
    write_files(outputs)
    if not getattr(given, "quiet", False) and STANDARD_OUTPUT not in outputs:
        say(lambda: show(Terminal()))


def show_lines(lines: Iterable[str]) -> Callable[[Console], object]:
    """Prints the lines on a terminal as they are, and what cannot be seen in a visible form."""
    return lambda terminal: terminal.print("\n".join(map(visible, lines)), soft_wrap=True)


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
    """What an estimate would cost, or how to learn it."""
    return "price unknown: give --price-in and --price-out" if usd is None else f"about {usd:.4f} USD"
