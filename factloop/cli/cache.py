"""`factloop cache show` shows what is in the cache, and `factloop cache clear` empties it."""

from __future__ import annotations

from functools import partial
from typing import Literal

from rich.console import Console

from factloop.cli.console import BROKEN, DONE, note
from factloop.cli.options import AsJson, Flags, command, taking
from factloop.cli.outputs import deliver, show_lines, try_outputs
from factloop.entrance.settings_sources import load_settings
from factloop.reports.sheet.table import NOTHING, Cell, Column, Line, Sheet, count_cell, name
from factloop.reports.sheet.terminal import sheet_body
from factloop.reports.visible import visible
from factloop.setup.caching.contents import CacheSection, CacheStatus, status_of
from factloop.setup.caching.contents import clear as clear_cache
from factloop.setup.caching.folder import place_looked_at
from factloop.setup.settings import RunSettings


class Clear(AsJson):
    only: Literal["answers", "indexes"] | None = None
    """Remove only model replies and search results (answers), or only document indexes and word vectors (indexes)."""


@command(taking(RunSettings))
def show(given: AsJson, flags: Flags) -> int:
    try_outputs((given.json_,), ())
    status = status_of(load_settings(RunSettings, flags))
    deliver(given, status, partial(_print_status, status))
    return DONE


@command(taking(RunSettings))
def clear(given: Clear, flags: Flags) -> int:
    try_outputs((given.json_,), ())
    place = place_looked_at(load_settings(RunSettings, flags))
    cleared = clear_cache(place, answers=given.only != "indexes", indexes=given.only != "answers")
    for path in cleared.stayed:
        note(f"cannot remove {path}: another process is using it, or you do not have permission")
    freed = f"{_size(cleared.n_bytes)} freed" if cleared.n_bytes else "nothing was removed"
    deliver(given, cleared, show_lines([f"{cleared.folder}: {freed}."]))
    return BROKEN if cleared.stayed else DONE


def _print_status(status: CacheStatus, console: Console) -> None:
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
    oldest = NOTHING if kept.oldest is None else f"{verb} {kept.oldest:%Y-%m-%d %H:%M} UTC"
    return Line((Cell(kind), count_cell(kept.n), Cell(_size(kept.n_bytes)), Cell(oldest)))


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1_000_000:,.1f} MB" if n_bytes >= 1_000_000 else f"{n_bytes / 1_000:,.1f} kB"
