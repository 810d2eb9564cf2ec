"""Settings of the service itself; those of checks and scores are `CheckSettings` and `TrustSettings`."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from factloop.core.errors import ConfigError
from factloop.entrance.address import Binding, in_brackets, is_loopback

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""The name of registered documents or results."""
MOST_JOBS = 1_000_000
MOST_IN_A_DAY = 1_000_000_000
"""Dollars or model calls: a database adds them up."""
MOST_MEGABYTES = 1_000_000
MOST_DAYS = 36_500
"""Days before today that the calendar of computers has."""


@dataclass(frozen=True, kw_only=True)
class ServiceSettings(Binding):
    """Settings of the operator. Raises ConfigError."""

    public_url: str | None = None
    """The address under which a reverse proxy shows the service, with its path if it has one."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses and networks whose word counts on where a request came from."""
    folder: Path | None = None
    """Folder of running jobs' journals, and of the database unless that has a URL; by default in the user's data."""
    database: str | None = None
    """SQLAlchemy's URL of a SQLite file or a PostgreSQL database."""
    documents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Files, folders and globs by the name that callers know them by."""
    results: Path | None = None
    """Folder with audits, experiments and runs to show."""
    max_jobs: int = 8
    """Jobs at work at a time in this service."""
    max_jobs_together: int | None = None
    """Jobs at work at a time in all services that share the database; None for no limit beside that of each."""
    max_queued: int = 100
    """Jobs that wait for their turn; another is refused. Services that share a database count them together."""
    budget_usd_per_day: float | None = None
    """Dollars that the jobs of 24 hours may cost together; a job is begun where the most it may cost is left."""
    max_calls_per_day: int | None = None
    """Model calls of the jobs of 24 hours, failed ones included."""
    lease_s: float = 10.0
    """Seconds after which the jobs of a service that died go on in another one, where they share a database."""
    keep_days: float | None = None
    """Days for which jobs that are over are kept; None keeps them until they are deleted."""
    max_body_mb: float = 8.0
    rate: str = "60/minute"
    """Jobs that one key, or one address without a key, may ask for. Reading is allowed ten times as often."""
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
        amounts: dict[str, tuple[float | None, int]] = {
            "max_jobs": (self.max_jobs, MOST_JOBS),
            "max_jobs_together": (self.max_jobs_together, MOST_JOBS),
            "budget_usd_per_day": (self.budget_usd_per_day, MOST_IN_A_DAY),
            "max_calls_per_day": (self.max_calls_per_day, MOST_IN_A_DAY),
            "max_body_mb": (self.max_body_mb, MOST_MEGABYTES),
            "keep_days": (self.keep_days, MOST_DAYS),
        }
        for flag, (value, most) in amounts.items():
            if value is not None and not 0 < value <= most:
                given = f"{value:g}" if isinstance(value, float) else value
                raise ConfigError(f"{flag} {given}: must be greater than 0, and {most:,} at most")
        self._refuse_wrong_proxy()

    def _refuse_wrong_proxy(self) -> None:
        for one in self.trusted_proxies:
            try:
                ipaddress.ip_network(one, strict=False)
            except ValueError as error:
                raise ConfigError(f"trusted_proxy {one}: give an address or a network, such as 10.0.0.0/8") from error
        if self.public_url is None:
            return
        try:
            parts = urlsplit(self.public_url)
            is_right = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            is_right = False
        if not is_right or parts.query or parts.fragment or parts.username is not None:
            raise ConfigError(f"public_url {self.public_url}: give https://HOST or https://HOST/PATH")
        if not self.keys and not is_loopback(self.public_host):
            raise ConfigError(
                f"public_url {self.public_url}: others could reach it, so give a key (--api-key-file or "
                "FACTLOOP_SERVICE_KEYS)"
            )

    @property
    def public_host(self) -> str:
        """The host of the public address, in lower case and IPv6 in brackets; empty without one."""
        return "" if self.public_url is None else in_brackets(urlsplit(self.public_url).hostname or "")

    @property
    def public_origin(self) -> str:
        """Scheme, host and port of the public address, as browsers send them; empty without one."""
        if self.public_url is None:
            return ""
        parts = urlsplit(self.public_url)
        usual = {"http": 80, "https": 443}[parts.scheme]
        port = "" if parts.port in (None, usual) else f":{parts.port}"
        return f"{parts.scheme}://{self.public_host}{port}"

    @property
    def public_path(self) -> str:
        """The path before all others, without a slash at its end; empty without one."""
        return "" if self.public_url is None else urlsplit(self.public_url).path.rstrip("/")
