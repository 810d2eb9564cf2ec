"""Validates server URLs, and removes credentials from them before they are displayed or saved."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit, urlunsplit

from factloop.core.errors import ConfigError


def is_base_url(url: str) -> bool:
    """Whether this is an http or https URL with a host."""
    if not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # the URL has an unclosed bracket or an invalid port
        return False


def checked_base_url(url: str, named: str) -> str:
    """Returns the URL without a trailing slash. Raises a ConfigError that mentions `named` if it is invalid."""
    if not is_base_url(url):
        raise ConfigError(f"{named} must be an http:// or https:// address, not {without_userinfo(url)!r}")
    return url.rstrip("/")


def is_nearby(url: str) -> bool:
    """Whether the URL alone shows that its host is this machine or on a private network."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    try:
        address = ip_address(host)
    except ValueError:
        return bool(host) and ("." not in host or host.endswith((".local", ".internal", ".localhost")))
    return address.is_private or address.is_loopback


def without_userinfo(url: str) -> str:
    """Returns the URL without `user:password@`, for messages and cache keys."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
