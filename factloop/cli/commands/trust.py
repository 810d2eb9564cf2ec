"""`factloop trust`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from factloop.cli import flags
from factloop.cli.missing import refuse_missing_data
from factloop.cli.setting_flags import help_of, settings_given, with_settings
from factloop.core.extras import require
from factloop.setup.marks import CACHE, DISTRACTORS, LIMITS, MODEL, RECORDING, SEARCH
from factloop.setup.settings import CheckSettings
from factloop.trust.settings import TrustSettings


@with_settings(TrustSettings, MODEL, SEARCH, DISTRACTORS, LIMITS, CACHE, RECORDING)
def trust(
    answers: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE", help="JSON Lines or CSV with question and response; with --long-form the long answer."
        ),
    ] = None,
    question: Annotated[str | None, typer.Option(help="One question, in place of a file.")] = None,
    response: Annotated[str | None, typer.Option(help="The response to it.")] = None,
    answer: Annotated[
        bool, typer.Option("--answer", help="Ask the subject for the response first, where none is given.")
    ] = False,
    long_form: Annotated[
        bool, typer.Option("--long-form", help="TrustBC for each claim of a long answer, beside SAFE's verdict.")
    ] = False,
    prompt: Annotated[str | None, typer.Option(help="The question that the long answer answers.")] = None,
    search: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"With --long-form, for SAFE. {help_of(CheckSettings.model_fields['search'])}",
            rich_help_panel=flags.SEARCH,
        ),
    ] = None,
    dry_run: flags.DryRun = False,
    json: flags.Json = None,
    html: flags.Html = None,
    run_dir: flags.RunDir = None,
    fail_under: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Exit with 1 if the mean TrustOV (TrustBC without a corpus) is below.",
            rich_help_panel=flags.OUTPUT,
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with 3 if a score asked for is missing.", rich_help_panel=flags.OUTPUT),
    ] = False,
    quiet: flags.Quiet = False,
    **settings: Any,
) -> None:
    """Score whether a model stands by its own answers, and whether documents agree (TrustScore)."""
    require("trust", "factloop trust")
    refuse_missing_data(answers, settings["corpus"])
    from factloop.cli.trust import TrustAsk, run_trust

    ask = TrustAsk(
        answers, question, response, prompt, tuple(search or ()), json, html, run_dir, fail_under,
        answer=answer, long_form=long_form, dry_run=dry_run, strict=strict, quiet=quiet,
    )  # fmt: skip
    raise typer.Exit(run_trust(ask, settings_given(TrustSettings, settings)))
