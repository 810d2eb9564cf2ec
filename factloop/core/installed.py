"""What is installed: versions, each read once, as every report names half a dozen, and how to install more."""

from __future__ import annotations

import importlib.metadata
import json
from functools import cache
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname


@cache
def installed_version(distribution: str) -> str:
    """Raises `importlib.metadata.PackageNotFoundError` where it is not installed."""
    return importlib.metadata.version(distribution)


def install_command(extra: str, of: importlib.metadata.Distribution | None = None) -> str:
    """The command that adds an extra of factloop to this installation, from where that came.

    pip notes the origin of what came from no index: to ask an index for it would find nothing, or another's package.
    """
    return f"pip install {_wanted(extra, _origin(of))}"


def _origin(of: importlib.metadata.Distribution | None) -> dict[str, Any]:
    """What `direct_url.json` says of the installation (PEP 610); empty for one from an index, and where nothing is."""
    try:
        noted = (of or importlib.metadata.distribution("factloop")).read_text("direct_url.json")
        origin = json.loads(noted or "{}")
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return {}
    return origin if isinstance(origin, dict) and isinstance(origin.get("url"), str) else {}


def _wanted(extra: str, origin: dict[str, Any]) -> str:
    url = origin.get("url", "")
    if "dir_info" in origin:
        folder = f"'{url2pathname(urlsplit(url).path)}[{extra}]'"
        return f"-e {folder}" if origin["dir_info"].get("editable") else folder
    if "vcs_info" in origin:
        return f"'factloop[{extra}] @ {origin['vcs_info'].get('vcs', 'git')}+{url}'"
    return f"'factloop[{extra}] @ {url}'" if url else f"'factloop[{extra}]'"
