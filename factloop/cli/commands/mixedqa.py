"""`factloop eval mixedqa`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from factloop.cli import flags
from factloop.cli.flags import settings_given


def mixedqa(
    data: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="MixedQA; without it, where factloop data get put it; - for standard input."),
    ] = None,
    system: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only the responses of this system; repeatable.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many questions, from the first.")] = None,
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
    subject_model: flags.SubjectModel = None,
    judge_model: flags.JudgeModel = None,
    base_url: flags.BaseUrl = None,
    judge_base_url: flags.JudgeBaseUrl = None,
    nli: flags.Nli = None,
    temperature: flags.SubjectTemperature = None,
    max_tokens: flags.MaxTokens = None,
    logprobs: flags.Logprobs = None,
    prompts: flags.Prompts = None,
    embeddings: flags.Embeddings = None,
    corpus: flags.Corpus = None,
    passages: flags.Passages = None,
    max_checks: flags.MaxChecks = None,
    window: flags.Window = None,
    kb: flags.Kb = None,
    dbpedia: flags.DBpedia = None,
    spotlight_url: flags.SpotlightUrl = None,
    sparql_url: flags.SparqlUrl = None,
    vectors: flags.Vectors = None,
    seed: flags.Seed = None,
    budget_usd: flags.BudgetUsd = None,
    max_calls: flags.MaxCalls = None,
    price_in: flags.PriceIn = None,
    price_out: flags.PriceOut = None,
    concurrency: flags.Concurrency = None,
    requests_per_second: flags.RequestsPerSecond = None,
    timeout_s: flags.Timeout = None,
    cache: flags.Cache = None,
    cache_dir: flags.CacheDir = None,
    json: flags.Json = None,
    html: flags.Html = None,
    run_dir: flags.RunDir = None,
    quiet: flags.Quiet = False,
) -> None:
    """Correlate TrustScore and other metrics with MixedQA's human labels, beside the paper's Table 1."""
    given = dict(locals())
    from factloop.cli.mixedqa import MixedQaAsk, run_mixedqa
    from factloop.evaluation.metrics.correlation import Method
    from factloop.trust_settings import TrustSettings

    ask = MixedQaAsk(
        data,
        tuple(system or ()),
        limit,
        tuple(metric or ()),
        Method(method),
        json,
        html,
        run_dir,
        download=download,
        quiet=quiet,
    )
    raise typer.Exit(run_mixedqa(ask, settings_given(TrustSettings, given)))
