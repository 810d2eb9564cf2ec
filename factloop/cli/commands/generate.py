"""`factloop generate`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from factloop.cli import flags
from factloop.cli.flags import settings_given


class Part(StrEnum):
    """What prompts ask about."""

    OBJECTS = "objects"
    CONCEPTS = "concepts"


Model = Annotated[
    str | None,
    typer.Option(metavar="PROVIDER:NAME", help="The model that writes.", rich_help_panel=flags.MODEL),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(help="Of one response, which is cut off there (default 4096).", rich_help_panel=flags.MODEL),
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", help="Seconds for one response (default 300).", rich_help_panel=flags.LIMITS),
]
BudgetUsd = Annotated[float | None, typer.Option(help="Stop spending here.", rich_help_panel=flags.LIMITS)]


def longfact(
    out: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Rows are appended as they come; the same command goes on in this file."),
    ],
    data: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="LongFact, or any file with a prompt in each row; - for standard input "
            "(default: what factloop data get longfact got).",
        ),
    ] = None,
    part: Annotated[Part, typer.Option(help="Which prompts of LongFact.")] = Part.OBJECTS,
    n: Annotated[int, typer.Option("--n", min=1, help="Prompts drawn; all, if there are fewer.")] = 250,
    postamble: Annotated[
        bool,
        typer.Option("--postamble/--no-postamble", help="Ask for as much detail as possible, as the paper does."),
    ] = True,
    system: Annotated[
        str | None, typer.Option(metavar="NAME", help="What tables call the model (default: its name).")
    ] = None,
    model: Model = None,
    base_url: flags.BaseUrl = None,
    temperature: Annotated[
        float | None, typer.Option(help="Default 0.5, as in the paper's code.", rich_help_panel=flags.MODEL)
    ] = None,
    max_tokens: MaxTokens = None,
    seed: Annotated[int | None, typer.Option(help="Of the draw (default 0).")] = None,
    budget_usd: BudgetUsd = None,
    max_calls: flags.MaxCalls = None,
    price_in: flags.PriceIn = None,
    price_out: flags.PriceOut = None,
    concurrency: flags.Concurrency = None,
    requests_per_second: flags.RequestsPerSecond = None,
    timeout_s: Timeout = None,
    patience_s: flags.Patience = None,
    cache: flags.Cache = None,
    cache_dir: flags.CacheDir = None,
    cache_mb: flags.CacheMb = None,
    cache_days: flags.CacheDays = None,
    dry_run: flags.DryRun = False,
    json: flags.Json = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with 3 if a prompt has no response.", rich_help_panel=flags.OUTPUT),
    ] = False,
    quiet: flags.Quiet = False,
) -> None:
    """Ask a model LongFact's prompts, for factloop eval."""
    given = dict(locals())
    from factloop.cli.generate import ResponsesAsk, run_generate_longfact
    from factloop.evaluation.generation.settings import ResponseSettings

    ask = ResponsesAsk(out, data, part.value, n, postamble, system, json, dry_run=dry_run, strict=strict, quiet=quiet)
    raise typer.Exit(run_generate_longfact(ask, settings_given(ResponseSettings, given)))


def prompts(
    topic: Annotated[list[str], typer.Option(help="For example mycology; repeatable.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="A new file for the prompts, as generate longfact reads.")],
    n: Annotated[int, typer.Option("--n", min=1, max=1000, help="Prompts on each topic.")] = 30,
    kind: Annotated[Part, typer.Option(help="Ask about single things, or about ideas.")] = Part.OBJECTS,
    model: Model = None,
    base_url: flags.BaseUrl = None,
    temperature: Annotated[
        float | None, typer.Option(help="Default 1, as in the paper's code.", rich_help_panel=flags.MODEL)
    ] = None,
    max_tokens: flags.MaxTokens = None,
    prompts: flags.Prompts = None,
    seed: Annotated[int | None, typer.Option(help="Of the examples shown; another one, other prompts.")] = None,
    budget_usd: BudgetUsd = None,
    max_calls: flags.MaxCalls = None,
    price_in: flags.PriceIn = None,
    price_out: flags.PriceOut = None,
    concurrency: flags.Concurrency = None,
    requests_per_second: flags.RequestsPerSecond = None,
    timeout_s: flags.Timeout = None,
    patience_s: flags.Patience = None,
    cache: flags.Cache = None,
    cache_dir: flags.CacheDir = None,
    cache_mb: flags.CacheMb = None,
    cache_days: flags.CacheDays = None,
    dry_run: flags.DryRun = False,
    json: flags.Json = None,
    run_dir: flags.RunDir = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with 3 if a topic has fewer prompts.", rich_help_panel=flags.OUTPUT),
    ] = False,
    quiet: flags.Quiet = False,
) -> None:
    """Let a model write prompts like LongFact's on a topic, all different."""
    given = dict(locals())
    from factloop.cli.generate import PromptsAsk, run_generate_prompts
    from factloop.evaluation.generation.settings import PromptSettings

    ask = PromptsAsk(out, tuple(topic), kind.value, n, json, run_dir, dry_run=dry_run, strict=strict, quiet=quiet)
    raise typer.Exit(run_generate_prompts(ask, settings_given(PromptSettings, given)))
