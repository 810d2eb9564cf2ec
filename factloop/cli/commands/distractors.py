"""`factloop distractors`."""

from __future__ import annotations

from typing import Annotated

import typer

from factloop.cli import flags
from factloop.cli.flags import settings_given


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

    raise typer.Exit(run_distractors(question, response, n, json, settings_given(TrustSettings, given)))
