"""`factloop eval mixedqa`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from factloop.cli import flags
from factloop.cli.setting_flags import settings_given, with_settings
from factloop.core.extras import require
from factloop.setup.marks import CACHE, DISTRACTORS, LIMITS, MODEL, SEARCH
from factloop.trust.settings import TrustSettings


@with_settings(TrustSettings, MODEL, SEARCH, DISTRACTORS, LIMITS, CACHE)
def mixedqa(
    data: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="MixedQA; without it, where factloop data get put it; - for standard input."),
    ] = None,
    system: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only the responses of this system; repeatable.")
    ] = None,
    subject: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SYSTEM=MODEL",
            help="Model behind a system, asked about its responses alone, as in the paper; repeatable.",
        ),
    ] = None,
    subject_url: Annotated[
        list[str] | None,
        typer.Option(metavar="SYSTEM=URL", help="Address of that model's server, if not --base-url; repeatable."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="The first so many questions only.")] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="em, bleu-1, bleu-4, rouge-l, meteor, lexical (all these), bertscore:MODEL, bartscore-ref:MODEL, "
            "gptscore-src:MODEL (ref, src, evid); repeatable.",
        ),
    ] = None,
    download: Annotated[
        bool, typer.Option("--download/--no-download", help="Fetch weights that are named by a hub name.")
    ] = False,
    method: Annotated[
        Literal["pearson", "spearman", "kendall"], typer.Option(help="Coefficient; the paper has pearson.")
    ] = "pearson",
    json: flags.Json = None,
    html: flags.Html = None,
    run_dir: flags.RunDir = None,
    quiet: flags.Quiet = False,
    **settings: Any,
) -> None:
    """Correlate TrustScore and other metrics with MixedQA's human labels, beside the paper's Table 1."""
    require("evaluation", "factloop eval mixedqa")
    require("trust", "factloop eval mixedqa")
    from factloop.cli.mixedqa import MixedQaAsk, run_mixedqa
    from factloop.evaluation.statistics.correlation import Method

    ask = MixedQaAsk(
        data,
        tuple(system or ()),
        limit,
        tuple(metric or ()),
        Method(method),
        tuple(subject or ()),
        tuple(subject_url or ()),
        json,
        html,
        run_dir,
        download=download,
        quiet=quiet,
    )
    raise typer.Exit(run_mixedqa(ask, settings_given(TrustSettings, settings)))
