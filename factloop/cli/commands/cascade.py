"""`factloop cascade tune`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from factloop.cli import flags
from factloop.cli.setting_flags import with_settings
from factloop.core.extras import require
from factloop.setup.settings import RunSettings

_KINDS = (
    "lexical, nli:PATH, minicheck-flan-t5:PATH, minicheck-roberta:PATH, alignscore:PATH or factkb:PATH. "
    "A PATH may be the name of weights on the hub."
)


@with_settings(RunSettings, "embeddings")
def tune(
    labelled: Annotated[
        str,
        typer.Argument(
            metavar="LABELLED",
            help="JSON Lines, CSV or Parquet with claim, document (or passages) and label; or what verify wrote; or -.",
        ),
    ],
    out: Annotated[str, typer.Option(metavar="FILE", help="The cascade, for --cascade.")],
    verifier: Annotated[str, typer.Option(metavar="NAME", help=_KINDS)] = "lexical",
    max_error: Annotated[
        float, typer.Option(metavar="SHARE", help="Largest share of errors among the claims that it settles.")
    ] = 0.05,
    error: Annotated[
        Literal["balanced", "false_support", "false_reject"],
        typer.Option(help="Accept and reject cheaply, or only accept, or only reject."),
    ] = "balanced",
    confidence: Annotated[float, typer.Option(metavar="SHARE", help="Confidence with which that share holds.")] = 0.95,
    download: Annotated[
        bool, typer.Option("--download/--no-download", help="Fetch weights that are named by a hub name.")
    ] = False,
    json: flags.Json = None,
    html: flags.Html = None,
    quiet: flags.Quiet = False,
    **settings: Any,
) -> None:
    """Tune the thresholds of a cascade on labelled claims."""
    require("evaluation", "factloop cascade tune")
    from factloop.checking.cascade.records import ErrorKind
    from factloop.cli.cascade import TuneAsk, run_tune
    from factloop.evaluation.cascades.tuning import Tune

    wanted = Tune(verifier, max_error, ErrorKind(error), confidence, settings["embeddings"], allow_download=download)
    raise typer.Exit(run_tune(TuneAsk(labelled, out, json, html, quiet=quiet), wanted))
