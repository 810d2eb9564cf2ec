"""Settings of `factloop serve` itself, beside those of its checks and scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from factloop.setup.marks import Group, Mark
from factloop.setup.settings import Names, Number

SERVER = Group("server", "Server")
Jobs = Annotated[int, Field(ge=1, le=1_000_000)]
Dollars = Annotated[float, Field(gt=0, le=1_000_000_000)]
Calls = Annotated[int, Field(ge=1, le=1_000_000_000)]
"""A database adds dollars and calls up."""
Megabytes = Annotated[float, Field(gt=0, le=1_000_000)]
Days = Annotated[float, Field(gt=0, le=36_500)]
"""The calendar of computers has so many before today."""


class ServeSettings(BaseModel):
    """Settings of the service. Those that are not for the command line are set in the environment or the file."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    host: Annotated[str, Mark(SERVER)] = "127.0.0.1"
    """Address to listen on. Addresses other than localhost require a key."""
    port: Annotated[int, Mark(SERVER)] = 8000
    """Port to listen on; 0 picks a free one."""
    documents: Annotated[Names, Mark(SERVER, "NAME=PATH")] = ()
    """Documents that callers can select by name: file, folder or glob."""
    results: Annotated[Path | None, Mark(SERVER, "FOLDER")] = None
    """Folder of JSON reports and runs to show on the page."""
    api_key_file: Annotated[Path | None, Mark(SERVER, "FILE")] = None
    """API keys of callers, one per line. Alternative: FACTLOOP_SERVICE_KEYS, separated by commas."""
    database: Annotated[str | None, Mark(SERVER, "URL")] = None
    """Database for jobs: sqlite:///FILE or postgresql+psycopg://... Default: a file in --folder."""
    folder: Annotated[Path | None, Mark(SERVER)] = None
    """Folder for jobs and cached replies. Default: in your data folder."""
    max_jobs: Jobs = 8
    """Number of jobs that run at the same time."""
    max_jobs_together: Jobs | None = None
    """Number of jobs that run at the same time in all services of one database."""
    max_queued: Number = 100
    """Number of jobs that can wait in the queue."""
    max_share: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Share of the running and of the waiting jobs that one key can have, where there are several keys."""
    budget_usd_per_day: Dollars | None = None
    """Cost limit in USD for all jobs in 24 hours; needs `budget_usd`, the limit of one job."""
    max_calls_per_day: Calls | None = None
    """Limit of model calls for all jobs in 24 hours; needs `max_calls`, the limit of one job."""
    max_body_mb: Megabytes = 8.0
    """Largest request in megabytes."""
    rate: str = "60/minute"
    """Rate limit of new jobs for each caller; reading is allowed ten times as often."""
    keep_days: Days | None = None
    """Delete finished jobs after this many days. By default they are kept."""
    public_url: str | None = None
    """Public address of the service behind a reverse proxy, with its path."""
    trusted_proxy: Names = ()
    """Reverse proxies, or networks of proxies, to trust for callers' addresses."""


def default_folder() -> Path:
    """The service's folder in the user's data."""
    import platformdirs

    return Path(platformdirs.user_data_dir("factloop", appauthor=False)) / "service"
