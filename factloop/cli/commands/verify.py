"""`factloop verify`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from factloop.cli import flags
from factloop.cli.missing import refuse_missing_data
from factloop.cli.setting_flags import settings_given, with_settings
from factloop.evaluation.verification.settings import VerifySettings
from factloop.setup.marks import LIMITS, MODEL

INPUT = "Input"

KINDS = (
    "lexical, nli:PATH, minicheck-flan-t5:PATH, minicheck-roberta:PATH, alignscore:PATH, factkb:PATH, "
    "llm:PROVIDER:NAME or bespoke:NAME; repeatable. A PATH may be the name of weights on the hub."
)


@with_settings(VerifySettings, MODEL, LIMITS)
def verify(
    verifier: Annotated[list[str], typer.Option(metavar="NAME", help=KINDS)],
    out: Annotated[
        str, typer.Option(metavar="FILE", help="Predictions as JSON Lines; the same command goes on there.")
    ],
    pairs: Annotated[
        str | None,
        typer.Argument(
            metavar="PAIRS", help="JSON Lines, CSV or Parquet with claim, document and, for an audit, label; or -."
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(metavar="NAME:PART", help="A labelled data set, such as wice:dev.", rich_help_panel=INPUT),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="File or folder of the data set, if data get did not put it there.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    documents: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Documents of a data set that has none, such as tofueval: rows with id and document.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD=COLUMN", help="Column of a field in the file; repeatable.", rich_help_panel=INPUT),
    ] = None,
    constant: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD=VALUE", help="Value of a field in every row; repeatable.", rich_help_panel=INPUT),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT=0|1", help="Value of a label in the file; repeatable.", rich_help_panel=INPUT),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="The first so many pairs only.", rich_help_panel=INPUT)
    ] = None,
    chunk_words: Annotated[
        list[int] | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Also score documents in chunks of so many words, under NAME@N for the audit; repeatable.",
        ),
    ] = None,
    download: Annotated[
        bool, typer.Option("--download/--no-download", help="Fetch weights that are named by a hub name.")
    ] = False,
    json: Annotated[
        str | None,
        typer.Option(
            "--json", metavar="FILE", help="Summary as JSON; - for standard output.", rich_help_panel=flags.OUTPUT
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 3 if some pair has no score.", rich_help_panel=flags.OUTPUT)
    ] = False,
    quiet: flags.Quiet = False,
    **settings: Any,
) -> None:
    """Score claims by their documents with several verifiers: what an audit of them reads."""
    refuse_missing_data(pairs)
    from factloop.cli.verify import VerifyAsk, run_verify

    ask = VerifyAsk(
        pairs, dataset, data, documents, tuple(verifier), out, tuple(chunk_words or ()), tuple(column or ()),
        tuple(constant or ()), tuple(label or ()), limit, download=download, json=json, strict=strict, quiet=quiet,
    )  # fmt: skip
    raise typer.Exit(run_verify(ask, settings_given(VerifySettings, settings)))
