"""`factloop experiment`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from factloop.cli import flags, run_flags
from factloop.cli.missing import refuse_missing_data
from factloop.cli.setting_flags import settings_given, with_settings
from factloop.core.extras import require
from factloop.setup.marks import CACHE, LIMITS
from factloop.setup.settings import CheckSettings

STATISTICS = "Statistics"


@with_settings(CheckSettings, LIMITS, CACHE, "repeats")
def experiment(
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="YAML file with the data and the variants.")],
    level: Annotated[
        float, typer.Option(help="Level of the intervals, between 0 and 1.", rich_help_panel=STATISTICS)
    ] = 0.95,
    resamples: Annotated[
        int,
        typer.Option(
            min=0, help="Resamples of whole groups, for the intervals; 0 for none.", rich_help_panel=STATISTICS
        ),
    ] = 2000,
    p_adjustment: Annotated[
        Literal["holm", "benjamini-hochberg", "none"],
        typer.Option(help="Adjustment of p-values for the number of comparisons.", rich_help_panel=STATISTICS),
    ] = "holm",
    pairs: Annotated[
        Literal["baseline", "all"],
        typer.Option(help="Compare with the baseline, or all with all.", rich_help_panel=STATISTICS),
    ] = "baseline",
    dry_run: flags.DryRun = False,
    json: flags.Json = None,
    html: flags.Html = None,
    run_dir: flags.RunDir = None,
    strict: run_flags.Strict = False,
    fail_if_worse: run_flags.FailIfWorse = None,
    quiet: flags.Quiet = False,
    **settings: Any,
) -> None:
    """Compare prompts, models and settings over the same labelled claims or responses."""
    require("evaluation", "factloop experiment")
    refuse_missing_data(plan)
    from factloop.cli.experiment import ExperimentAsk, run_experiment

    ask = ExperimentAsk(
        plan, level, resamples, p_adjustment, pairs, json, html, run_dir, dry_run=dry_run, strict=strict, quiet=quiet,
        fail_if_worse=tuple(fail_if_worse or ()),
    )  # fmt: skip
    raise typer.Exit(run_experiment(ask, settings_given(CheckSettings, settings)))
