"""Prepares a command's settings. Warns about unused prompts, and asks before downloading a judge's weights."""

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
from factloop.reports.visible import visible
from factloop.setup.settings import CheckSettings, RunSettings
from factloop.tools.calls.urls import checked_base_url
from factloop.trust.settings import SubjectModel, TrustSettings

if TYPE_CHECKING:
    from factloop.tools.judges.hub import Source

_OF_CHECKS_ALONE = frozenset({"temperature", "embeddings"})
"""Flags that have another meaning or default for TrustScore."""

S = TypeVar("S", bound=CheckSettings)
R = TypeVar("R", bound=RunSettings)


def with_leave_to_fetch(settings: S) -> S:
    """Asks to download the judge's weights if they are missing. Raises ConfigError unless the user agrees."""
    source = _missing(settings)
    if source is None:
        return settings
    weights = f"{source.wanted[0].repo} from huggingface.co ({source.size})"
    if settings.allow_download:
        note(f"downloading {weights}; this is needed only once")
        return settings
    if not agreed(f"The weights of {settings.judge} are not on this machine: {weights}.", "Download them now?"):
        raise ConfigError(source.refusal)
    return settings.model_copy(update={"allow_download": True})


def agreed(said: str, question: str) -> bool:
    """Asks the user, or returns False if there is no terminal."""
    messages = messages_console()
    if not (sys.stdin.isatty() and messages.is_terminal):
        return False
    messages.print(visible(said), soft_wrap=True)
    return messages.input(f"{question} [y/N] ", markup=False).strip().lower() in ("y", "yes")


def _missing(settings: CheckSettings) -> Source | None:
    """The source of the judge's weights, if they are missing and no other error takes precedence."""
    from factloop.tools.judges.build import parse_spec
    from factloop.tools.judges.hub import JUDGES, Source

    beside_a_model = settings.model is not None and settings.cascade is None  # `--judge` is rejected later
    if settings.judge is None or beside_a_model:
        return None
    spec = parse_spec(settings.judge)
    if spec.kind not in JUDGES or spec.calls is not None or not has_packages("torch", "transformers"):
        return None
    source = Source(spec.kind, spec.target)
    return source if source.missing() else None


def note_unsent_prompts(folder: Path | None, models: Iterable[object], *, remedy: str = "--model") -> None:
    """Warns that a folder of prompts has no effect without a model, which the flags in `remedy` set."""
    if folder is not None and not any(models):
        note(f"`--prompts {folder}` has no effect, because prompts are sent only to models: also set {remedy}")


def note_unsent_prompts_of_check(settings: CheckSettings) -> None:
    """Warns about prompts that a check ignores because it has no model or follows another plan."""
    note_unsent_prompts(settings.prompts, [settings.model])
    if settings.prompts is None or settings.model is None:
        return
    from factloop.checking.preparing import unsent_prompts

    for said, needed in unsent_prompts(settings):
        flags = [f"--plan {needed.pop('plan')}", *(f"--set {name}={value}" for name, value in needed.items())]
        note(f"--prompts {settings.prompts}: {said}; use `{' '.join(flags)}`")


def server_settings(flags: Mapping[str, Any]) -> tuple[CheckSettings, TrustSettings]:
    """The settings of a server that offers checks and TrustScores. Raises ConfigError."""
    check = with_leave_to_fetch(_settings(CheckSettings, flags))
    trust = _settings(TrustSettings, {name: value for name, value in flags.items() if name not in _OF_CHECKS_ALONE})
    if check.model is None and trust.subject_model is not None:
        check = check.model_copy(update={"base_url": None})  # the URL is that of the subject
    models = check.model, trust.subject_model, trust.judge_model
    note_unsent_prompts(check.prompts, models, remedy="--model, --subject-model or --judge-model")
    return check, trust


def _settings(kind: type[R], flags: Mapping[str, Any]) -> R:
    return load_settings(kind, {name: value for name, value in flags.items() if name in kind.model_fields})


def models_of_systems(flag: str, given: Sequence[str]) -> dict[str, SubjectModel]:
    """Parses `SYSTEM=MODEL` and `SYSTEM=MODEL@URL`. Raises ConfigError for anything else."""
    models = {}
    for system, text in pairs_given(flag, given, "SYSTEM=MODEL, such as llama=openai:llama-7b@http://host/v1").items():
        model, mark, address = text.partition("@http")
        models[system] = SubjectModel(model, checked_base_url(f"http{address}", flag) if mark else None)
    return models
