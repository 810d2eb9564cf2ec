"""`factloop serve`: runs a service until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import defaultdict
from collections.abc import Sequence

from factloop.cli.console import DONE, note
from factloop.cli.options import Arguments, Flags, command, taking
from factloop.cli.preparing import server_settings
from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.entrance.keys import read_keys
from factloop.entrance.serving import SERVER, ServeSettings
from factloop.entrance.settings_sources import load_settings
from factloop.setup.marks import CACHE, LIMITS, MODEL, PER_CHECK, SEARCH
from factloop.setup.settings import CheckSettings
from factloop.trust.settings import SERVED, TrustSettings


@command(
    taking(ServeSettings, SERVER),
    taking(CheckSettings, MODEL, SEARCH, LIMITS, CACHE, PER_CHECK),
    taking(TrustSettings, *SERVED),
)
def serve(_: Arguments, flags: Flags) -> int:
    """Serves until the process is told to stop. Raises FactloopError for a wrong set-up, before anything is open."""
    require("serve", "the service")
    from factloop.service.app import build_app
    from factloop.service.app import serve as run_service
    from factloop.service.settings import ServiceSettings

    own = {name: value for name, value in flags.items() if name in ServeSettings.model_fields}
    settings = load_settings(ServeSettings, own)
    service = ServiceSettings(
        **{name: value for name, value in settings if name not in ("api_key_file", "documents", "trusted_proxy")},
        documents=named_documents(settings.documents),
        keys=read_keys(settings.api_key_file, os.environ),
        trusted_proxies=settings.trusted_proxy,
    )
    app = build_app(service, *server_settings(flags))
    logging.basicConfig(format="factloop: %(message)s", level=logging.WARNING)
    asyncio.run(run_service(app, ready=lambda address: note(f"serving at {address} (Ctrl-C stops)")))
    note("stopped. Unfinished jobs continue at the next start, or in another service.")
    return DONE


def named_documents(given: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The paths of each name; one that is given twice has both. Raises ConfigError for anything but NAME=PATH."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for one in given:
        name, sign, path = one.partition("=")
        if not sign or not path:
            raise ConfigError(f"--documents {one}: give NAME=PATH")
        found[name].append(path)
    return {name: tuple(paths) for name, paths in found.items()}
