"""Says where prompts of one's own change nothing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from factloop.cli.exits import messages_console


def note_unsent_prompts(folder: Path | None, models: Iterable[str | None], *, remedy: str = "--model") -> None:
    """Warns in one line of a folder of prompts where none of the models is named: nothing else is sent a prompt.

    `remedy`: the flags that name a model.
    """
    if folder is not None and not any(models):
        said = f"without a model no prompt is sent, so these change nothing: give {remedy}"
        messages_console().print(f"factloop: --prompts {folder}: {said}", soft_wrap=True)
