"""`factloop check`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from factloop.cli import flags
from factloop.cli.missing import refuse_missing
from factloop.cli.setting_flags import settings_given, with_settings
from factloop.setup.marks import CACHE, LIMITS, MODEL, PER_CHECK, RECORDING, SCORES, SEARCH
from factloop.setup.settings import CheckSettings


@with_settings(CheckSettings, MODEL, SEARCH, LIMITS, CACHE, PER_CHECK, SCORES, RECORDING)
def check(
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help="File with the text to check; - for standard input.")],
    prompt: Annotated[str | None, typer.Option(help="The question that the text answers.")] = None,
    dry_run: flags.DryRun = False,
    json: flags.Json = None,
    html: flags.Html = None,
    run_dir: flags.RunDir = None,
    fail_under: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Exit with 1 if precision is below.", rich_help_panel=flags.OUTPUT),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 3 if a claim stays unscored.", rich_help_panel=flags.OUTPUT)
    ] = False,
    quiet: flags.Quiet = False,
    **settings: Any,
) -> None:
    """Check which claims of a text hold, and on what evidence."""
    refuse_missing(answer, settings["docs"])
    from factloop.cli.check import Ask, run_check

    ask = Ask(answer, prompt, json, html, run_dir, fail_under, dry_run=dry_run, strict=strict, quiet=quiet)
    raise typer.Exit(run_check(ask, settings_given(CheckSettings, settings)))
