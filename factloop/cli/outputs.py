"""Writes a command's outputs. Files are written atomically, and standard output may be closed at any time."""

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

from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json, write_atomically
from factloop.core.files.lines import STANDARD_INPUT
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
FILLED_IN = "someone may have filled it in"  # why a label sheet is not overwritten


class _WithoutPadding:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(_PADDING.sub("", text))

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()


class Terminal(Console):
    """Tolerates a reader that stops early, such as `head`. Strips trailing spaces in files and pipes."""

    def __init__(self) -> None:
        super().__init__(emoji=False, markup=False, highlight=False)
        if not self.is_terminal:
            self.file = cast("IO[str]", _WithoutPadding(sys.stdout))  # rich needs nothing else from a file

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
    """Raises ConfigError, before any money is spent, if an output is not writable or would overwrite an input.

    The settings file, and files named in the settings, also count as inputs.
    """
    files = [name for name in names if name not in (None, STANDARD_OUTPUT)]
    if names.count(STANDARD_OUTPUT) > 1:
        raise ConfigError("only one output can go to standard output; use files for the other outputs")
    of_settings = () if settings is None else settings.written_paths
    written: dict[Path, str] = {}
    for name in (*files, *of_settings, *(() if run_dir is None else (str(run_dir),))):
        place = _real_place(name)
        if place in written:
            raise ConfigError(f"two outputs would be written to {name}; use a different file for each")
        written[place] = name
    filled = dict(written)  # plus a file in the run directory, which a glob pattern might match
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
    """Raises ConfigError if an output exists. Use this for outputs that were costly to make."""
    for name in names:
        if name not in (None, STANDARD_OUTPUT) and os.path.lexists(name):
            raise ConfigError(f"{name} already exists, and {why}; use another file")


def _real_place(name: str) -> Path:
    try:
        return Path(os.path.realpath(name))
    except (OSError, ValueError) as error:  # a name that is too long or invalid
        raise _unwritable(name, error) from error


def _keep_out_of(folder: Path, written: Mapping[Path, str]) -> None:
    for place, name in written.items():
        if folder in place.parents:
            raise ConfigError(f"{name} is inside the run directory {written[folder]}; use a path outside it")


def _refuse_to_write_over(read: str, written: Mapping[Path, str]) -> None:
    try:
        taken, source = first_taken_in(read, written), Path(read).expanduser().resolve()
        is_folder = source.is_dir()
    except (OSError, RuntimeError, ValueError):  # an invalid file name, which is reported when it is read
        return
    if taken is None:
        return
    name = written[taken]
    if taken == source:
        raise ConfigError(f"{name} would overwrite {read}, which is an input; use another file")
    if is_folder:
        raise ConfigError(f"{name} is inside {read}, whose files are inputs; use a path outside it")
    raise ConfigError(f"{name} would match {read}, whose files are inputs; use another file")


def _try_output(name: str) -> None:
    path = Path(name)
    folder = _real_place(name).parent
    try:
        if path.is_dir():
            raise ConfigError(f"cannot write {name}: this is a folder; use a file")
        if path.exists() and not path.is_file():  # a pipe or a device, whose folder need not be writable
            return
        if not folder.is_dir():
            raise ConfigError(f"cannot write {name}: the folder {folder} does not exist")
        if not os.access(folder, os.W_OK):
            raise ConfigError(f"cannot write {name}: the folder {folder} is not writable")
    except (OSError, ValueError) as error:
        raise _unwritable(name, error) from error


def _unwritable(name: str, error: OSError | ValueError) -> ConfigError:
    return ConfigError(f"cannot write {name} ({getattr(error, 'strerror', None) or error})")


def write_output(name: str, text: str | bytes) -> None:
    """Writes to a file, or to standard output if `name` is `-`. Raises ConfigError."""
    if name == STANDARD_OUTPUT:
        # as bytes, since the encoding of the terminal must not affect JSON or HTML
        say(lambda: sys.stdout.buffer.write(text.encode() if isinstance(text, str) else text))
    else:
        write_atomically(Path(name), text)


def write_files(outputs: Mapping[str | None, Callable[[], str | bytes]]) -> None:
    """Writes to standard output last, because its reader may already have stopped. Raises ConfigError."""
    named = [(name, render) for name, render in outputs.items() if name is not None]
    for name, render in sorted(named, key=lambda output: output[0] == STANDARD_OUTPUT):
        write_output(name, render())


def deliver(
    given: Arguments,
    record: Record | None,
    show: Callable[[Console], object],
    *,
    page: Callable[[], str] | None = None,
    files: Mapping[str | None, Callable[[], str | bytes]] | None = None,
) -> None:
    """Writes a report to the requested outputs and, unless `quiet` is set, prints it. Raises ConfigError."""
    outputs = dict(files or {})
    if record is not None:
        outputs[getattr(given, "json_", None)] = partial(to_json, record)
    if page is not None:
        outputs[getattr(given, "html", None)] = page
    tables: Sequence[str] = getattr(given, "tables", ())
    pictures = [name for name in tables if name.lower().endswith((".svg", ".pdf"))]
    if tables:
        from factloop.reports.sheet.files import tables_file

        outputs |= {name: partial(tables_file, show, name) for name in tables if name not in pictures}
    write_files(outputs)
    for name in pictures:  # last, so that everything else is written even if there are no plots
        from factloop.reports.sheet.files import picture_files

        write_files(picture_files(page or (lambda: None), name))
    if not getattr(given, "quiet", False) and STANDARD_OUTPUT not in outputs:
        say(lambda: show(Terminal()))


def show_lines(lines: Iterable[str]) -> Callable[[Console], object]:
    """A function that prints the lines, with invisible characters escaped."""
    return lambda terminal: terminal.print("\n".join(map(visible, lines)), soft_wrap=True)


def say(speak: Callable[[], object]) -> None:
    """Calls a function that writes to standard output. Raises ConfigError if writing fails."""
    if sys.stdout is None:
        raise ConfigError("standard output is closed; use a file with --json or --html")
    try:
        speak()
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon_standard_output()
    except OSError as error:
        _abandon_standard_output()
        raise ConfigError(f"cannot write to standard output: {error.strerror or error}") from error


def leave_now(code: int) -> NoReturn:
    """Ends the process without waiting for threads, which cannot be stopped during a search.

    Nothing is lost: answers are saved before they are used, and the operating system releases all locks.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # broken, closed or never opened
            stream.flush()
    flush_traces()
    os._exit(code)


def _abandon_standard_output() -> None:
    """Discards standard output. Otherwise, Python would report another error when it flushes it on exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def price(usd: float | None) -> str:
    """The estimated cost as text. If it is unknown, the text says how to set a price."""
    return "price unknown: set --price-in and --price-out" if usd is None else f"about {usd:.4f} USD"
