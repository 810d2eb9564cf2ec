"""The settings of `factloop serve` itself, apart from those for checks and TrustScores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field

from factloop.setup.marks import Group, Mark
from factloop.setup.settings import Names, Number

SERVER = Group("server", "Server")
Jobs = Annotated[int, Field(ge=1, le=1_000_000)]
Dollars = Annotated[float, Field(gt=0, le=1_000_000_000)]
Calls = Annotated[int, Field(ge=1, le=1_000_000_000)]
"""Dollars and calls are limited so that the database can add them up."""
Megabytes = Annotated[float, Field(gt=0, le=1_000_000)]
LogFormat = Literal["text", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]
Days = Annotated[float, Field(gt=0, le=36_500)]
"""Days are limited because `datetime` cannot represent much earlier dates."""


class ServeSettings(BaseModel):
    """Settings of the service. If a setting has no flag, set it in the environment or in the settings file."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    host: Annotated[str, Mark(SERVER)] = "127.0.0.1"
    """Address to listen on. Any address other than localhost requires an API key."""
    port: Annotated[int, Mark(SERVER)] = 8000
    """Port to listen on (0 for any free port)."""
    documents: Annotated[Names, Mark(SERVER, "NAME=PATH")] = ()
    """Documents that callers can select by NAME. PATH is a file, folder or glob pattern, and is read at startup."""
    results: Annotated[Path | None, Mark(SERVER, "FOLDER")] = None
    """Folder of JSON reports and runs to show on the web page."""
    api_key_file: Annotated[Path | None, Mark(SERVER, "FILE")] = None
    """File of callers' API keys, one per line. The file is read again when it changes. Alternatively, set the
    FACTLOOP_SERVICE_KEYS environment variable to a comma-separated list."""
    database: Annotated[str | None, Mark(SERVER, "URL")] = None
    """Database for jobs: sqlite:///FILE or postgresql+psycopg://... Default: a file in --folder."""
    folder: Annotated[Path | None, Mark(SERVER)] = None
    """Folder for jobs and cached replies. Default: a folder in your user data directory."""
    max_jobs: Jobs = 8
    """Maximum number of concurrent jobs."""
    max_jobs_together: Jobs | None = None
    """Maximum number of concurrent jobs in all services that share a database."""
    max_queued: Number = 100
    """Maximum number of jobs in the queue."""
    max_share: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Maximum fraction of `max_jobs` and of `max_queued` for each caller, if there are several keys."""
    budget_usd_per_day: Dollars | None = None
    """Cost limit in USD for all jobs in any 24 hours. Unless `budget_usd` is set, each job may use a tenth of it."""
    max_calls_per_day: Calls | None = None
    """Maximum model calls for all jobs in any 24 hours. Unless `max_calls` is set, each job may use a tenth of them."""
    max_body_mb: Megabytes = 8.0
    """Maximum size of a request in megabytes."""
    max_kept_mb: Megabytes = 5_000.0
    """Maximum space in megabytes that each caller's jobs may take up, with their reports. Deleting jobs frees it."""
    rate: str = "60/minute"
    """Rate limit on each caller's new jobs. The limit on read-only requests is ten times as high."""
    keep_days: Days | None = None
    """Delete finished jobs after this many days. By default, jobs are never deleted."""
    public_url: str | None = None
    """Public URL of the service behind a reverse proxy, including its path."""
    log_format: Annotated[LogFormat, Mark(SERVER)] = "text"
    """Format of log lines on standard error."""
    log_level: Annotated[LogLevel, Mark(SERVER)] = "info"
    """Minimum level of log messages. With info, every request is logged."""
    trusted_proxy: Names = ()
    """Address or network of a reverse proxy that you trust to report callers' addresses."""

    @property
    def place(self) -> Path:
        return self.folder or default_folder()

    @property
    def database_url(self) -> str:
        """The URL of the database, which is a file in the folder by default."""
        return self.database or sqlite_url(self.place / "jobs.sqlite")


def sqlite_url(path: Path) -> str:
    return f"sqlite:///{quote(str(path), safe='/')}"


def default_folder() -> Path:
    import platformdirs

    return Path(platformdirs.user_data_dir("factloop", appauthor=False)) / "service"
