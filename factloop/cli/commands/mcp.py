"""`factloop mcp`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from factloop.cli.commands.serve import ScoreFlags
from factloop.cli.flag_groups import CheckFlags, LimitFlags, with_flags

_SERVER = "Server"


@with_flags(CheckFlags, ScoreFlags, LimitFlags)
def mcp(
    transport: Annotated[
        Literal["stdio", "http"],
        typer.Option(help="Standard input and output, or streamable HTTP at /mcp.", rich_help_panel=_SERVER),
    ] = "stdio",
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen at, over HTTP. Any but this machine's own needs a key.", rich_help_panel=_SERVER
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 takes a free one.", rich_help_panel=_SERVER)] = 8765,
    api_key_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keys of callers over HTTP, one in a line; or in FACTLOOP_SERVICE_KEYS, apart by commas.",
            rich_help_panel=_SERVER,
        ),
    ] = None,
    **settings: Any,
) -> None:
    """Serve checks to agents over the Model Context Protocol. Limits on calls and cost are those of the whole run."""
    from factloop.cli.mcp import McpAsk, run_mcp

    raise typer.Exit(run_mcp(McpAsk(transport, host, port, api_key_file), settings))
