"""Keys of callers: read from a file or the environment, kept as hashes, compared in constant time."""

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
"""Characters of a key: a shorter one could be guessed."""
NO_OWNER = ""
"""The owner of what is asked for where no key is needed."""


class Grant(BaseModel):
    """What stands behind a key in its line: `KEY name=acme weight=2 budget_usd_per_day=5 max_calls_per_day=1000`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")] = ""
    """Stands for the key in the log's line on each request; by default the first digits of its hash."""
    weight: Annotated[float, Field(ge=0.001, le=1_000)] = 1.0
    """How many turns it gets for one turn of a key of weight 1."""
    budget_usd_per_day: Dollars | None = None
    max_calls_per_day: Calls | None = None


class ApiKeys:
    """The API keys of a server. A server without keys is open to all callers, as one owner."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        """Keys, each perhaps with the values of its `Grant`. Raises ConfigError for a key that is too short, is not
        allowed in a header, or is given twice.
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
        """What each owner is given: all names that `owner` may return."""
        self._secret = secrets.token_hex(32)

    def __bool__(self) -> bool:
        return bool(self._hashes)

    def owner(self, authorization: str | None) -> str | None:
        """The owner's name for a header `Authorization: Bearer KEY`: a hash. None where the key is unknown."""
        if not self._hashes:
            return NO_OWNER
        scheme, _, key = (authorization or "").partition(" ")
        given = _hash(key.strip())
        matches = [hmac.compare_digest(given, known) for known in self._hashes]  # always all, for constant time
        return _owner(given) if any(matches) and scheme.lower() == "bearer" else None

    def sign(self, owner: str, text: str) -> str:
        """A signature that takes the owner's key: the same in every process that has it."""
        key = next((known for known in self._hashes if _owner(known) == owner), self._secret)
        return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


def read_keys(file: Path | None, environment: Mapping[str, str]) -> ApiKeys:
    """The keys of a file, one in a line, or those in FACTLOOP_SERVICE_KEYS, separated by commas. Raises ConfigError.

    Behind each may stand values of its `Grant`.

    Blank lines, and lines that begin with #, are ignored. An empty file is an error, not an open service.
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
    """What a caller is told whose header `Authorization` has no known key."""
    scheme, _, key = (header or "").strip().partition(" ")
    if scheme.lower() == "bearer" and key.strip():
        return "the key is wrong: this server has no such key"
    return "a key is needed: Authorization: Bearer KEY"
