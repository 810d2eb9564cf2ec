"""`factloop check`."""

from __future__ import annotations

from typing import Annotated

import typer

from factloop.cli import flags
from factloop.cli.flags import settings_given


def check(
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help="File with the text to check; - for standard input.")],
    prompt: Annotated[str | None, typer.Option(help="The question that the text answers.")] = None,
    model: flags.Model = None,
    base_url: flags.BaseUrl = None,
    plan: flags.Plan = None,
    temperature: flags.Temperature = None,
    max_tokens: flags.MaxTokens = None,
    tool_calling: flags.ToolCalling = None,
    prompts: flags.Prompts = None,
    embeddings: flags.Embeddings = None,
    spacy_model: flags.SpacyModel = None,
    search: flags.SearchNames = None,
    docs: flags.Docs = None,
    max_searches: flags.MaxSearches = None,
    results_per_search: flags.ResultsPerSearch = None,
    budget_usd: flags.BudgetUsd = None,
    max_calls: flags.MaxCalls = None,
    price_in: flags.PriceIn = None,
    price_out: flags.PriceOut = None,
    concurrency: flags.Concurrency = None,
    requests_per_second: flags.RequestsPerSecond = None,
    timeout_s: flags.Timeout = None,
    cache: flags.Cache = None,
    cache_dir: flags.CacheDir = None,
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
) -> None:
    """Check which claims of a text hold, and on what evidence."""
    given = dict(locals())
    from factloop.cli.check import Ask, run_check
    from factloop.settings import CheckSettings

    ask = Ask(answer, prompt, json, html, run_dir, fail_under, dry_run=dry_run, strict=strict, quiet=quiet)
    raise typer.Exit(run_check(ask, settings_given(CheckSettings, given)))
