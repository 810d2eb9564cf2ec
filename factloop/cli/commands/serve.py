"""`factloop serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from factloop.cli import flags
from factloop.cli.setting_flags import with_settings
from factloop.setup.marks import CACHE, LIMITS, MODEL, PER_CHECK, SEARCH
from factloop.setup.settings import CheckSettings
from factloop.trust.settings import SERVED, TrustSettings


@with_settings(TrustSettings, *SERVED)
@with_settings(CheckSettings, MODEL, SEARCH, LIMITS, CACHE, PER_CHECK)
def serve(
    host: flags.Host = "127.0.0.1",
    port: flags.Port = 8000,
    documents: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PATH",
            help="Documents that callers may choose by name: file, folder or glob; repeatable.",
            rich_help_panel=flags.SERVER,
        ),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Reports (JSON) and run folders to look through.", rich_help_panel=flags.SERVER
        ),
    ] = None,
    api_key_file: flags.ApiKeyFile = None,
    database: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="sqlite:///FILE or postgresql+psycopg://... (default: in --folder).",
            rich_help_panel=flags.SERVER,
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Folder of jobs and the answers they paid for (default: in your data folder).",
            rich_help_panel=flags.SERVER,
        ),
    ] = None,
    max_jobs: Annotated[int, typer.Option(min=1, help="Jobs at work at a time.", rich_help_panel=flags.SERVER)] = 8,
    max_jobs_together: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Jobs at work at a time in all services of one database (default: --max-jobs of each).",
            rich_help_panel=flags.SERVER,
        ),
    ] = None,
    max_queued: Annotated[
        int, typer.Option(min=0, help="Jobs waiting for their turn.", rich_help_panel=flags.SERVER)
    ] = 100,
    budget_usd_per_day: Annotated[
        float | None,
        typer.Option(
            help="Dollars that all jobs of 24 hours may cost; needs --budget-usd, that of one job.",
            rich_help_panel=flags.SERVER,
        ),
    ] = None,
    max_calls_per_day: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Model calls of all jobs of 24 hours; needs --max-calls, those of one job.",
            rich_help_panel=flags.SERVER,
        ),
    ] = None,
    max_body_mb: Annotated[float, typer.Option(help="Megabytes of one request.", rich_help_panel=flags.SERVER)] = 8.0,
    rate: Annotated[
        str,
        typer.Option(
            metavar="N/PERIOD",
            help="Jobs that a caller may ask for; reading is allowed ten times as often.",
            rich_help_panel=flags.SERVER,
        ),
    ] = "60/minute",
    keep_days: Annotated[
        float | None,
        typer.Option(
            metavar="DAYS",
            help="Forget jobs that are over after so many days (default: never).",
            rich_help_panel=flags.SERVER,
        ),
    ] = None,
    public_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Address that a reverse proxy gives the service, with its path.",
            rich_help_panel=flags.SERVER,
        ),
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="Reverse proxy, or network of them, that says where requests come from; repeatable.",
            rich_help_panel=flags.SERVER,
        ),
    ] = None,
    **settings: Any,
) -> None:
    """Serve checks over HTTP, with a page to look at them. Limits on calls and cost are those of one job."""
    from factloop.cli.serve import ServeAsk, run_serve

    ask = ServeAsk(
        host=host,
        port=port,
        documents=tuple(documents or ()),
        results=results,
        api_key_file=api_key_file,
        database=database,
        folder=folder,
        max_jobs=max_jobs,
        max_jobs_together=max_jobs_together,
        max_queued=max_queued,
        budget_usd_per_day=budget_usd_per_day,
        max_calls_per_day=max_calls_per_day,
        max_body_mb=max_body_mb,
        rate=rate,
        keep_days=keep_days,
        public_url=public_url,
        trusted_proxies=tuple(trusted_proxy or ()),
    )
    raise typer.Exit(run_serve(ask, settings))
