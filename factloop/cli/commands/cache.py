"""`factloop cache`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from factloop.cli import flags
from factloop.cli.setting_flags import settings_given, with_settings
from factloop.setup.settings import RunSettings


@with_settings(RunSettings, "cache_dir")
def show(json: flags.Json = None, **settings: Any) -> None:
    """Show what is kept, where, and within which bounds."""
    from factloop.cli.cache import run_show

    raise typer.Exit(run_show(settings_given(RunSettings, settings), json))


@with_settings(RunSettings, "cache_dir")
def clear(
    answers: Annotated[bool, typer.Option("--answers", help="Only answers already paid for.")] = False,
    indexes: Annotated[bool, typer.Option("--indexes", help="Only indexes of documents and word vectors.")] = False,
    json: flags.Json = None,
    **settings: Any,
) -> None:
    """Remove what is kept, but for what another process uses."""
    from factloop.cli.cache import run_clear

    given = settings_given(RunSettings, settings)
    raise typer.Exit(run_clear(given, json, answers=answers, indexes=indexes))
