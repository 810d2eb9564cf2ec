"""`factloop mcp` serves checks over MCP until the client disconnects or the process is stopped."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from factloop.cli.console import DONE, INTERRUPTED, note
from factloop.cli.options import Arguments, Flags, command, taking
from factloop.cli.outputs import leave_now
from factloop.cli.preparing import server_settings
from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.entrance.serving import SERVER
from factloop.entrance.work_loop import FairLoop
from factloop.reports.visible import VisibleLines
from factloop.setup.marks import CACHE, LIMITS, MODEL, PER_CHECK, SEARCH, Mark
from factloop.setup.settings import CheckSettings
from factloop.trust.settings import SERVED, TrustSettings

if TYPE_CHECKING:
    from factloop.checking.checker import FactChecker
    from factloop.trust.scorer import TrustScorer

LEFT_AFTER_S = 10.0  # after a signal to stop, the process ends within this many seconds, even if threads are running


class Mcp(Arguments):
    transport: Annotated[Literal["stdio", "http"], Mark(SERVER)] = "stdio"
    """Use standard input and output (stdio), or streamable HTTP at /mcp with --host, --port and API keys (http)."""
    host: Annotated[str, Mark(SERVER)] = "127.0.0.1"
    """Address to listen on. Any address other than localhost requires an API key."""
    port: Annotated[int, Mark(SERVER)] = 8765
    """Port to listen on (0 for any free port)."""
    api_key_file: Annotated[Path | None, Mark(SERVER, "FILE")] = None
    """File of callers' API keys, one per line. The file is read again when it changes. Alternatively, set the
    FACTLOOP_SERVICE_KEYS environment variable to a comma-separated list."""


@command(taking(CheckSettings, MODEL, SEARCH, LIMITS, CACHE, PER_CHECK), taking(TrustSettings, *SERVED))
def mcp(given: Mcp, flags: Flags) -> int:
    """Raises FactloopError if the setup is invalid. With `stdio`, prints only protocol messages."""
    require("mcp", "the MCP server")
    if given.transport == "stdio" and given != Mcp():
        raise ConfigError("--host, --port and --api-key-file need --transport http")
    check, trust = server_settings(flags)
    handler = logging.StreamHandler()
    handler.setFormatter(VisibleLines("factloop: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    with asyncio.Runner(loop_factory=None if given.transport == "stdio" else FairLoop) as runner:
        runner.run(_serve(given, check, trust))
    return DONE


async def _serve(given: Mcp, check: CheckSettings, trust: TrustSettings) -> None:
    from factloop.checking.checker import FactChecker
    from factloop.entrance.documents import hiding_checker, open_corpus
    from factloop.integrations.mcp.server import build_server, serve_stdio
    from factloop.setup.session import budget_of
    from factloop.trust.scorer import TrustScorer

    budget, is_local = budget_of(check), given.transport == "stdio"
    make = FactChecker if is_local else hiding_checker
    corpus = None if is_local else await asyncio.to_thread(open_corpus, trust)
    async with (
        await asyncio.to_thread(make, settings=check, budget=budget) as checker,
        TrustScorer(settings=trust, corpus=corpus or (), pace=checker.pace, budget=budget) as scorer,
    ):
        server = build_server(checker, scorer, is_local=is_local)
        if not is_local:
            await _serve_http(given, checker, scorer, server)
            return
        await _open(checker, scorer)
        # asyncio would wait for a thread that is waiting for input
        signal.signal(signal.SIGINT, lambda *_: leave_now(INTERRUPTED))
        await serve_stdio(server)


async def _serve_http(given: Mcp, checker: FactChecker, scorer: TrustScorer, server: Any) -> None:
    from factloop.entrance.address import Binding
    from factloop.entrance.keys import read_keys
    from factloop.integrations.mcp.http import serve_http

    binding = Binding(host=given.host, port=given.port, keys=read_keys(given.api_key_file, os.environ))
    await _open(checker, scorer)
    stopping = threading.Timer(LEFT_AFTER_S, leave_now, (INTERRUPTED,))
    stopping.daemon = True
    await serve_http(
        server, binding, ready=lambda address: note(f"serving MCP at {address} (Ctrl-C stops)"), stopping=stopping.start
    )


async def _open(checker: FactChecker, scorer: TrustScorer) -> None:
    """Opens the checker and the scorer now, to find errors in the setup early. Raises ConfigError and DataError."""
    from factloop.setup.sources import Sources

    await checker.acheck("", spans=[], sources=None if checker.has_sources else Sources())
    if scorer.settings.subject_model is not None or scorer.settings.corpus:
        await scorer.aopen()
