"""Says where a check sends prompts of one's own to no model, or follows another plan than theirs."""

from __future__ import annotations

from factloop.checking.estimate import plan_of
from factloop.checking.preparing import plan_of_prompt
from factloop.cli.exits import messages_console
from factloop.cli.unsent_prompts import note_unsent_prompts
from factloop.prompts.registry import PromptRegistry
from factloop.setup.settings import CheckSettings


def note_unsent_prompts_of_check(settings: CheckSettings) -> None:
    """Warns of prompts that a check by these settings sends to no model, or that are of another plan than its own."""
    note_unsent_prompts(settings.prompts, [settings.model])
    if settings.prompts is None or settings.model is None:
        return
    plan = plan_of(settings)
    for name in sorted(PromptRegistry.load(settings.prompts).own):
        other = plan_of_prompt(name)
        if other is not None and other != plan:
            falls_back = (plan, other) == ("grounded", "fused")
            when = "sends it only where a reply to its own cannot be used" if falls_back else "sends others"
            said = f"{name} is of the plan {other}, and this check follows {plan}, which {when}: give --plan {other}"
            messages_console().print(f"factloop: --prompts {settings.prompts}: {said}", soft_wrap=True)
