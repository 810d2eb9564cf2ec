"""The commands, put together."""

from __future__ import annotations

from typing import Annotated

import typer

import factloop
from factloop.cli.commands import check, distractors, kb, mixedqa, trust

app = typer.Typer(
    name="factloop",
    help="Which claims of a long answer hold, on what evidence, and how far to trust the number.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"factloop {factloop.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def _group(name: str, about: str) -> typer.Typer:
    group = typer.Typer(help=about, no_args_is_help=True)
    app.add_typer(group, name=name)
    return group


app.command()(check.check)
app.command()(trust.trust)
app.command()(distractors.distractors)
eval_group = _group("eval", "Score a data set and compare with its labels.")
eval_group.command()(mixedqa.mixedqa)
kb_group = _group("kb", "Local tables of typed entities, for distractors.")
kb_group.command()(kb.build)
