"""The database of `factloop serve`, as `factloop doctor` looks at it: read, never made, never changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.doctor.looking import Look, WorkingPart, in_thread
from factloop.reports.figures import plural
from factloop.tools.calls.urls import without_userinfo

_NOTHING = ("nothing is kept there yet",)


def look_at_database(url: str | None, folder: Path | None) -> Sequence[Look]:
    """A look at the database of that URL, else at the one in the folder; none where nothing was ever served."""
    if url is None:
        file = _served_from(folder) / "jobs.sqlite"
        if folder is None and not file.exists():
            return ()
        url = f"sqlite:///{file}"
    return (Look("database", _shown(url), in_thread(partial(_read, url))),)


def _served_from(folder: Path | None) -> Path:
    """The folder, or that in the user's data, which `factloop serve` takes by default."""
    if folder is not None:
        return folder
    import platformdirs

    return Path(platformdirs.user_data_dir("factloop", appauthor=False)) / "service"


def _read(url: str) -> WorkingPart:
    require("serve", "looking at the service's database", "sqlalchemy")
    from sqlalchemy import func, inspect, select
    from sqlalchemy.exc import SQLAlchemyError

    from factloop.service.database import file_of, open_database, said_by
    from factloop.service.tables import FORMAT, FORMATS, JOBS, WITHOUT_LEASES

    if url.startswith("sqlite") and not Path(url.partition("///")[2]).is_file():
        return WorkingPart(how=_NOTHING)
    engine = open_database(url)
    limits = () if file_of(engine) is None else ("one service at a time",)
    try:
        with engine.connect() as connection:
            if not inspect(connection).has_table(FORMATS.name):
                return WorkingPart(how=_NOTHING, limits=limits)
            found = connection.scalar(select(FORMATS.c.format))
            if found not in (WITHOUT_LEASES, FORMAT):
                raise ConfigError(
                    f"{_shown(url)}: was written by another version of factloop (format {found}): use that one, or "
                    "another database"
                )
            counts = connection.execute(select(JOBS.c.status, func.count()).group_by(JOBS.c.status)).all()
    except SQLAlchemyError as error:
        raise ConfigError(
            f"{_shown(url)}: cannot be read ({said_by(error)}): is it running, and is the address right?"
        ) from error
    finally:
        engine.dispose()
    kept = tuple(f"{plural(number, 'job')} {status}" for status, number in sorted(map(tuple, counts)))
    return WorkingPart(how=kept or ("no jobs",), limits=limits)


def _shown(url: str) -> str:
    """The address without credentials."""
    return without_userinfo(url) if urlsplit(url).netloc else url
