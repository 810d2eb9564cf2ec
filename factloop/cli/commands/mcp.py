"""`factloop mcp`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from factloop.cli import flags
from factloop.cli.flag_groups import CheckFlags, CheckLimitFlags, LimitFlags, ScoreFlags, with_flags


@with_flags(CheckFlags, ScoreFlags, LimitFlags, CheckLimitFlags)
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
