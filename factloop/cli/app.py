"""The commands and their flags."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import factloop

app = typer.Typer(
    name="factloop",
    help="Which claims of a long answer hold, on what evidence, and how far to trust the number.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

_ENGINE, _SEARCH, _LIMITS, _OUTPUT = "Model", "Search", "Limits", "Output"


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"factloop {factloop.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def check(
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help="File with the text to check; - for standard input.")],
    prompt: Annotated[str | None, typer.Option(help="The question that the text answers.")] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="PROVIDER:NAME", help="Chat model. Without one the offline engine judges.", rich_help_panel=_ENGINE
        ),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Of any OpenAI-compatible server.", rich_help_panel=_ENGINE)
    ] = None,
    plan: Annotated[
        str | None,
        typer.Option(
            metavar="fused|paper",
            help="SAFE's loop in few calls, or as published (default fused).",
            rich_help_panel=_ENGINE,
        ),
    ] = None,
    temperature: Annotated[float | None, typer.Option(help="Default 0.1.", rich_help_panel=_ENGINE)] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Of one reply (default 1024).", rich_help_panel=_ENGINE)
    ] = None,
    tool_calling: Annotated[
        bool | None,
        typer.Option("--tool-calling/--no-tool-calling", help="Offer the searches as tools.", rich_help_panel=_ENGINE),
    ] = None,
    prompts: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Prompts that replace packaged ones.", rich_help_panel=_ENGINE),
    ] = None,
    embeddings: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Sentence-transformers model, path or name.", rich_help_panel=_ENGINE),
    ] = None,
    spacy_model: Annotated[
        str | None, typer.Option(help="spaCy pipeline for the offline engine.", rich_help_panel=_ENGINE)
    ] = None,
    search: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="serper, wikipedia or searxng; repeatable.", rich_help_panel=_SEARCH),
    ] = None,
    docs: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="File, folder or glob of documents; repeatable.", rich_help_panel=_SEARCH),
    ] = None,
    max_searches: Annotated[
        int | None, typer.Option(help="Queries for one claim (default 5).", rich_help_panel=_SEARCH)
    ] = None,
    results_per_search: Annotated[int | None, typer.Option(help="Default 3.", rich_help_panel=_SEARCH)] = None,
    budget_usd: Annotated[
        float | None, typer.Option(help="Stop spending here; the rest stays unscored.", rich_help_panel=_LIMITS)
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option(help="Model calls, failed ones included.", rich_help_panel=_LIMITS)
    ] = None,
    price_in: Annotated[
        float | None, typer.Option(help="USD per million prompt tokens.", rich_help_panel=_LIMITS)
    ] = None,
    price_out: Annotated[
        float | None, typer.Option(help="USD per million completion tokens.", rich_help_panel=_LIMITS)
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(help="Model calls in flight; 0 for no bound (default 64).", rich_help_panel=_LIMITS)
    ] = None,
    requests_per_second: Annotated[
        float | None, typer.Option(help="Otherwise learnt from the server.", rich_help_panel=_LIMITS)
    ] = None,
    timeout_s: Annotated[
        float | None,
        typer.Option("--timeout", help="Seconds for one call or search (default 60).", rich_help_panel=_LIMITS),
    ] = None,
    cache: Annotated[
        bool | None, typer.Option("--cache/--no-cache", help="Keep answers paid for.", rich_help_panel=_LIMITS)
    ] = None,
    cache_dir: Annotated[Path | None, typer.Option(metavar="FOLDER", rich_help_panel=_LIMITS)] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what it would cost; spend nothing.", rich_help_panel=_LIMITS)
    ] = False,
    k: Annotated[
        list[int] | None,
        typer.Option("--k", metavar="K", help="Of F1@K; repeatable (default 64).", rich_help_panel=_OUTPUT),
    ] = None,
    json: Annotated[
        str | None,
        typer.Option("--json", metavar="FILE", help="Report as JSON; - for standard output.", rich_help_panel=_OUTPUT),
    ] = None,
    html: Annotated[
        str | None, typer.Option("--html", metavar="FILE", help="Report as one HTML page.", rich_help_panel=_OUTPUT)
    ] = None,
    run_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Make the run resumable: the same command goes on there.", rich_help_panel=_OUTPUT
        ),
    ] = None,
    fail_under: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Exit with 1 if precision is below.", rich_help_panel=_OUTPUT),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 3 if a claim stays unscored.", rich_help_panel=_OUTPUT)
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress, no report on the terminal.", rich_help_panel=_OUTPUT)
    ] = False,
) -> None:
    """Check which claims of a text hold, and on what evidence."""
    given = dict(locals())
    from factloop.cli.check import Ask, run_check
    from factloop.settings import CheckSettings

    flags = {name: given[name] for name in CheckSettings.model_fields if given.get(name) is not None}
    ask = Ask(answer, prompt, json, html, run_dir, fail_under, dry_run=dry_run, strict=strict, quiet=quiet)
    raise typer.Exit(run_check(ask, flags))
