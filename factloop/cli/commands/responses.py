"""`factloop eval responses`, which is `factloop eval FILE`."""

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
def responses(
    data: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Rows with prompt and response, perhaps with documents: JSON Lines, CSV, Parquet or a JSON array; - "
            "for standard input.",
        ),
    ],
    column: run_flags.Column = None,
    k: run_flags.K = None,
    abstention: run_flags.Abstention = "zero",
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
    run_dir: flags.RunDir = None,
    fail_under: run_flags.FailUnder = None,
    strict: run_flags.Strict = False,
    quiet: flags.Quiet = False,
    **settings: Any,
) -> None:
    """Check the long responses of a data set, and score their systems by F1@K."""
    given = dict(locals())
    require("evaluation", "factloop eval")
    refuse_missing_data(data, settings["docs"])
    from factloop.cli.responses import run_responses
    from factloop.cli.run_over import RunAsk

    raise typer.Exit(
        run_responses(data, column or (), RunAsk.of(given), settings_given(CheckSettings, settings), dry_run=dry_run)
    )
