"""`factloop eval factscore`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from factloop.cli import flags, run_flags
from factloop.cli.missing import refuse_missing_data
from factloop.cli.setting_flags import settings_given, with_settings
from factloop.core.extras import require
from factloop.setup.marks import CACHE, LIMITS, MODEL, PER_CHECK, SEARCH
from factloop.setup.settings import CheckSettings


@with_settings(CheckSettings, MODEL, SEARCH, LIMITS, CACHE, PER_CHECK, "repeats")
def factscore(
    data: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="FActScore's labels; without it, where factloop data get put them."),
    ] = None,
    system: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only the responses of this system; repeatable.")
    ] = None,
    k: run_flags.K = None,
    abstention: run_flags.Abstention = "exclude",
    level: run_flags.Level = 0.95,
    resamples: run_flags.Resamples = 2000,
    calibration: run_flags.Calibration = None,
    evaluator: run_flags.Evaluator = None,
    transfer: run_flags.Transfer = None,
    engine: run_flags.Engine = "local",
    workers: run_flags.Workers = None,
    address: run_flags.Address = None,
    limit: run_flags.Limit = None,
    dry_run: flags.DryRun = False,
    json: flags.Json = None,
    html: flags.Html = None,
    predictions: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Each verdict with its label, for factloop audit; needs --run-dir.",
            rich_help_panel=flags.OUTPUT,
        ),
    ] = None,
    run_dir: flags.RunDir = None,
    fail_under: run_flags.FailUnder = None,
    strict: run_flags.Strict = False,
    quiet: flags.Quiet = False,
    **settings: Any,
) -> None:
    """Judge FActScore's facts one by one, and say how far the verdicts agree with people's labels."""
    given = dict(locals())
    require("evaluation", "factloop eval factscore")
    refuse_missing_data(data, settings["docs"])
    from factloop.cli.factscore import run_factscore
    from factloop.cli.run_over import RunAsk

    chosen = settings_given(CheckSettings, settings)
    code = run_factscore(data, system or (), predictions, RunAsk.of(given), chosen, dry_run=dry_run)
    raise typer.Exit(code)
