"""`factloop audit`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from factloop.cli import flags
from factloop.core.extras import require

_FIGURES = "Figures"


def audit(
    predictions: Annotated[
        str,
        typer.Argument(metavar="FILE", help="Labelled claims with scores: JSONL, CSV, Parquet; - for standard input."),
    ],
    evaluator: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this evaluator; repeatable.", rich_help_panel=_FIGURES),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="All figures at this score, too, beside 0.5.", rich_help_panel=_FIGURES),
    ] = None,
    alpha: Annotated[
        float,
        typer.Option(
            min=0.0, max=1.0, help="Significance level of the tests between pairs of systems.", rich_help_panel=_FIGURES
        ),
    ] = 0.05,
    p_adjustment: Annotated[
        Literal["none", "holm", "bonferroni"],
        typer.Option(help="Adjustment of their p-values over the pairs of a data set.", rich_help_panel=_FIGURES),
    ] = "none",
    resamples: Annotated[
        int,
        typer.Option(
            min=0, max=10_000, help="Resamples of the bootstrap; 0 for no intervals.", rich_help_panel=_FIGURES
        ),
    ] = 1000,
    level: Annotated[
        float, typer.Option(min=0.5, max=0.999, help="Level of the intervals.", rich_help_panel=_FIGURES)
    ] = 0.95,
    systems: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP=SYSTEM,...",
            help="Headroom of these systems apart, such as small=a,b; repeatable.",
            rich_help_panel=_FIGURES,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all draws.", rich_help_panel=_FIGURES)] = 0,
    json: flags.Json = None,
    html: flags.Html = None,
    quiet: flags.Quiet = False,
) -> None:
    """Say how far evaluators can be trusted, from claims that they scored and people labelled."""
    require("evaluation", "factloop audit")
    from factloop.cli.audit import AuditAsk, run_audit
    from factloop.evaluation.statistics.significance import PValueAdjustment

    ask = AuditAsk(
        predictions=predictions,
        evaluators=tuple(evaluator or ()),
        threshold=threshold,
        alpha=alpha,
        p_adjustment=PValueAdjustment(p_adjustment),
        resamples=resamples,
        level=level,
        seed=seed,
        systems=tuple(systems or ()),
        json=json,
        html=html,
        quiet=quiet,
    )
    raise typer.Exit(run_audit(ask))
