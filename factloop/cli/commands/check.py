"""`factloop check`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from factloop.cli import flags
from factloop.cli.flag_groups import CheckFlags, CheckLimitFlags, LimitFlags, RecordingFlags, with_flags
from factloop.cli.flags import settings_given


@with_flags(CheckFlags, LimitFlags, CheckLimitFlags, RecordingFlags)
def check(
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help="File with the text to check; - for standard input.")],
    prompt: Annotated[str | None, typer.Option(help="The question that the text answers.")] = None,
    dry_run: flags.DryRun = False,
    k: Annotated[
        list[int] | None,
        typer.Option("--k", metavar="K", help="Of F1@K; repeatable (default 64).", rich_help_panel=flags.OUTPUT),
    ] = None,
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
    from factloop.cli.check import Ask, run_check
    from factloop.setup.settings import CheckSettings

    ask = Ask(answer, prompt, json, html, run_dir, fail_under, dry_run=dry_run, strict=strict, quiet=quiet)
    raise typer.Exit(run_check(ask, settings_given(CheckSettings, {"k": k, **settings})))
