"""`factloop distractors`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from factloop.cli import flags
from factloop.cli.flag_groups import DistractorFlags, with_flags
from factloop.cli.flags import settings_given


@with_flags(DistractorFlags)
def distractors(
    question: Annotated[str, typer.Option(help="The question.")],
    response: Annotated[str, typer.Option(help="The response whose distractors are wanted.")],
    n: Annotated[int, typer.Option("--n", min=1, max=1000, help="How many.")] = 30,
    timeout_s: flags.Timeout = None,
    cache: flags.Cache = None,
    cache_dir: flags.CacheDir = None,
    cache_mb: flags.CacheMb = None,
    cache_days: flags.CacheDays = None,
    json: flags.Json = None,
    **settings: Any,
) -> None:
    """Show the distractors that a response would be put among. Needs no model."""
    from factloop.cli.distractors import run_distractors
    from factloop.setup.trust_settings import TrustSettings

    kept = {"cache": cache, "cache_dir": cache_dir, "cache_mb": cache_mb, "cache_days": cache_days}
    settings |= {"timeout_s": timeout_s, **kept}
    raise typer.Exit(run_distractors(question, response, n, json, settings_given(TrustSettings, settings)))
