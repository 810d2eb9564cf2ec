"""`factloop data`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from factloop.cli import flags

Into = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER", help="Folder of data sets (default FACTLOOP_DATA_DIR, else the user's folder for data)."
    ),
]


def list_(into: Into = None, json: flags.Json = None) -> None:
    """Show the data sets: their parts and licences, and which are there."""
    from factloop.cli.data import run_list

    raise typer.Exit(run_list(into, json))


def join(
    claims: Annotated[str, typer.Argument(metavar="CLAIMS", help="LLM-AggreFact: a file, or a folder of files.")],
    upstream: Annotated[
        list[str],
        typer.Option(
            metavar="KIND=PATH",
            help="Responses that claims are from: ragtruth, tofueval-mediasum, tofueval-meetingbank, expertqa, "
            "aggrefact, reveal, or responses for any other; repeatable.",
        ),
    ],
    out: Annotated[
        str, typer.Option(metavar="FILE", help="Claims with system, response, prompt and task, for verify.")
    ],
    json: flags.Json = None,
    quiet: flags.Quiet = False,
) -> None:
    """Find the responses that LLM-AggreFact's claims are from, by text, and say how many were found."""
    from factloop.cli.data_join import JoinAsk, run_join

    raise typer.Exit(run_join(JoinAsk(claims, tuple(upstream), out, json, quiet=quiet)))


def get(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Names in factloop data list.")],
    part: Annotated[
        list[str] | None, typer.Option(metavar="PART", help="Only this part of the data set; repeatable.")
    ] = None,
    into: Into = None,
    from_dir: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Copy from there, and download nothing: the published files, or our own."),
    ] = None,
    json: flags.Json = None,
    quiet: flags.Quiet = False,
) -> None:
    """Download data sets from where they are published, and compare checksums."""
    from factloop.cli.data import GetAsk, run_get

    raise typer.Exit(run_get(GetAsk(tuple(names), tuple(part or ()), into, from_dir, json, quiet=quiet)))
