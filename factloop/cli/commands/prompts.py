"""`factloop prompts`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from factloop.cli import flags

Name = Annotated[str, typer.Argument(metavar="NAME", help="A name in factloop prompts list.")]
Folder = Annotated[
    Path | None,
    typer.Option("--prompts", metavar="FOLDER", help="Prompts that replace packaged ones, as in a run."),
]
Side = Annotated[str, typer.Argument(help="Name of a packaged prompt, prompt file, or folder of prompts.")]


def list_(prompts: Folder = None, json: flags.Json = None) -> None:
    """Show the prompts: versions, variables, schemas of the replies, hashes, and which a folder replaces."""
    from factloop.cli.prompts import run_list

    raise typer.Exit(run_list(prompts, json))


def show(
    name: Name,
    prompts: Folder = None,
    rendered: Annotated[
        bool,
        typer.Option("--rendered", help="Show what a model is sent, with each variable's name in place of its data."),
    ] = False,
    json: flags.Json = None,
) -> None:
    """Show the text of a prompt."""
    from factloop.cli.prompts import run_show

    raise typer.Exit(run_show(name, prompts, json, rendered=rendered))


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the variant, and of its folder.")],
    source: Annotated[
        str, typer.Option("--from", metavar="SOURCE", help="Name of a packaged prompt, or a variant's file.")
    ],
    to: Annotated[
        Path, typer.Option("--to", metavar="FOLDER", help="Folder of variants; the new one goes into FOLDER/NAME.")
    ],
    json: flags.Json = None,
) -> None:
    """Start a variant of a prompt: a copy to edit, with a version of its own. Overwrites nothing."""
    from factloop.cli.prompts import run_new

    raise typer.Exit(run_new(name, source, to, json))


def diff(a: Side, b: Side, json: flags.Json = None) -> None:
    """Show how prompts differ: text, front matter, and whether a run takes them for one."""
    from factloop.cli.prompts import run_diff

    raise typer.Exit(run_diff(a, b, json))


def lint(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FOLDER|FILE]...", help="Default: the folder of the settings, else the packaged ones."),
    ] = None,
    json: flags.Json = None,
) -> None:
    """Find what would stop a run that uses these prompts, or quietly hurt it. Exits with 1 if there is any."""
    from factloop.cli.prompts import run_lint

    raise typer.Exit(run_lint(tuple(paths or ()), json))
