"""`factloop mcp`: reads flags, and serves until its client leaves, or the process is told to stop."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Literal

from factloop.checking.checker import FactChecker
from factloop.cli.exits import DONE, INTERRUPTED, messages_console
from factloop.cli.outputs import leave_now
from factloop.cli.servers import server_settings
from factloop.core.extras import require
from factloop.entrance.address import Binding
from factloop.entrance.documents import hiding_checker, open_corpus
from factloop.entrance.keys import read_keys
from factloop.setup.session import budget_of
from factloop.setup.settings import CheckSettings
from factloop.setup.sources import Sources
from factloop.trust.scorer import TrustScorer
from factloop.trust.settings import TrustSettings


@dataclass(frozen=True)
class McpAsk:
    """Arguments of the command, beside the settings of checks and scores."""

    transport: Literal["stdio", "http"]
    host: str
    port: int
    api_key_file: Path | None


def run_mcp(ask: McpAsk, flags: Mapping[str, Any]) -> int:
    """Serves; returns the exit code. Raises FactloopError for a wrong set-up, before anything is open.

    Over standard input and output nothing but the protocol is written there; it ends with its input.
    """
    require("mcp", "the MCP server")
    check, trust = server_settings(flags)
    logging.basicConfig(format="factloop: %(message)s", level=logging.WARNING)
    asyncio.run(_serve(ask, check, trust))
    return DONE


async def _serve(ask: McpAsk, check: CheckSettings, trust: TrustSettings) -> None:
    from factloop.integrations.mcp.server import build_server

    budget, is_local = budget_of(check), ask.transport == "stdio"
    make = FactChecker if is_local else hiding_checker
    corpus = None if is_local else await asyncio.to_thread(open_corpus, trust)
    async with (
        await asyncio.to_thread(make, settings=check, budget=budget) as checker,
        TrustScorer(settings=trust, corpus=corpus or (), pace=checker.pace, budget=budget) as scorer,
    ):
        server = build_server(checker, scorer, is_local=is_local)
        if not is_local:
            await _serve_http(ask, checker, scorer, server)
            return
        await _open(checker, scorer)
        signal.signal(signal.SIGINT, _leave)  # a thread waits for input, and asyncio would wait for that
        await server.run_stdio_async()


async def _serve_http(ask: McpAsk, checker: FactChecker, scorer: TrustScorer, server: Any) -> None:
    from factloop.integrations.mcp.http import serve_http

    keys = read_keys(ask.api_key_file, os.environ)
    binding = Binding(host=ask.host, port=ask.port, keys=keys)
    await _open(checker, scorer)
    messages = messages_console()
    await serve_http(
        server,
        binding,
        ready=lambda address: messages.print(f"factloop: serving MCP at {address} (Ctrl-C stops)", soft_wrap=True),
    )


async def _open(checker: FactChecker, scorer: TrustScorer) -> None:
    """Opens checker and scorer, so that a wrong set-up shows before an agent asks. Raises ConfigError, DataError."""
    await checker.acheck("", spans=[], sources=None if checker.has_sources else Sources())
    if scorer.settings.subject_model is not None or scorer.settings.corpus:
        await scorer.aopen()


def _leave(_number: int, _frame: FrameType | None) -> None:
    leave_now(INTERRUPTED)
