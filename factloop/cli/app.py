"""The commands and their flags."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import factloop
from factloop.cli import flags

if TYPE_CHECKING:
    from factloop.settings import RunSettings

app = typer.Typer(
    name="factloop",
    help="Which claims of a long answer hold, on what evidence, and how far to trust the number.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
eval_app = typer.Typer(help="Score a data set and compare with its labels.", no_args_is_help=True)
kb_app = typer.Typer(help="Local tables of typed entities, for distractors.", no_args_is_help=True)
app.add_typer(eval_app, name="eval")
app.add_typer(kb_app, name="kb")


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


def _settings_given(kind: type[RunSettings], given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in kind.model_fields if given.get(name) is not None}


@app.command()
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
    raise typer.Exit(run_check(ask, _settings_given(CheckSettings, given)))


@app.command()
def trust(
    answers: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE", help="JSON Lines or CSV with question and response; with --long-form the long answer."
        ),
    ] = None,
    question: Annotated[str | None, typer.Option(help="One question, in place of a file.")] = None,
    response: Annotated[str | None, typer.Option(help="The response to it.")] = None,
    answer: Annotated[
        bool, typer.Option("--answer", help="Ask the subject for the response first, where none is given.")
    ] = False,
    long_form: Annotated[
        bool, typer.Option("--long-form", help="TrustBC for each claim of a long answer, beside SAFE's verdict.")
    ] = False,
    prompt: Annotated[str | None, typer.Option(help="The question that the long answer answers.")] = None,
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
    search: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="With --long-form, for SAFE: serper, wikipedia or searxng; repeatable.",
            rich_help_panel=flags.SEARCH,
        ),
    ] = None,
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
    dry_run: flags.DryRun = False,
    json: flags.Json = None,
    html: flags.Html = None,
    run_dir: flags.RunDir = None,
    fail_under: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Exit with 1 if the mean TrustOV (TrustBC without a corpus) is below.",
            rich_help_panel=flags.OUTPUT,
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with 3 if a score asked for is missing.", rich_help_panel=flags.OUTPUT),
    ] = False,
    quiet: flags.Quiet = False,
) -> None:
    """Score whether a model stands by its own answers, and whether documents agree (TrustScore)."""
    given = dict(locals())
    from factloop.cli.trust import TrustAsk, run_trust
    from factloop.trust_settings import TrustSettings

    ask = TrustAsk(
        answers, question, response, prompt, tuple(search or ()), json, html, run_dir, fail_under,
        answer=answer, long_form=long_form, dry_run=dry_run, strict=strict, quiet=quiet,
    )  # fmt: skip
    raise typer.Exit(run_trust(ask, _settings_given(TrustSettings, given)))


@app.command()
def distractors(
    question: Annotated[str, typer.Option(help="The question.")],
    response: Annotated[str, typer.Option(help="The response whose distractors are wanted.")],
    n: Annotated[int, typer.Option("--n", min=1, max=1000, help="How many.")] = 30,
    kb: flags.Kb = None,
    dbpedia: flags.DBpedia = None,
    spotlight_url: flags.SpotlightUrl = None,
    sparql_url: flags.SparqlUrl = None,
    vectors: flags.Vectors = None,
    embeddings: flags.Embeddings = None,
    seed: flags.Seed = None,
    timeout_s: flags.Timeout = None,
    cache: flags.Cache = None,
    cache_dir: flags.CacheDir = None,
    json: flags.Json = None,
) -> None:
    """Show the distractors that a response would be put among. Needs no model."""
    given = dict(locals())
    from factloop.cli.distractors import run_distractors
    from factloop.trust_settings import TrustSettings

    raise typer.Exit(run_distractors(question, response, n, json, _settings_given(TrustSettings, given)))


@eval_app.command()
def mixedqa(
    data: Annotated[str, typer.Option(metavar="FILE", help="mixedqa.jsonl, see benchmarks/README.md for its fields.")],
    system: Annotated[list[str] | None, typer.Option(help="Only the responses of this system; repeatable.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many questions, from the first.")] = None,
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
    """Correlate TrustScore with MixedQA's human labels, beside the paper's Table 1."""
    given = dict(locals())
    from factloop.cli.mixedqa import MixedQaAsk, run_mixedqa
    from factloop.trust_settings import TrustSettings

    ask = MixedQaAsk(data, tuple(system or ()), limit, json, html, run_dir, quiet=quiet)
    raise typer.Exit(run_mixedqa(ask, _settings_given(TrustSettings, given)))


@kb_app.command()
def build(
    types: Annotated[
        list[Path], typer.Option(metavar="FILE", help="DBpedia's instance types, N-Triples or Turtle; repeatable.")
    ],
    labels: Annotated[list[Path], typer.Option(metavar="FILE", help="DBpedia's labels; repeatable.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The table to write.")],
    popularity: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Page links or ranks: the better known come first; repeatable."),
    ] = None,
    language: Annotated[str, typer.Option(help="Of the labels.")] = "en",
    quiet: flags.Quiet = False,
) -> None:
    """Make a local table of typed entities from DBpedia's dumps."""
    from factloop.cli.kb import run_build

    raise typer.Exit(run_build(types, labels, popularity or [], out, language, quiet=quiet))
