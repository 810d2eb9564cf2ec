"""Keeps secrets out of saved files: the values of variables named like keys, and text that looks like a key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

HIDDEN = "[secret]"
SHORTEST = 8
"""Minimum length of a secret. Shorter values ("none", "EMPTY") are not keys, and hiding them would garble the text."""

_NAMES = re.compile(
    r"(?:^|_)(?:(?:API)?KEYS?|KEY_ID|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?)$", re.IGNORECASE
)
_LOOKS = re.compile(
    r"(?<=://)[^/\s@]+(?=@)"  # user:password@ in a URL
    r"|\bsk-[A-Za-z0-9_-]{20,}"
    r"|(?<=\bBearer )[A-Za-z0-9._~+/-]{16,}=*"
)


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the values (and comma-separated parts) of variables named like keys or passwords, longest first."""
    values = [value for name, value in environment.items() if _NAMES.search(name)]
    found = {part.strip() for value in values for part in (value, *value.split(","))}
    return tuple(sorted((value for value in found if len(value) >= SHORTEST), key=lambda value: (-len(value), value)))


def scrubbed(value: Any, secrets: Iterable[str]) -> Any:
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, HIDDEN)
        return _LOOKS.sub(HIDDEN, value)
    if isinstance(value, Mapping):
        return {scrubbed(str(key), secrets): scrubbed(item, secrets) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [scrubbed(item, secrets) for item in value]
    return value
