"""Says where prompts of one's own change nothing."""

from __future__ import annotations

from rich.console import Console

from factloop.setup.settings import CheckSettings


def note_unsent_prompts(settings: CheckSettings, messages: Console) -> None:
    """Warns in one line of a folder of prompts without a model: the offline engine sends none."""
    if settings.prompts is not None and settings.model is None:
        said = "without a model no prompt is sent, so these change nothing: give --model"
        messages.print(f"factloop: --prompts {settings.prompts}: {said}", soft_wrap=True)
