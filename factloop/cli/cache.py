"""`factloop cache show | clear`: shows what is kept for other runs, and removes it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from factloop.cli.exits import DONE, messages_console
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, say, try_outputs, write_output
from factloop.core.files.json import to_json
from factloop.entrance.settings_sources import load_settings
from factloop.reports.figures import plural
from factloop.reports.sheet.table import NOTHING, Cell, Column, Line, Sheet, count_cell, name
from factloop.reports.sheet.terminal import sheet_body
from factloop.reports.visible import visible
from factloop.setup.caching.clearing import CacheCleared, clear
from factloop.setup.caching.folder import place_looked_at
from factloop.setup.caching.status import CacheSection, CacheStatus, status_of
from factloop.setup.settings import RunSettings

STAYED = 2
"""Exit code where something that was to be removed stayed."""


def run_show(flags: Mapping[str, Any], json: str | None) -> int:
    """Shows what is kept; returns the exit code. Raises ConfigError."""
    try_outputs((json,), ())
    status = status_of(_settings(flags))
    if json is not None:
        write_output(json, to_json(status))
    if json != STANDARD_OUTPUT:
        say(lambda: _print_status(status, Terminal()))
    return DONE


def run_clear(flags: Mapping[str, Any], json: str | None, *, answers: bool, indexes: bool) -> int:
    """Removes what is named, or all for nothing named; returns the exit code. Raises ConfigError."""
    try_outputs((json,), ())
    everything = not answers and not indexes
    cleared = clear(place_looked_at(_settings(flags)), answers=answers or everything, indexes=indexes or everything)
    for path in cleared.stayed:
        said = f"factloop: {path}: stays, as another process uses it or it may not be removed; clear again later"
        messages_console().print(visible(said), soft_wrap=True)
    if json is not None:
        write_output(json, to_json(cleared))
    if json != STANDARD_OUTPUT:
        say(lambda: Terminal().print(visible(_said(cleared)), soft_wrap=True))
    return STAYED if cleared.stayed else DONE


def _settings(flags: Mapping[str, Any]) -> RunSettings:
    return load_settings(RunSettings, flags, os.environ, Path.cwd())


def _said(cleared: CacheCleared) -> str:
    counts = ((cleared.n_answers, "answer"), (cleared.n_indexes, "index"), (cleared.n_vectors, "file"))
    words = [_counted(count, noun) for count, noun in counts if count]
    if not words and not cleared.n_bytes:
        return f"{cleared.folder}: nothing was removed."
    return f"{cleared.folder}: {', '.join(words) or 'a damaged file'} removed, {_size(cleared.n_bytes)} freed."


def _counted(count: int, noun: str) -> str:
    if noun == "index":
        return f"{count:,} {'index' if count == 1 else 'indexes'} of documents"
    return f"{plural(count, noun)} of word vectors" if noun == "file" else plural(count, noun)


def _print_status(status: CacheStatus, console: Terminal) -> None:
    console.print(visible(f"Cache folder: {status.folder}"), soft_wrap=True)
    lines = (
        _line("answers", status.answers, "written"),
        _line("indexes of documents", status.indexes, "used"),
        _line("files of word vectors", status.vectors, "used"),
    )
    sheet = Sheet("Cache", (name("Kept"), Column("Number"), Column("Size"), Column("Oldest")), lines)
    console.print(sheet_body(sheet, console.width))
    room, days = f"{status.cache_mb:,} MB (cache_mb)", f"{status.cache_days:g} days (cache_days)"
    console.print(f"{_size(status.n_bytes)} of {room}; kept for {days}.", soft_wrap=True)


def _line(kind: str, kept: CacheSection, verb: str) -> Line:
    oldest = NOTHING if kept.oldest is None else f"{verb} {_day(kept.oldest)}"
    return Line((Cell(kind), count_cell(kept.n), Cell(_size(kept.n_bytes)), Cell(oldest)))


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1_000_000:,.1f} MB" if n_bytes >= 1_000_000 else f"{n_bytes / 1_000:,.1f} kB"
