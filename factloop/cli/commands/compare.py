"""`factloop compare`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from factloop.cli import flags, run_flags
from factloop.core.extras import require


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN", help="Run directories of factloop eval, A and B; or one, for two of its systems."
        ),
    ],
    system: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this system; given twice, the first of A against the second of B."),
    ] = None,
    k: Annotated[
        list[str] | None,
        typer.Option("--k", metavar="K", help="Number, median or maximum; repeatable (default those of the runs)."),
    ] = None,
    abstention: Annotated[
        Literal["zero", "exclude"] | None,
        typer.Option(help="A response without claims counts as F1@K 0, or is left out (default as in the runs)."),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(help="Chance of calling equal runs different (default 0.05); intervals are at one minus it."),
    ] = None,
    level: Annotated[float | None, typer.Option(help="Level of the intervals (default 0.95): one minus alpha.")] = None,
    resamples: Annotated[
        int, typer.Option(min=0, help="Resamples of whole prompts, for the intervals; 0 for none.")
    ] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is drawn.")] = 0,
    json: flags.Json = None,
    html: flags.Html = None,
    quiet: flags.Quiet = False,
    fail_if_worse: run_flags.FailIfWorse = None,
) -> None:
    """Compare two systems on shared prompts, or two evaluators on the same responses, by paired differences."""
    require("evaluation", "factloop compare")
    from factloop.cli.compare import CompareAsk, run_compare

    ask = CompareAsk(
        tuple(runs), tuple(system or ()), tuple(k or ()), abstention, alpha, level, resamples, seed, json, html,
        quiet=quiet, fail_if_worse=tuple(fail_if_worse or ()),
    )  # fmt: skip
    raise typer.Exit(run_compare(ask))
