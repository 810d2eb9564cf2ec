"""`factloop serve` runs the service until it is stopped. `backup` and `restore` save and load its jobs."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from factloop.cli.console import DONE, note
from factloop.cli.options import ARGUMENT, Arguments, Flags, command, taking
from factloop.cli.preparing import server_settings
from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.core.files.private import make_private_folder
from factloop.entrance.keys import read_keys
from factloop.entrance.serving import SERVER, ServeSettings, sqlite_url
from factloop.entrance.settings_sources import load_settings
from factloop.reports.figures import plural
from factloop.setup.marks import CACHE, LIMITS, MODEL, PER_CHECK, SEARCH, Mark
from factloop.setup.settings import CheckSettings
from factloop.trust.settings import SERVED, TrustSettings


@command(
    taking(ServeSettings, SERVER),
    taking(CheckSettings, MODEL, SEARCH, LIMITS, CACHE, PER_CHECK),
    taking(TrustSettings, *SERVED),
)
def serve(_: Arguments, flags: Flags) -> int:
    """Runs until the process is stopped. Raises FactloopError if the setup is invalid, before opening anything."""
    require("serve", "the service")
    from factloop.service.app import build_app, in_words
    from factloop.service.app import serve as run_service
    from factloop.service.logs import log_to_stderr
    from factloop.service.settings import ServiceSettings

    own = {name: value for name, value in flags.items() if name in ServeSettings.model_fields}
    settings = load_settings(ServeSettings, own)
    service = ServiceSettings(**dict(settings), keys=read_keys(settings.api_key_file, os.environ))
    app = build_app(service, *server_settings(flags))
    log_to_stderr(service.log_format, service.log_level)
    say: Callable[[str], None] = note if service.log_format == "text" else logging.getLogger(__name__).info

    def ready(address: str) -> None:
        say(f"serving at {address} (Ctrl-C stops)")
        say(in_words(app))

    asyncio.run(run_service(app, ready=ready))
    say("stopped")
    return DONE


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
