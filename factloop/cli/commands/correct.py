"""`factloop correct`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from factloop.cli import flags
from factloop.cli.missing import refuse_missing
from factloop.cli.setting_flags import settings_given, with_settings
from factloop.correction.settings import CorrectionSettings
from factloop.setup.marks import CACHE, CORRECTION, LIMITS, MODEL, PER_CHECK, SCORES, SEARCH


@with_settings(CorrectionSettings, CORRECTION, MODEL, SEARCH, LIMITS, CACHE, PER_CHECK, SCORES)
def correct(
    answer: Annotated[
        str, typer.Argument(metavar="ANSWER", help="File with the text to correct; - for standard input.")
    ],
    prompt: Annotated[str | None, typer.Option(help="The question that the text answers.")] = None,
    max_rounds: Annotated[
        int, typer.Option(metavar="N", min=1, help="Times that a rewritten text is checked at most.")
    ] = 2,
    dry_run: flags.DryRun = False,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The text to use; - for standard output.", rich_help_panel=flags.OUTPUT),
    ] = None,
    json: flags.Json = None,
    html: flags.Html = None,
    run_dir: flags.RunDir = None,
    fail_under: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Exit with 1 if precision of the text to use is below.", rich_help_panel=flags.OUTPUT
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with 3 if a claim of it stays unscored.", rich_help_panel=flags.OUTPUT),
    ] = False,
    quiet: flags.Quiet = False,
    **settings: Any,
) -> None:
    """Mend what the sources contradict, mark what they do not say, and check the changes again.

    --deadline, --max-calls-per-check and --budget-usd-per-check are for the whole of it.
    """
    refuse_missing(answer, settings["docs"])
    from factloop.cli.correct import Ask, run_correct

    ask = Ask(
        answer,
        prompt,
        max_rounds,
        out,
        json,
        html,
        run_dir,
        fail_under=fail_under,
        dry_run=dry_run,
        strict=strict,
        quiet=quiet,
    )
    raise typer.Exit(run_correct(ask, settings_given(CorrectionSettings, settings)))
