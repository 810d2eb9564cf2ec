"""Flags of several commands that are not settings, each with its help and its panel."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SEARCH, LIMITS, OUTPUT, SERVER = "Search", "Limits", "Output", "Server"

DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print what it would cost; spend nothing.", rich_help_panel=LIMITS)
]
Json = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Report as JSON; - for standard output.", rich_help_panel=OUTPUT),
]
Html = Annotated[
    str | None, typer.Option("--html", metavar="FILE", help="Report as one HTML page.", rich_help_panel=OUTPUT)
]
RunDir = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER", help="Make the run resumable: the same command goes on there.", rich_help_panel=OUTPUT
    ),
]
Host = Annotated[
    str, typer.Option(help="Address to listen at. Any but this machine's own needs a key.", rich_help_panel=SERVER)
]
Port = Annotated[int, typer.Option(help="0 takes a free one.", rich_help_panel=SERVER)]
ApiKeyFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Keys of callers, one in a line; or in FACTLOOP_SERVICE_KEYS, apart by commas.",
        rich_help_panel=SERVER,
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress, no report on the terminal.", rich_help_panel=OUTPUT)
]
