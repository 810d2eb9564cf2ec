"""Flags of the commands that judge a data set, beside those of a check."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from factloop.cli.flags import LIMITS, OUTPUT

SCORES, ENGINE = "Scores", "Engine"

K = Annotated[
    list[str] | None,
    typer.Option(
        "--k",
        metavar="K",
        help="K of F1@K: a number, or the median or maximum of the run's supported claims; repeatable (default 64).",
        rich_help_panel=SCORES,
    ),
]
Abstention = Annotated[
    Literal["zero", "exclude"],
    typer.Option(
        help="A response without claims counts as F1@K 0, or is left out of every mean.", rich_help_panel=SCORES
    ),
]
Level = Annotated[float, typer.Option(help="Level of the intervals, between 0 and 1.", rich_help_panel=SCORES)]
Resamples = Annotated[
    int, typer.Option(min=0, help="Resamples of the prompts, for the intervals; 0 for none.", rich_help_panel=SCORES)
]
Calibration = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="Claims that people labelled, to correct by: a run of eval factscore, or a file.",
        rich_help_panel=SCORES,
    ),
]
Evaluator = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Evaluator whose verdicts count, where --calibration is the input of an audit.",
        rich_help_panel=SCORES,
    ),
]
Transfer = Annotated[
    Literal["verdicts", "error_rates"] | None,
    typer.Option(
        help="What is taken to be the same as among the labelled claims: how often a claim with either verdict is "
        "supported, or TPR and FPR (default: verdicts where some of them come from the system or the run).",
        rich_help_panel=SCORES,
    ),
]
FailIfWorse = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-if-worse",
        metavar="METRIC[:MARGIN]",
        help="Exit with 1 where a loss in this metric is shown; with a margin, unless a loss as large is ruled out "
        "(one-sided). The margin of a share is one, too: 0.05 is five points; of cost_usd and tokens it is an amount. "
        "Repeatable.",
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(min=1, help="The first so many responses only.", rich_help_panel=LIMITS),
]
Engine = Annotated[
    Literal["local", "ray"], typer.Option(help="Judge in this process, or on workers.", rich_help_panel=ENGINE)
]
Workers = Annotated[int | None, typer.Option(min=1, help="Workers of Ray (default 2).", rich_help_panel=ENGINE)]
Address = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT", help="Address of a Ray cluster; without it one is started here.", rich_help_panel=ENGINE
    ),
]
Column = Annotated[
    list[str] | None,
    typer.Option(metavar="FIELD=COLUMN", help="Column of a field in the file; repeatable."),
]
FailUnder = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Exit with 1 if the precision of a system is below.", rich_help_panel=OUTPUT),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit with 3 if a claim stays unscored.", rich_help_panel=OUTPUT)
]
