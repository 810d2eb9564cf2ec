"""The settings of the service itself. Those of checks and scores are in `CheckSettings` and `TrustSettings`."""

from __future__ import annotations

import ipaddress
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from pydantic import ConfigDict, ValidationError

from factloop.core.errors import ConfigError
from factloop.entrance.address import Binding, in_brackets, is_loopback
from factloop.entrance.keys import ApiKeys
from factloop.entrance.serving import ServeSettings
from factloop.setup.settings import describe

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")  # matches the name of registered documents or results


class ServiceSettings(ServeSettings):
    """The operator's settings, the API keys, and timeouts that only tests change. Raises ConfigError."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    keys: ApiKeys = ApiKeys()
    lease_s: float = 10.0
    """After this many seconds, other services that share the database take over a dead service's jobs."""
    body_timeout_s: float = 20.0
    """The whole request must arrive within this time."""
    header_timeout_s: float = 10.0
    """The headers of a new connection's first request must arrive within this time."""
    heartbeat_s: float = 15.0
    """An idle event stream gets a comment this often, which keeps it open."""
    stop_timeout_s: float = 10.0
    """Time for responses in progress to finish when the service stops."""

    def __init__(self, **given: Any) -> None:
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise ConfigError(describe(error, type(self).model_fields)) from error
        _ = self.binding, self.paths_of_documents
        self._refuse_wrong_proxy()

    @property
    def drain_s(self) -> float:
        """Time for calls and files in progress to finish when the service stops. The rest is for saving."""
        return 0.7 * self.stop_timeout_s

    @property
    def binding(self) -> Binding:
        return Binding(host=self.host, port=self.port, keys=self.keys)

    @property
    def paths_of_documents(self) -> Mapping[str, tuple[str, ...]]:
        """Maps callers' names for documents to files, folders and globs. A repeated name refers to all its paths."""
        found: defaultdict[str, tuple[str, ...]] = defaultdict(tuple)
        for one in self.documents:
            name, _, path = one.partition("=")
            if not NAME.fullmatch(name) or not path:
                raise ConfigError(
                    f"--documents {one}: must be NAME=PATH; a name may contain letters, digits, '.', '_' and '-'"
                )
            found[name] += (path,)
        return found

    def share_of(self, places: int) -> int | None:
        """How many of `places` one key may take. None (no limit) if there are fewer than two keys."""
        return max(1, int(self.max_share * places)) if len(self.keys.grants) > 1 else None

    def _refuse_wrong_proxy(self) -> None:
        for one in self.trusted_proxy:
            try:
                ipaddress.ip_network(one, strict=False)
            except ValueError as error:
                raise ConfigError(f"trusted_proxy = {one}: must be an address or network such as 10.0.0.0/8") from error
        if self.public_url is None:
            return
        try:
            parts = urlsplit(self.public_url)
            is_right = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            is_right = False
        if not is_right or parts.query or parts.fragment or parts.username is not None:
            raise ConfigError(f"public_url = {self.public_url}: must be https://HOST or https://HOST/PATH")
        if not self.keys and not is_loopback(self.public_host):
            raise ConfigError(
                f"public_url {self.public_url}: others could reach the service, so set a key (--api-key-file or "
                "FACTLOOP_SERVICE_KEYS)"
            )

    @property
    def public_host(self) -> str:
        """The host of the public URL, in lower case and with IPv6 in brackets, or ""."""
        return "" if self.public_url is None else in_brackets(urlsplit(self.public_url).hostname or "")

    @property
    def public_origin(self) -> str:
        """The scheme, host and port of the public URL, as browsers send them, or ""."""
        if self.public_url is None:
            return ""
        parts = urlsplit(self.public_url)
        usual = {"http": 80, "https": 443}[parts.scheme]
        port = "" if parts.port in (None, usual) else f":{parts.port}"
        return f"{parts.scheme}://{self.public_host}{port}"

    @property
    def public_path(self) -> str:
        """The path prefix of the public URL, without a trailing slash, or ""."""
        return "" if self.public_url is None else urlsplit(self.public_url).path.rstrip("/")
