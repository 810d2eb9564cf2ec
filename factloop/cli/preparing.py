"""What commands do with their settings before they work: warn of prompts that go nowhere, ask for a judge's weights."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from factloop.cli.console import messages_console, note
from factloop.cli.inputs import pairs_given
from factloop.core.errors import ConfigError
from factloop.core.extras import has_packages
from factloop.entrance.settings_sources import load_settings
from factloop.setup.settings import CheckSettings, RunSettings
from factloop.tools.calls.urls import checked_base_url
from factloop.trust.settings import SubjectModel, TrustSettings

if TYPE_CHECKING:
    from factloop.tools.judges.hub import Source

_OF_CHECKS_ALONE = frozenset({"temperature", "embeddings"})
"""Flags whose settings TrustScore has, too, with a meaning or a default of its own."""

S = TypeVar("S", bound=CheckSettings)
R = TypeVar("R", bound=RunSettings)


def with_leave_to_fetch(settings: S) -> S:
    """The settings, with leave to fetch the judge's weights where they are missing and the user says yes.

    Raises ConfigError where no one can be asked, and for a no: with the line that says how to go on.
    """
    source = _missing(settings)
    if source is None:
        return settings
    messages = messages_console()
    weights = f"{source.wanted[0].repo} from huggingface.co ({source.size})"
    if settings.allow_download:
        note(f"downloading {weights}, once")
        return settings
    if not (sys.stdin.isatty() and messages.is_terminal):
        raise ConfigError(source.refusal)
    messages.print(f"The judge {settings.judge} is not on this machine: {weights}.", soft_wrap=True)
    if messages.input("Download it now? [y/N] ", markup=False).strip().lower() not in ("y", "yes"):
        raise ConfigError(source.refusal)
    return settings.model_copy(update={"allow_download": True})


def _missing(settings: CheckSettings) -> Source | None:
    """The weights that the judge lacks; None where it lacks none, and where another error comes first."""
    from factloop.tools.judges.build import parse_spec
    from factloop.tools.judges.hub import JUDGES, Source

    beside_a_model = settings.model is not None and settings.cascade is None  # which is refused
    if settings.judge is None or beside_a_model:
        return None
    spec = parse_spec(settings.judge)
    if spec.kind not in JUDGES or spec.calls is not None or not has_packages("torch", "transformers"):
        return None
    source = Source(spec.kind, spec.target)
    return source if source.missing() else None


def note_unsent_prompts(folder: Path | None, models: Iterable[object], *, remedy: str = "--model") -> None:
    """Warns of a folder of prompts where none of the models is named: nothing else is sent a prompt.

    `remedy`: the flags that name a model.
    """
    if folder is not None and not any(models):
        note(f"--prompts {folder} has no effect, because without a model no prompt is sent: give {remedy}")


def note_unsent_prompts_of_check(settings: CheckSettings) -> None:
    """Warns of prompts that a check by these settings sends to no model, or that are of another plan than its own."""
    note_unsent_prompts(settings.prompts, [settings.model])
    if settings.prompts is None or settings.model is None:
        return
    from factloop.checking.estimate import plan_of
    from factloop.checking.preparing import PLAN_PROMPTS, plan_of_prompt
    from factloop.prompts.registry import PromptRegistry

    plan = plan_of(settings)
    for name in sorted(PromptRegistry.load(settings.prompts).own):
        other = plan_of_prompt(name)
        falls_back = (plan, other) == ("grounded", "fused")
        if other is not None and (falls_back or name not in PLAN_PROMPTS[plan]):
            when = "sends it only if a reply to its own prompts cannot be used" if falls_back else "sends other prompts"
            said = f"{name} belongs to the plan {other}; this check follows {plan}, which {when}: give --plan {other}"
            note(f"--prompts {settings.prompts}: {said}")


def server_settings(flags: Mapping[str, Any]) -> tuple[CheckSettings, TrustSettings]:
    """The settings of checks and those of scores, for a server of both. Raises ConfigError."""
    check = with_leave_to_fetch(_settings(CheckSettings, flags))
    trust = _settings(TrustSettings, {name: value for name, value in flags.items() if name not in _OF_CHECKS_ALONE})
    if check.model is None and trust.subject_model is not None:
        check = check.model_copy(update={"base_url": None})  # it is the subject's
    models = check.model, trust.subject_model, trust.judge_model
    note_unsent_prompts(check.prompts, models, remedy="--model, --subject-model or --judge-model")
    return check, trust


def _settings(kind: type[R], flags: Mapping[str, Any]) -> R:
    return load_settings(kind, {name: value for name, value in flags.items() if name in kind.model_fields})


def models_of_systems(flag: str, given: Sequence[str]) -> dict[str, SubjectModel]:
    """System to the model behind it, of flags `SYSTEM=MODEL` or `SYSTEM=MODEL@URL`. Raises ConfigError."""
    models = {}
    for system, text in pairs_given(flag, given, "SYSTEM=MODEL, such as llama=openai:llama-7b@http://host/v1").items():
        model, mark, address = text.partition("@http")
        models[system] = SubjectModel(model, checked_base_url(f"http{address}", flag) if mark else None)
    return models
