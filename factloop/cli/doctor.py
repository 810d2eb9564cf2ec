"""`factloop doctor` tests every part of the setup and reports which parts work."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from factloop.cli.console import BROKEN, DONE, run_alone, step, stopped_with
from factloop.cli.options import AsJson, Flags, command, taking
from factloop.cli.outputs import deliver, try_outputs
from factloop.cli.preparing import server_settings
from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.entrance.serving import SERVER, default_folder
from factloop.reports.figures import plural
from factloop.setup.marks import CACHE, MODEL, SEARCH, Mark
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.urls import without_userinfo
from factloop.trust.settings import SERVED, TrustSettings

if TYPE_CHECKING:
    from factloop.doctor.looking import Look, WorkingPart

_NOTHING = ("nothing is stored there yet",)


class Doctor(AsJson):
    controls: Annotated[bool, Mark(MODEL)] = False
    """Also test the judge on a dozen sentences (twenty with --judge) that are known to be true or false."""
    database: Annotated[str | None, Mark(SERVER, "URL")] = None
    """Database to test, as set for factloop serve."""
    folder: Annotated[Path | None, Mark(SERVER)] = None
    """Folder of the database to test, as set for factloop serve. Default: a folder in your user data directory."""


@command(
    taking(CheckSettings, MODEL, SEARCH, CACHE, "timeout_s", "price_in", "price_out"),
    taking(TrustSettings, *SERVED, "kb", "dbpedia"),
)
def doctor(given: Doctor, flags: Flags) -> int:
    from factloop.doctor.examination import diagnose
    from factloop.doctor.views.terminal import print_diagnosis

    check, trust = server_settings(flags)
    for settings in (check, trust):
        try_outputs((given.json_,), (), settings=settings)
    looks = look_at_database(given.database, given.folder)
    with stopped_with("Nothing was changed."), step("testing", quiet=False):
        diagnosis = run_alone(diagnose(check, trust, looks, controls=given.controls))
    deliver(given, diagnosis, partial(print_diagnosis, diagnosis))
    return DONE if diagnosis.works else BROKEN


def look_at_database(url: str | None, folder: Path | None) -> Sequence[Look]:
    """Only reads the database. Returns no test if neither a URL nor a folder is set and the service has never run."""
    from factloop.doctor.looking import Look, in_thread

    if url is None:
        file = (folder or default_folder()) / "jobs.sqlite"
        if folder is None and not file.exists():
            return ()
        url = f"sqlite:///{file}"
    return (Look("database", _shown(url), in_thread(partial(_read, url))),)


def _read(url: str) -> WorkingPart:
    require("serve", "testing the service's database", "sqlalchemy")
    from sqlalchemy import func, inspect, select
    from sqlalchemy.exc import SQLAlchemyError

    from factloop.doctor.looking import WorkingPart
    from factloop.service.database import file_of, open_to_read, said_by
    from factloop.service.tables import FORMAT, FORMATS, JOBS

    engine = open_to_read(url)
    file = file_of(engine)
    if file is not None and not file.exists():
        return WorkingPart(how=_NOTHING)
    if file is not None and not file.is_file():
        raise ConfigError(f"{_shown(url)} is not a file: use a database file, or the name of a new file")
    limits = () if file is None else ("one service at a time",)
    try:
        with engine.connect() as connection:
            looked_at = inspect(connection)
            is_ours = looked_at.has_table(FORMATS.name)
            if file is not None and not is_ours and looked_at.get_table_names():
                raise ConfigError(f"{_shown(url)} is the database of another program: use a different file")
            found = connection.scalar(select(FORMATS.c.format)) if is_ours else None
            if found is None:
                return WorkingPart(how=_NOTHING, limits=limits)
            if found > FORMAT:
                raise ConfigError(
                    f"{_shown(url)} was written by another version of factloop (format {found}): use that version or "
                    "another database"
                )
            counts = connection.execute(select(JOBS.c.status, func.count()).group_by(JOBS.c.status)).all()
    except SQLAlchemyError as error:
        advice = "is the server running, and is the URL correct?" if file is None else "is it a factloop database?"
        raise ConfigError(f"cannot read {_shown(url)} ({said_by(error)}): {advice}") from error
    finally:
        engine.dispose()
    kept = tuple(f"{plural(number, 'job')} {status}" for status, number in sorted(map(tuple, counts)))
    return WorkingPart(how=kept or ("no jobs",), limits=limits)


def _shown(url: str) -> str:
    return without_userinfo(url) if urlsplit(url).netloc else url
