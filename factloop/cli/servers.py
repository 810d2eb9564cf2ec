"""The settings of commands that serve: checks and scores, both set by the flags of one command line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from factloop.cli.setting_flags import settings_given
from factloop.cli.unsent_prompts import note_unsent_prompts
from factloop.entrance.settings_sources import load_settings
from factloop.setup.settings import CheckSettings, RunSettings
from factloop.trust.settings import TrustSettings

_OF_CHECKS_ALONE = frozenset({"temperature", "embeddings"})
"""Flags whose settings TrustScore has, too, with a meaning or a default of its own."""

S = TypeVar("S", bound=RunSettings)


def server_settings(flags: Mapping[str, Any]) -> tuple[CheckSettings, TrustSettings]:
    """The settings of checks, and those of scores; warns of prompts that no model is sent. Raises ConfigError."""
    check = _settings(CheckSettings, flags)
    trust = _settings(TrustSettings, {name: value for name, value in flags.items() if name not in _OF_CHECKS_ALONE})
    if check.model is None and trust.subject_model is not None:
        check = check.model_copy(update={"base_url": None})  # it is the subject's
    models = check.model, trust.subject_model, trust.judge_model
    note_unsent_prompts(check.prompts, models, remedy="--model, --subject-model or --judge-model")
    return check, trust


def _settings(kind: type[S], flags: Mapping[str, Any]) -> S:
    return load_settings(kind, settings_given(kind, flags), os.environ, Path.cwd())
