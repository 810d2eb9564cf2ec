"""Pages that load nothing: style and script stand inline and are named by hash in the content security policy."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from factloop.evaluation.reports import figures, trust_figures, trust_words
from factloop.evaluation.reports.status import status_of, status_words
from factloop.evaluation.reports.visible import direction, visible, web_address

_HERE = "factloop.evaluation.reports"
_STYLES = ("base.css", "trust.css")
_SCRIPTS = ("trust.js",)

_USAGE_COLUMNS = (
    "Stage",
    "Calls",
    "Failed",
    "Cache hits",
    "Prompt tokens",
    "Completion tokens",
    "Searches",
    "Cost",
    "Time",
)


def render_page(template: str, **context: Any) -> str:
    """The page that a template makes of its context. Equal contexts give equal pages: no clock, no environment."""
    style, script = "".join(map(_read, _STYLES)), "".join(map(_read, _SCRIPTS))
    return (
        environment()
        .get_template(template)
        .render(
            style=Markup(style),
            script=Markup(script),
            style_hash=_csp_hash(style),
            script_hash=_csp_hash(script),
            **context,
        )
    )


def _read(name: str) -> str:
    return files(_HERE).joinpath("pages", name).read_text(encoding="utf-8")


def _csp_hash(text: str) -> Markup:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return Markup(f"'sha256-{base64.b64encode(digest).decode('ascii')}'")


@cache
def environment() -> Environment:
    """Escapes everything, and fails where a template names what it was not given."""
    environment = Environment(
        loader=PackageLoader(_HERE, package_path="pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        visible=visible, direction=direction, web_address=web_address, status=status_of, status_words=status_words
    )
    environment.globals.update(figures=figures, trust=trust_figures, words=trust_words, USAGE_COLUMNS=_USAGE_COLUMNS)
    return environment
