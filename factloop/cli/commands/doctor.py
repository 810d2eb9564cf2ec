"""`factloop doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from factloop.cli import flags
from factloop.cli.setting_flags import with_settings
from factloop.setup.marks import CACHE, MODEL, SEARCH
from factloop.setup.settings import CheckSettings
from factloop.trust.settings import SERVED, TrustSettings


@with_settings(TrustSettings, *SERVED, "kb", "dbpedia", "spotlight_url", "sparql_url")
@with_settings(CheckSettings, MODEL, SEARCH, CACHE, "timeout_s")
def doctor(
    controls: Annotated[
        bool,
        typer.Option(
            "--controls",
            help="Have the judge check twelve sentences whose truth is known, too: 3 calls and more.",
            rich_help_panel=MODEL.panel,
        ),
    ] = False,
    json: flags.Json = None,
    database: Annotated[
        str | None, typer.Option(metavar="URL", help="Database of factloop serve.", rich_help_panel=flags.SERVER)
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="Folder of factloop serve (default: in your data folder).", rich_help_panel=flags.SERVER),
    ] = None,
    **settings: Any,
) -> None:
    """Ask all that is configured one harmless question each, and say what works. Exits with 2 if anything does not."""
    from factloop.cli.doctor import run_doctor

    raise typer.Exit(run_doctor(settings, json, controls=controls, database=database, folder=folder))
