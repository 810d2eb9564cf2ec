"""Renders reports as self-contained HTML pages that load no other files and show untrusted content only as text."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from factloop.reports import figures
from factloop.reports.visible import direction, visible, web_address

if TYPE_CHECKING:
    from jinja2 import Environment

LONGEST_READING = 400
"""Maximum number of characters shown of a response in a list. The details show longer responses in full."""
SHARED = "factloop.reports"  # the package whose `pages` folder contains the templates that all pages share
_FOLDER = "pages"
_STYLES = ("base.css",)
_SCRIPTS = ("page.js",)  # scripts used by every page


@dataclass(frozen=True)
class Filter:
    """A button that reduces a list to the `count` items whose `data-filters` include `key`."""

    key: str
    words: str
    sign: str
    tone: str
    count: int


def render_page(
    template: str, *, room: str = SHARED, styles: Iterable[str] = (), scripts: Iterable[str] = (), **context: Any
) -> str:
    """Renders a template with its context. The result depends only on the arguments.

    Templates, styles and scripts are in the `pages` folder of the package `room` or `SHARED`. Styles and scripts follow
    the shared ones; they are inlined and listed by hash in the page's content security policy.
    """
    style, script = _joined(room, (*_STYLES, *styles)), _joined(room, (*_SCRIPTS, *scripts))
    return (
        environment(room)
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
def environment(room: str = SHARED) -> Environment:
    """Returns a template environment that escapes all values and raises an error for undefined names."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined  # late: few commands create pages

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package, package_path=_FOLDER) for package in _packages(room)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(visible=visible, direction=direction, web_address=web_address)
    environment.globals.update(figures=figures, LONGEST_READING=LONGEST_READING)
    return environment


def _joined(room: str, names: Iterable[str]) -> str:
    return "".join(_text(room, name) for name in names)


def _text(room: str, name: str) -> str:
    places = [files(package).joinpath(_FOLDER, name) for package in _packages(room)]
    return next(place for place in places if place.is_file()).read_text(encoding="utf-8")


def _packages(room: str) -> tuple[str, ...]:
    return (SHARED,) if room == SHARED else (room, SHARED)


def _csp_hash(text: str) -> Markup:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return Markup(f"'sha256-{base64.b64encode(digest).decode('ascii')}'")
