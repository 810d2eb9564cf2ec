"""Reports as self-contained HTML pages: nothing is loaded from elsewhere, and untrusted text stays text."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from factloop.evaluation.reports import figures
from factloop.evaluation.reports.status import status_of, status_words
from factloop.evaluation.reports.trust import figures as trust_figures
from factloop.evaluation.reports.trust import words as trust_words
from factloop.evaluation.reports.visible import direction, visible, web_address

LONGEST_READING = 400
"""Characters of a response in a list of answers; what is longer stands whole among its details."""
_HERE = "factloop.evaluation.reports"
_FOLDER = "pages"
_STYLES = ("base.css",)
_SCRIPTS = ("page.js",)
"""Every page has these."""


def render_page(template: str, *, styles: Iterable[str] = (), scripts: Iterable[str] = (), **context: Any) -> str:
    """The page that a template makes of its context, with these styles and scripts after those of every page.

    Both stand inline and are named by hash in the page's content security policy. Equal contexts give equal pages: no
    clock, no environment.
    """
    style, script = _joined((*_STYLES, *styles)), _joined((*_SCRIPTS, *scripts))
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


@cache
def environment() -> Environment:
    """Escapes everything, and fails where a template names what it was not given."""
    environment = Environment(
        loader=PackageLoader(_HERE, package_path=_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        visible=visible, direction=direction, web_address=web_address, status=status_of, status_words=status_words
    )
    environment.globals.update(figures=figures, trust=trust_figures, words=trust_words, LONGEST_READING=LONGEST_READING)
    return environment


def _joined(names: Iterable[str]) -> str:
    folder = files(_HERE).joinpath(_FOLDER)
    return "".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def _csp_hash(text: str) -> Markup:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return Markup(f"'sha256-{base64.b64encode(digest).decode('ascii')}'")
