"""`factloop mcp`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from factloop.cli import flags
from factloop.cli.setting_flags import with_settings
from factloop.setup.marks import CACHE, LIMITS, MODEL, PER_CHECK, SEARCH
from factloop.setup.settings import CheckSettings
from factloop.trust.settings import SERVED, TrustSettings


@with_settings(TrustSettings, *SERVED)
@with_settings(CheckSettings, MODEL, SEARCH, LIMITS, CACHE, PER_CHECK)
def mcp(
    transport: Annotated[
        Literal["stdio", "http"],
        typer.Option(
            help="Standard input and output, or streamable HTTP at /mcp; host, port and keys are HTTP's.",
            rich_help_panel=flags.SERVER,
        ),
    ] = "stdio",
    host: flags.Host = "127.0.0.1",
    port: flags.Port = 8765,
    api_key_file: flags.ApiKeyFile = None,
    **settings: Any,
) -> None:
    """Serve checks to agents over the Model Context Protocol. Limits on calls and cost are those of the whole run."""
    from factloop.cli.mcp import McpAsk, run_mcp

    raise typer.Exit(run_mcp(McpAsk(transport, host, port, api_key_file), settings))
