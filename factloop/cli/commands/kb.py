"""`factloop kb build`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from factloop.cli import flags


def build(
    types: Annotated[
        list[Path], typer.Option(metavar="FILE", help="DBpedia's instance types, N-Triples or Turtle; repeatable.")
    ],
    labels: Annotated[list[Path], typer.Option(metavar="FILE", help="DBpedia's labels; repeatable.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The table to write.")],
    popularity: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Page links or ranks: the better known come first; repeatable."),
    ] = None,
    language: Annotated[str, typer.Option(help="Language of the labels.")] = "en",
    quiet: flags.Quiet = False,
) -> None:
    """Make a local table of typed entities from DBpedia's dumps."""
    from factloop.cli.kb import run_build

    raise typer.Exit(run_build(types, labels, popularity or [], out, language, quiet=quiet))
