"""Callers' API keys, which are stored as hashes and compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from factloop.core.errors import ConfigError, DataError
from factloop.core.files.lines import read_given
from factloop.entrance.serving import Calls, Dollars
from factloop.setup.settings import describe

VARIABLE = "FACTLOOP_SERVICE_KEYS"
SHORTEST = 16  # minimum length of a key in characters; shorter keys could be guessed
NO_OWNER = ""  # the owner of all requests if no keys are required
LOOK_EVERY_S = 1.0

log = logging.getLogger(__name__)


class Grant(BaseModel):
    """The options that can follow a key: `KEY name=acme weight=2 budget_usd_per_day=5 max_calls_per_day=1000`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")] = ""
    """The caller, who owns all jobs requested with the key. Default: the first digits of the key's hash."""
    weight: Annotated[float, Field(ge=0.001, le=1_000)] = 1.0
    """How many turns the caller gets for each turn of a caller with weight 1."""
    budget_usd_per_day: Dollars | None = None
    max_calls_per_day: Calls | None = None


class ApiKeys:
    """Keys with the same name belong to one caller, and each key without a name to a caller of its own. Without any
    keys, the server is open to everyone."""

    def __init__(self, keys: Iterable[str] = (), file: Path | None = None) -> None:
        """Each key may be followed by the options of a `Grant`.

        Raises ConfigError if a key is too short, cannot be sent in a header or is repeated, or if keys with the same
        name have different options.
        """
        self.grants: Mapping[str, Grant]
        """The grants of all current owners. Replaced when the keys change."""
        self.names: dict[str, str] = {}
        """The names of all owners, including earlier ones, in logs and metrics."""
        self._secret = secrets.token_hex(32)
        self._refuse: Callable[[Grant], None] = lambda _: None
        self._file, self._stamp, self._looked_s = file, None if file is None else _stamp(file), time.monotonic()
        self._take(keys if file is None else _lines(file))

    def hold_to(self, refuse: Callable[[Grant], None]) -> None:
        """Calls `refuse`, which may raise ConfigError, with every present and future grant."""
        for grant in self.grants.values():
            refuse(grant)
        self._refuse = refuse

    def __len__(self) -> int:
        return len(self._owners)

    def owner(self, authorization: str | None) -> str | None:
        """The owner (a hash) for an `Authorization: Bearer KEY` header, or None if the key is unknown."""
        self.refresh()
        if not self._owners:
            return NO_OWNER
        scheme, _, key = (authorization or "").partition(" ")
        given = _hash(key.strip())  # compared with every key, in constant time
        matches = [owner for known, owner in self._owners.items() if hmac.compare_digest(given, known)]
        return matches[0] if matches and scheme.lower() == "bearer" else None

    def sign(self, owner: str, text: str) -> list[str]:
        """One signature per key of the owner. The same keys give the same signatures in every process."""
        theirs = [known for known, whose in self._owners.items() if whose == owner] or [self._secret]
        return [hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest() for key in theirs]

    def refresh(self) -> None:
        """Reads the file again if it has changed, but not within the last second, because it may be incomplete then. If
        the file is invalid, the earlier keys stay valid."""
        if self._file is None or time.monotonic() - self._looked_s < LOOK_EVERY_S:
            return
        self._looked_s, stamp = time.monotonic(), _stamp(self._file)
        if stamp == self._stamp or (stamp is not None and abs(time.time() - stamp[0] / 1e9) < LOOK_EVERY_S):
            return
        self._stamp, before = stamp, self._owners.keys()
        try:
            self._take(_lines(self._file))
        except ConfigError as error:
            log.warning("the earlier keys stay valid: %s", error)
            return
        now = self._owners.keys()
        log.info("%s: reloaded (keys added: %d, keys removed: %d)", self._file, len(now - before), len(before - now))

    def _take(self, lines: Iterable[str]) -> None:
        owners: dict[str, str] = {}
        grants: dict[str, Grant] = {}
        for number, line in enumerate(lines, 1):
            key, *values = line.split(" ")
            hashed = _hash(key)
            if len(key) < SHORTEST or not key.isascii() or not key.isprintable():
                raise ConfigError(
                    f"API key {number} must have at least {SHORTEST} printable ASCII characters and no spaces"
                )
            if hashed in owners:
                earlier = list(owners).index(hashed) + 1
                raise ConfigError(f"API key {number} is the same as API key {earlier}; remove one of them")
            given = {name: text for name, _, text in (value.partition("=") for value in values if value)}
            try:
                grant = Grant.model_validate(given)
            except ValidationError as error:
                raise ConfigError(f"API key {number}: {describe(error, Grant.model_fields)}") from error
            owner = owners[hashed] = (_hash(f"name {grant.name}") if grant.name else hashed)[:32]  # no key has spaces
            if grants.setdefault(owner, grant) != grant:
                earlier = list(owners.values()).index(owner) + 1
                raise ConfigError(
                    f"API key {number} and API key {earlier} have the same name but different options: use the same "
                    "options or different names"
                )
        for grant in grants.values():
            self._refuse(grant)
        self._owners, self.grants = owners, grants or {NO_OWNER: Grant()}
        self.names |= {owner: grant.name or (owner and f"sha256:{owner[:8]}") for owner, grant in self.grants.items()}


def read_keys(file: Path | None, environment: Mapping[str, str]) -> ApiKeys:
    """Reads keys from a file, one per line, or from FACTLOOP_SERVICE_KEYS.

    Ignores blank lines and lines that start with #. Raises ConfigError if keys are invalid, or if the file has none,
    because the service would then be open to everyone.
    """
    return ApiKeys(filter(None, map(str.strip, environment.get(VARIABLE, "").split(","))), file)


def _lines(file: Path) -> list[str]:
    try:
        lines = [line.strip() for line in read_given(file).decode().splitlines()]
    except (DataError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read --api-key-file {file} ({error.reason})") from error
    keys = [line for line in lines if line and not line.startswith("#")]
    if not keys:
        raise ConfigError(f"--api-key-file {file} contains no keys: write one key per line, or omit --api-key-file")
    return keys


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def key_refusal(header: str | None) -> str:
    scheme, _, key = (header or "").strip().partition(" ")
    if scheme.lower() == "bearer" and key.strip():
        return "the key is not valid for this server"
    return "an API key is required: send the header `Authorization: Bearer KEY`"
