"""Keeps secrets out of what is written down: values of the environment that look like keys, and what looks like one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

HIDDEN = "[secret]"
SHORTEST = 8
"""Characters: shorter values ("none", "EMPTY") stand for no key, and hiding them would garble the text."""

_NAMES = re.compile(
    r"(?:^|_)(?:(?:API)?KEYS?|KEY_ID|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?)$", re.IGNORECASE
)
_LOOKS = re.compile(
    r"(?<=://)[^/\s@]+(?=@)"  # user:password@ of an address
    r"|\bsk-[A-Za-z0-9_-]{20,}"
    r"|(?<=\bBearer )[A-Za-z0-9._~+/-]{16,}=*"
)


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Values of the variables whose names end as those of keys, tokens and passwords do, and where a value is a list
    with commas its parts; the longest first."""
    values = [value for name, value in environment.items() if _NAMES.search(name)]
    found = {part.strip() for value in values for part in (value, *value.split(","))}
    return tuple(sorted((value for value in found if len(value) >= SHORTEST), key=lambda value: (-len(value), value)))


def scrubbed(value: Any, secrets: Iterable[str]) -> Any:
    """The same JSON value with each secret in its texts hidden, wherever they stand in it."""
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, HIDDEN)
        return _LOOKS.sub(HIDDEN, value)
    if isinstance(value, Mapping):
        return {scrubbed(str(key), secrets): scrubbed(item, secrets) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [scrubbed(item, secrets) for item in value]
    return value
