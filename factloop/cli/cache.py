"""`factloop cache show | clear`: shows what is kept for other runs, and removes it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.table import Table

from factloop.cli.exits import DONE, messages_console
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, say, try_outputs, write_output
from factloop.core.files.json import to_json
from factloop.entrance.settings_sources import load_settings
from factloop.reports.figures import plural
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
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("Kept", "Number", "Size", "Oldest"):
        table.add_column(name, no_wrap=True, justify="left" if name in ("Kept", "Oldest") else "right")
    table.add_row("answers", *_cells(status.answers, "written"))
    table.add_row("indexes of documents", *_cells(status.indexes, "used"))
    table.add_row("files of word vectors", *_cells(status.vectors, "used"))
    console.print(table)
    room, days = f"{status.cache_mb:,} MB (cache_mb)", f"{status.cache_days:g} days (cache_days)"
    console.print(f"{_size(status.n_bytes)} of {room}; kept for {days}.", soft_wrap=True)


def _cells(kept: CacheSection, verb: str) -> tuple[str, str, str]:
    return f"{kept.n:,}", _size(kept.n_bytes), "–" if kept.oldest is None else f"{verb} {_day(kept.oldest)}"


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1_000_000:,.1f} MB" if n_bytes >= 1_000_000 else f"{n_bytes / 1_000:,.1f} kB"
