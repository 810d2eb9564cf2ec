"""Reports as self-contained HTML pages: nothing is loaded from elsewhere, and untrusted text stays text."""

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
"""Characters of a response in a list of answers; what is longer stands whole among its details."""
SHARED = "factloop.reports"
"""The package whose folder of pages holds what pages share."""
_FOLDER = "pages"
_STYLES = ("base.css",)
_SCRIPTS = ("page.js",)
"""Scripts of every page."""


@dataclass(frozen=True)
class Filter:
    """A button that shows some items of a list: its key in their `data-filters`, and the number that have it."""

    key: str
    words: str
    sign: str
    tone: str
    count: int


def render_page(
    template: str,
    *,
    room: str = SHARED,
    styles: Iterable[str] = (),
    scripts: Iterable[str] = (),
    **context: Any,
) -> str:
    """The page that a template makes of its context, with these styles and scripts after those of every page.

    Templates, styles and scripts lie in the folder `pages` of the package `room`, or in the shared one.
    Both stand inline and are named by hash in the page's content security policy. Equal contexts give equal pages: no
    clock, no environment.
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
    """Escapes everything, and fails where a template names what it was not given."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined  # only now: most commands make no page

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
    """The packages whose folders hold parts of these pages, in the order of the search."""
    return (SHARED,) if room == SHARED else (room, SHARED)


def _csp_hash(text: str) -> Markup:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return Markup(f"'sha256-{base64.b64encode(digest).decode('ascii')}'")
