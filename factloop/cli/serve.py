"""`factloop serve`: reads flags, and runs a service until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factloop.cli.exits import DONE, messages_console
from factloop.cli.servers import server_settings
from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.entrance.keys import read_keys

if TYPE_CHECKING:
    from factloop.service.settings import ServiceSettings


@dataclass(frozen=True)
class ServeAsk:
    """Arguments of the command, beside the settings of checks and scores."""

    host: str
    port: int
    documents: tuple[str, ...]
    results: Path | None
    api_key_file: Path | None
    database: str | None
    folder: Path | None
    max_jobs: int
    max_jobs_together: int | None
    max_queued: int
    budget_usd_per_day: float | None
    max_calls_per_day: int | None
    max_body_mb: float
    rate: str
    keep_days: float | None
    public_url: str | None
    trusted_proxies: tuple[str, ...]


def run_serve(ask: ServeAsk, flags: Mapping[str, Any]) -> int:
    """Serves until the process is told to stop. Raises FactloopError for a wrong set-up, before anything is open."""
    require("serve", "the service")
    from factloop.service.app import build_app
    from factloop.service.server import serve

    messages = messages_console()
    app = build_app(_service(ask, os.environ), *server_settings(flags))
    logging.basicConfig(format="factloop: %(message)s", level=logging.WARNING)
    asyncio.run(
        serve(
            app, ready=lambda address: messages.print(f"factloop: serving at {address} (Ctrl-C stops)", soft_wrap=True)
        )
    )
    messages.print(
        "factloop: stopped. Jobs that were under way go on at the next start, or in another service.", soft_wrap=True
    )
    return DONE


def _service(ask: ServeAsk, environment: Mapping[str, str]) -> ServiceSettings:
    from factloop.service.settings import ServiceSettings

    return ServiceSettings(
        host=ask.host,
        port=ask.port,
        folder=ask.folder,
        database=ask.database,
        documents=named_documents(ask.documents),
        results=ask.results,
        keys=read_keys(ask.api_key_file, environment),
        max_jobs=ask.max_jobs,
        max_jobs_together=ask.max_jobs_together,
        max_queued=ask.max_queued,
        budget_usd_per_day=ask.budget_usd_per_day,
        max_calls_per_day=ask.max_calls_per_day,
        max_body_mb=ask.max_body_mb,
        rate=ask.rate,
        keep_days=ask.keep_days,
        public_url=ask.public_url,
        trusted_proxies=ask.trusted_proxies,
    )


def named_documents(given: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The paths of each name; one that is given twice has both. Raises ConfigError for anything but NAME=PATH."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for one in given:
        name, sign, path = one.partition("=")
        if not sign or not path:
            raise ConfigError(f"--documents {one}: give NAME=PATH")
        found[name].append(path)
    return {name: tuple(paths) for name, paths in found.items()}
