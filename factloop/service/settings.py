"""Settings of the service itself; those of checks and scores are `CheckSettings` and `TrustSettings`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from factloop.core.errors import ConfigError
from factloop.entrance.address import Binding

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""The name of registered documents or results."""


@dataclass(frozen=True, kw_only=True)
class ServiceSettings(Binding):
    """Settings of the operator. Raises ConfigError."""

    folder: Path | None = None
    """Folder of running jobs' journals, and of the database unless that has a URL; by default in the user's data."""
    database: str | None = None
    """SQLAlchemy's URL of a SQLite file or a PostgreSQL database."""
    documents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Files, folders and globs by the name that callers know them by."""
    results: Path | None = None
    """Folder with audits, experiments and runs to show."""
    max_jobs: int = 8
    """Jobs at work at a time."""
    max_queued: int = 100
    """Jobs that wait for their turn; another is refused."""
    max_body_mb: float = 8.0
    rate: str = "60/minute"
    """Jobs that one key, or one address without a key, may ask for or delete. Reading is allowed ten times as often."""
    body_timeout_s: float = 20.0
    """Seconds in which a request must have come in whole."""
    header_timeout_s: float = 10.0
    """Seconds in which a new connection must have sent the headers of its first request."""
    heartbeat_s: float = 15.0
    """Seconds between the comments that keep an idle stream of events open."""
    stop_timeout_s: float = 10.0
    """Seconds for answers under way when the service is stopped."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, paths in self.documents.items():
            if not NAME.fullmatch(name) or not paths:
                raise ConfigError(f"--documents {name}: give NAME=PATH, the name of letters, digits, '.', '_' and '-'")
        for flag, value in (("--max-jobs", self.max_jobs), ("--max-body-mb", self.max_body_mb)):
            if not value > 0:
                raise ConfigError(f"{flag} {value:g}: must be greater than 0")
