"""`factloop distractors`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from factloop.cli import flags
from factloop.cli.setting_flags import settings_given, with_settings
from factloop.core.extras import require
from factloop.core.garbage import collection_paused
from factloop.setup.marks import CACHE, LIMITS
from factloop.trust.settings import TrustSettings


@with_settings(
    TrustSettings,
    "embeddings",
    "kb",
    "dbpedia",
    "spotlight_url",
    "sparql_url",
    "vectors",
    "target_order",
    "seed",
    "distractors",
    "judge_model",
    "judge_base_url",
    "base_url",
    "temperature",
    "max_tokens",
    "prompts",
    LIMITS,
    CACHE,
)
def distractors(
    question: Annotated[str, typer.Option(help="The question.")],
    response: Annotated[str, typer.Option(help="The response whose distractors are wanted.")],
    reference: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A right answer, which no model may propose; repeatable."),
    ] = None,
    n: Annotated[int, typer.Option("--n", min=1, max=1000, help="Number of distractors.")] = 30,
    json: flags.Json = None,
    **settings: Any,
) -> None:
    """Show the distractors that a response would be put among. Needs no model, unless one is to propose some."""
    require("trust", "factloop distractors")
    with collection_paused():
        from factloop.cli.distractors import run_distractors

    raise typer.Exit(
        run_distractors(question, response, tuple(reference or ()), n, json, settings_given(TrustSettings, settings))
    )
