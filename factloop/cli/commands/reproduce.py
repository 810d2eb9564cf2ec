"""`factloop reproduce`."""

from __future__ import annotations

from typing import Annotated

import typer

from factloop.cli import flags
from factloop.core.extras import require


def reproduce(
    entry: Annotated[
        str,
        typer.Argument(metavar="ENTRY", help="What to reproduce, such as vwc:table-21; list for all there is."),
    ],
    data: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Folder of labelled data, or the one file; without it, where factloop data get put them.",
        ),
    ] = None,
    results: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Output of the command that the entry names: for what models answer. Repeatable for tables over "
            "several runs, which may be named by their directories.",
        ),
    ] = None,
    evaluator: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PAPER=OURS", help="The paper's name of an evaluator, and that in the results; repeatable."
        ),
    ] = None,
    dry_run: flags.DryRun = False,
    price_in: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            metavar="USD",
            help="Price of a million prompt tokens, for --dry-run.",
            rich_help_panel=flags.LIMITS,
        ),
    ] = None,
    json: flags.Json = None,
    html: flags.Html = None,
    csv: Annotated[
        str | None,
        typer.Option(
            "--csv", metavar="FILE", help="Table as CSV; - for standard output.", rich_help_panel=flags.OUTPUT
        ),
    ] = None,
    quiet: flags.Quiet = False,
) -> None:
    """Reproduce a table or figure of the papers: theirs beside ours, or list what there is."""
    require("evaluation", "factloop reproduce")
    require("trust", "factloop reproduce")
    from factloop.cli.reproduce import ReproduceAsk, run_reproduce

    ask = ReproduceAsk(
        entry=entry,
        data=data,
        results=tuple(results or ()),
        evaluators=tuple(evaluator or ()),
        price_in=price_in,
        json=json,
        html=html,
        csv=csv,
        dry_run=dry_run,
        quiet=quiet,
    )
    raise typer.Exit(run_reproduce(ask))
