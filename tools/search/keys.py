"""The key of a search provider, from the caller or the provider's own variable."""

from __future__ import annotations

import os

from pydantic import SecretStr

from factloop.core.errors import ConfigError


def key_of(tool: str, given: SecretStr | None, variable: str, site: str) -> str:
    """The key, without spaces around it. Raises ConfigError where there is none, or no HTTP header can carry it.

    `site` is where keys are given out.
    """
    key = given.get_secret_value() if given else os.environ.get(variable, "")
    if not key.strip():
        raise ConfigError(f"{tool} needs a key: set {variable} (one is given out at {site})")
    if not (key.isascii() and key.strip().isprintable()):
        raise ConfigError(f"the key in {variable} holds characters that no HTTP header can carry")
    return key.strip()
