"""`factloop serve` runs the service until it is stopped."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable

from factloop.cli.console import DONE, note
from factloop.cli.options import Arguments, Flags, command, taking
from factloop.cli.preparing import server_settings
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
    """Runs until the process is stopped. Raises FactloopError if the setup is invalid, before opening anything."""
    require("serve", "the service")
    from factloop.service.app import build_app, in_words
    from factloop.service.app import serve as run_service
    from factloop.service.logs import log_to_stderr
    from factloop.service.settings import ServiceSettings

    own = {name: value for name, value in flags.items() if name in ServeSettings.model_fields}
    settings = load_settings(ServeSettings, own)
    service = ServiceSettings(**dict(settings), keys=read_keys(settings.api_key_file, os.environ))
    app = build_app(service, *server_settings(flags))
    log_to_stderr(service.log_format, service.log_level)
    say: Callable[[str], None] = note if service.log_format == "text" else logging.getLogger(__name__).info

    def ready(address: str) -> None:
        say(f"serving at {address} (Ctrl-C stops)")
        say(in_words(app))

    asyncio.run(run_service(app, ready=ready))
    say("stopped")
    return DONE
