"""`factloop cache`."""

from __future__ import annotations

from typing import Annotated

import typer

from factloop.cli import flags
from factloop.cli.flags import settings_given


def show(cache_dir: flags.CacheDir = None, json: flags.Json = None) -> None:
    """Show what is kept, where, and within which bounds."""
    from factloop.cli.cache import run_show
    from factloop.setup.settings import RunSettings

    raise typer.Exit(run_show(settings_given(RunSettings, {"cache_dir": cache_dir}), json))


def clear(
    answers: Annotated[bool, typer.Option("--answers", help="Only answers already paid for.")] = False,
    indexes: Annotated[bool, typer.Option("--indexes", help="Only indexes of documents and word vectors.")] = False,
    cache_dir: flags.CacheDir = None,
    json: flags.Json = None,
) -> None:
    """Remove what is kept, but for what another process uses."""
    from factloop.cli.cache import run_clear
    from factloop.setup.settings import RunSettings

    given = settings_given(RunSettings, {"cache_dir": cache_dir})
    raise typer.Exit(run_clear(given, json, answers=answers, indexes=indexes))
