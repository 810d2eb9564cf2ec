"""Flags that give each of several systems the model behind it: `SYSTEM=MODEL`, and `SYSTEM=URL` for its server."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.cli.pairs import pairs_given
from factloop.core.errors import ConfigError
from factloop.tools.calls.urls import checked_base_url
from factloop.trust.settings import SubjectModel


def models_given(flag: str, named: Sequence[str], url_flag: str, urls: Sequence[str]) -> dict[str, SubjectModel]:
    """System to the model behind it. Raises ConfigError for what is no pair, and for an address without a model."""
    models = pairs_given(flag, named, "SYSTEM=MODEL, such as llama-7b=openai:llama-7b")
    addresses = pairs_given(url_flag, urls, "SYSTEM=URL, such as llama-7b=http://localhost:8000/v1")
    strange = [system for system in addresses if system not in models]
    if strange:
        raise ConfigError(f"{url_flag} {strange[0]}: it has no {flag}")
    return {
        system: SubjectModel(model, checked_base_url(addresses[system], url_flag) if system in addresses else None)
        for system, model in models.items()
    }
