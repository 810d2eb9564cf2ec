"""`factloop doctor` tests every part of the setup and reports which parts work."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from rich.console import Console
from rich.text import Text

from factloop.cli.console import BROKEN, DONE, run_alone, step, stopped_with
from factloop.cli.options import AsJson, Flags, command, taking
from factloop.cli.outputs import deliver, try_outputs
from factloop.cli.preparing import server_settings
from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.entrance.serving import SERVER, default_folder
from factloop.reports.figures import plural
from factloop.reports.sheet.table import Cell, ColumnOf, Sheet, name, sheet_of
from factloop.reports.sheet.terminal import print_sheet
from factloop.reports.terminal_parts import Row, print_section, rows_table, usage_rows
from factloop.reports.visible import visible
from factloop.setup.marks import CACHE, MODEL, SEARCH, Mark
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.urls import without_userinfo
from factloop.trust.settings import SERVED, TrustSettings

if TYPE_CHECKING:
    from factloop.doctor.looking import Look, WorkingPart
    from factloop.doctor.records import Diagnosis, Grade, PartFound, State

_NOTHING = ("nothing is stored there yet",)
STATES: dict[State, tuple[str, str]] = {
    "works": ("works", "green"),
    "fails": ("FAILS", "bold red"),
    "not_configured": ("not set", "dim"),
}
GRADES: dict[Grade, tuple[str, str]] = {
    "good": ("good", "green"),
    "usable_with_care": ("usable, with care", "yellow"),
    "not_usable": ("NOT USABLE", "bold red"),
}


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


def print_diagnosis(diagnosis: Diagnosis, console: Console) -> None:
    print_sheet(console, findings(diagnosis))
    print_section(console, "Installation", rows_table(_installation(diagnosis)))


def findings(diagnosis: Diagnosis) -> Sheet:
    columns: tuple[ColumnOf[PartFound], ...] = (
        (name("What"), lambda found: found.part.replace("_", " ")),
        (name("Which"), lambda found: found.name or "–"),
        (name("State"), _state),
        (name("Details"), _said),
    )
    return sheet_of("Configured", columns, diagnosis.parts)


def _state(found: PartFound) -> Cell:
    word, style = STATES[found.state] if found.controls is None else GRADES[found.controls.grade]
    return Cell(word, style=style)


def _said(found: PartFound) -> str:
    if found.problem:
        end = "" if found.problem.endswith((".", "!", "?")) else "."
        return f"{found.problem}{end} {found.advice}".strip()
    return "; ".join((*found.how, *found.limits)) or found.advice


def _installation(diagnosis: Diagnosis) -> list[Row]:
    there = [one.extra for one in diagnosis.extras if one.installed]
    absent = [one for one in diagnosis.extras if not one.installed]
    rows: list[Row] = [
        ("factloop", Text(f"{diagnosis.factloop_version}, Python {diagnosis.python_version}")),
        ("Extras", Text(", ".join(there) or "none")),
    ]
    if absent:
        install = absent[0].install.replace(f"[{absent[0].extra}]", "[EXTRA]")
        rows.append(("Missing", Text(visible(f"{', '.join(one.extra for one in absent)}; to install: {install}"))))
    return rows + usage_rows(diagnosis.usage)
