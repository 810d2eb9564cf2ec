"""`factloop check`."""

from __future__ import annotations

from typing import Annotated

import typer

from factloop.cli import flags
from factloop.cli.flags import settings_given


def check(
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help="File with the text to check; - for standard input.")],
    prompt: Annotated[str | None, typer.Option(help="The question that the text answers.")] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="PROVIDER:NAME",
            help="Chat model. Without one the offline engine judges.",
            rich_help_panel=flags.MODEL,
        ),
    ] = None,
    base_url: flags.BaseUrl = None,
    plan: Annotated[
        str | None,
        typer.Option(
            metavar="fused|paper",
            help="SAFE's loop in few calls, or as published (default fused).",
            rich_help_panel=flags.MODEL,
        ),
    ] = None,
    temperature: Annotated[float | None, typer.Option(help="Default 0.1.", rich_help_panel=flags.MODEL)] = None,
    max_tokens: flags.MaxTokens = None,
    tool_calling: Annotated[
        bool | None,
        typer.Option(
            "--tool-calling/--no-tool-calling", help="Offer the searches as tools.", rich_help_panel=flags.MODEL
        ),
    ] = None,
    prompts: flags.Prompts = None,
    embeddings: flags.Embeddings = None,
    spacy_model: Annotated[
        str | None, typer.Option(help="spaCy pipeline for the offline engine.", rich_help_panel=flags.MODEL)
    ] = None,
    search: flags.SearchNames = None,
    docs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH", help="File, folder or glob of documents; repeatable.", rich_help_panel=flags.SEARCH
        ),
    ] = None,
    max_searches: Annotated[
        int | None, typer.Option(help="Queries for one claim (default 5).", rich_help_panel=flags.SEARCH)
    ] = None,
    results_per_search: Annotated[int | None, typer.Option(help="Default 3.", rich_help_panel=flags.SEARCH)] = None,
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
