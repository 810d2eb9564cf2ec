"""The database of `factloop serve`, as `factloop doctor` looks at it: read, never made, never changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from factloop.core.errors import ConfigError
from factloop.core.extras import missing, require
from factloop.doctor.looking import Look, Working, in_thread
from factloop.reports.figures import plural
from factloop.tools.calls.urls import without_userinfo


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


def _read(url: str) -> Working:
    require("serve", "looking at the service's database", "sqlalchemy")
    from sqlalchemy import create_engine, inspect, text
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

    from factloop.service.database import BACKENDS
    from factloop.service.tables import FORMAT

    wrong = f"--database {_shown(url)}: give sqlite:///FILE or postgresql+psycopg://..."

    try:
        parsed = make_url(url)
        if parsed.get_backend_name() not in BACKENDS:
            raise ConfigError(wrong)
        if parsed.drivername == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
        if parsed.get_backend_name() == "sqlite" and not Path(parsed.database or "").is_file():
            return Working(how=("nothing is kept there yet",))
        engine = create_engine(parsed)
    except (ArgumentError, NoSuchModuleError) as error:
        raise ConfigError(wrong) from error
    except ImportError as error:
        raise missing("postgres", "PostgreSQL") from error
    try:
        with engine.connect() as connection:
            if not inspect(connection).has_table("factloop_format"):
                return Working(how=("nothing is kept there yet",))
            found = connection.scalar(text("SELECT format FROM factloop_format"))
            if found != FORMAT:
                raise ConfigError(
                    f"{_shown(url)}: was written by another version of factloop (format {found}): use that one, or "
                    "another database"
                )
            counts = connection.execute(text("SELECT status, count(*) FROM factloop_jobs GROUP BY status")).all()
    except SQLAlchemyError as error:
        said = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        raise ConfigError(
            f"{_shown(url)}: cannot be read ({said}): is it running, and is the address right?"
        ) from error
    finally:
        engine.dispose()
    return Working(how=tuple(f"{plural(number, 'job')} {status}" for status, number in sorted(counts)) or ("no jobs",))


def _shown(url: str) -> str:
    """The address without credentials."""
    return without_userinfo(url) if urlsplit(url).netloc else url
