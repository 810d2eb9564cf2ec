"""Reads callers' keys from a file or the environment, stores them as hashes, and compares them in constant time."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from factloop.core.errors import ConfigError
from factloop.entrance.serving import Calls, Dollars
from factloop.setup.settings import describe

VARIABLE = "FACTLOOP_SERVICE_KEYS"
SHORTEST = 16
"""Minimum length of a key in characters; a shorter one could be guessed."""
NO_OWNER = ""
"""The owner of all requests if no key is required."""


class Grant(BaseModel):
    """The options that follow a key on its line: `KEY name=acme weight=2 budget_usd_per_day=5
    max_calls_per_day=1000`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")] = ""
    """The name of the key in the request log; by default, the first digits of its hash."""
    weight: Annotated[float, Field(ge=0.001, le=1_000)] = 1.0
    """Number of turns it gets for each turn of a key with weight 1."""
    budget_usd_per_day: Dollars | None = None
    max_calls_per_day: Calls | None = None


class ApiKeys:
    """The API keys of a server. Without keys, the server is open to all callers, who count as one owner."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        """Takes keys, each optionally followed by the options of its `Grant`. Raises ConfigError for a key that is too
        short, cannot be sent in a header, or is given twice.
        """
        grants: dict[str, Grant] = {}
        for number, line in enumerate(keys, 1):
            key, *values = line.split(" ")
            if len(key) < SHORTEST or not key.isascii() or not key.isprintable():
                raise ConfigError(f"API key {number}: needs at least {SHORTEST} printable ASCII characters, no spaces")
            if _hash(key) in grants:
                earlier = list(grants).index(_hash(key)) + 1
                raise ConfigError(f"API key {number}: the same as API key {earlier}; give each once")
            given = {name: text for name, _, text in (value.partition("=") for value in values if value)}
            try:
                grants[_hash(key)] = Grant.model_validate({"name": _hash(key)[:8], **given})
            except ValidationError as error:
                raise ConfigError(f"API key {number}: {describe(error, Grant.model_fields)}") from error
        self._hashes = tuple(grants)
        self.grants = {_owner(hashed): grant for hashed, grant in grants.items()} or {NO_OWNER: Grant()}
        """The grant of each owner that `owner` can return."""
        self._secret = secrets.token_hex(32)

    def __bool__(self) -> bool:
        return bool(self._hashes)

    def owner(self, authorization: str | None) -> str | None:
        """The owner for a header `Authorization: Bearer KEY`, as a hash. None if the key is unknown."""
        if not self._hashes:
            return NO_OWNER
        scheme, _, key = (authorization or "").partition(" ")
        given = _hash(key.strip())
        matches = [hmac.compare_digest(given, known) for known in self._hashes]  # with all, in constant time
        return _owner(given) if any(matches) and scheme.lower() == "bearer" else None

    def sign(self, owner: str, text: str) -> str:
        """A signature that requires the owner's key and is the same in every process that has this key."""
        key = next((known for known in self._hashes if _owner(known) == owner), self._secret)
        return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


def read_keys(file: Path | None, environment: Mapping[str, str]) -> ApiKeys:
    """Reads keys from a file, one per line, or from FACTLOOP_SERVICE_KEYS (comma-separated). Raises ConfigError.

    Each key may be followed by options of its `Grant`.

    Blank lines and lines that start with # are ignored. An empty file is an error, not an open service.
    """
    if file is None:
        return ApiKeys(key.strip() for key in environment.get(VARIABLE, "").split(",") if key.strip())
    try:
        lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigError(f"--api-key-file {file}: cannot be read ({reason})") from error
    keys = [line for line in lines if line and not line.startswith("#")]
    if not keys:
        raise ConfigError(f"--api-key-file {file}: there is no key in it")
    return ApiKeys(keys)


def _owner(hashed: str) -> str:
    return hashed[:32]


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def key_refusal(header: str | None) -> str:
    """The message to a caller whose `Authorization` header has no known key."""
    scheme, _, key = (header or "").strip().partition(" ")
    if scheme.lower() == "bearer" and key.strip():
        return "the key is wrong: this server has no such key"
    return "a key is needed: Authorization: Bearer KEY"
