"""`factloop backup FILE` saves the service's jobs to a file. `factloop restore FILE` loads them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from factloop.cli.console import DONE, note
from factloop.cli.options import ARGUMENT, Arguments, Flags, command, taking
from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.core.files.private import make_private_folder
from factloop.entrance.serving import ServeSettings, sqlite_url
from factloop.entrance.settings_sources import load_settings
from factloop.reports.figures import plural
from factloop.setup.marks import Mark


class Backup(Arguments):
    file: Annotated[Path, Mark(ARGUMENT, "FILE")]
    """Backup file, in SQLite format."""


@command(taking(ServeSettings, "database", "folder"))
def backup(given: Backup, flags: Flags) -> int:
    if given.file.exists():
        raise ConfigError(f"{given.file} already exists; choose another file name")
    source = load_settings(ServeSettings, flags).database_url
    try:
        return _copied(source, sqlite_url(given.file), f"saved in {given.file}")
    finally:
        Path(f"{given.file}.lock").unlink(missing_ok=True)  # the file is new, so no other process uses its lock


@command(taking(ServeSettings, "database", "folder"))
def restore(given: Backup, flags: Flags) -> int:
    if not given.file.is_file():
        raise ConfigError(f"{given.file}: no such file; pass a file written by `factloop backup`")
    settings = load_settings(ServeSettings, flags)
    if settings.database is None:
        make_private_folder(settings.place)
    return _copied(sqlite_url(given.file), settings.database_url, "restored")


def _copied(source: str, target: str, done: str) -> int:
    require("serve", "a backup of jobs", "sqlalchemy")
    from factloop.service.backup import copy_jobs

    note(f"{plural(copy_jobs(source, target), 'job')} {done}.")
    return DONE
