"""Draws figures with matplotlib, as SVG that is embedded in a page and uses the page's colours.

A page's content security policy forbids style attributes, and its colours depend on the theme. Styles therefore become
presentation attributes, in which each colour below stands for a variable in the page's style sheet. Text is not
converted to paths. An artist's group id (`artist.set_gid("of-3")`) becomes `data-series`, so pages can dim other ones.
"""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from factloop.core.extras import has_packages, missing

if not has_packages("lxml", "matplotlib"):
    raise missing("evaluation", "a picture")

from lxml import etree
from markupsafe import Markup

from factloop.reports.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, QUIET, RULE, PAPER = "#010101", "#020202", "#030303", "#040404"
"""The colours of text and lines, muted parts, grids and the page background."""
SERIES = tuple(f"#05010{number}" for number in range(1, 9))
"""The colours of evaluators and systems, in order. After the eighth, they repeat."""
_VARIABLES = {INK: "var(--ink)", QUIET: "var(--muted)", RULE: "var(--line)", PAPER: "var(--surface)"} | {
    colour: f"var(--series-{number})" for number, colour in enumerate(SERIES, 1)
}
_STYLE: dict[Any, Any] = {
    "text.parse_math": False,
    "text.usetex": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "factloop",
    "font.size": 10,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "text.color": INK,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
}
_SIZE = re.compile(r"[\d.]+px")
_NAMESPACE = "{http://www.w3.org/2000/svg}"
_NAMESPACE_MARK = 'xmlns="http://www.w3.org/2000/svg"'
_SERIES_ID = re.compile(r"of-\d+")
_HREF = "{http://www.w3.org/1999/xlink}href"
_FONTS = "Helvetica, Arial, 'Liberation Sans', sans-serif"
_NO_CHARACTERS = {0xFFFE: "\ufffd", 0xFFFF: "\ufffd"}  # the two noncharacters that XML does not allow


def as_words(text: str) -> str:
    """Returns the text on one line, without characters that are invalid in SVG."""
    return " ".join(visible(text).translate(_NO_CHARACTERS).split())


def draw(paint: Callable[[Axes], object], *, alt: str, width: float = 7.0, height: float = 3.2) -> Markup:
    """Calls `paint` to draw on one pair of axes. The size is in inches, and `alt` describes the picture."""
    return draw_figure(lambda figure: paint(figure.subplots()), alt=alt, width=width, height=height)


@dataclass(frozen=True)
class Picture:
    """A picture on a page, with the function that draws it."""

    svg: Markup
    paint: Callable[[Figure], object]
    alt: str
    inches: tuple[float, float]


_KEPT: ContextVar[list[Picture] | None] = ContextVar("_KEPT", default=None)


@contextmanager
def kept_pictures() -> Iterator[list[Picture]]:
    """Yields a list that collects the pictures drawn inside the block, in order."""
    kept: list[Picture] = []
    token = _KEPT.set(kept)
    try:
        yield kept
    finally:
        _KEPT.reset(token)


@contextmanager
def _painted(paint: Callable[[Figure], object], inches: tuple[float, float]) -> Iterator[Figure]:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # the page or the reader has a font for it
        figure = Figure(figsize=inches, dpi=72, layout="constrained")
        paint(figure)
        yield figure


def draw_figure(paint: Callable[[Figure], object], *, alt: str, width: float = 7.0, height: float = 3.2) -> Markup:
    """Calls `paint` to draw on a figure, and returns an `<svg>` element. The output is deterministic."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    with _painted(paint, (width, height)) as figure:
        written = io.BytesIO()
        # `savefig` would draw everything twice, once only to lay it out
        canvas: Any = FigureCanvasSVG(figure)  # the class is untyped
        canvas.print_svg(written, metadata={"Date": None, "Creator": None})
    readable = visible(written.getvalue().decode("utf-8")).translate(_NO_CHARACTERS)
    root = etree.fromstring(readable.encode("utf-8"))
    svg = Markup(etree.tostring(_for_pages(root, alt, width, height), encoding="unicode", with_tail=False))
    if (kept := _KEPT.get()) is not None:
        kept.append(Picture(svg, paint, alt, (width, height)))
    return svg


def as_pdf(pictures: Sequence[Picture]) -> bytes:
    """Returns a PDF in light colours. Each page has the size of its picture, with the description as a note."""
    from matplotlib.backends.backend_pdf import PdfPages
    from matplotlib.colors import get_named_colors_mapping

    light = _light_colours()
    named = {colour: light[variable[len("var(--") : -1]] for colour, variable in _VARIABLES.items()}
    written, meant = io.BytesIO(), get_named_colors_mapping()
    for colour in named:  # one by one, which clears a cache; names are looked up before parsing
        meant[colour] = named[colour]
    try:
        with PdfPages(written, metadata={"CreationDate": None, "Creator": None, "Producer": None}) as pages:
            for one in pictures:
                with _painted(one.paint, one.inches) as figure:
                    pages.attach_note(as_words(one.alt))
                    pages.savefig(figure)
    finally:
        for colour in named:
            del meant[colour]
    return written.getvalue()


def as_file(picture: Markup) -> str:
    """Returns the picture as a separate SVG file, in light colours and with a background."""
    colours = _light_colours()
    drawn = re.sub(r"var\(--([\w-]+)\)", lambda found: colours[found[1]], picture)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" font-family="{_FONTS}" '
    paper = f'<rect width="100%" height="100%" fill="{colours["surface"]}"/>'
    opening, rest = drawn.split(">", 1)
    return f"{head}{opening.removeprefix('<svg').replace(_NAMESPACE_MARK, '').strip()}>{paper}{rest}\n"


@cache
def _light_colours() -> dict[str, str]:
    folder = files("factloop.reports").joinpath("pages")
    styles = (folder.joinpath(name).read_text(encoding="utf-8") for name in ("base.css", "pictures.css"))
    return {name: light for style in styles for name, light in re.findall(r"--([\w-]+): light-dark\((#\w{6}),", style)}


def _for_pages(root: etree._Element, alt: str, width: float, height: float) -> etree._Element:
    for removed in [*root.iter(f"{_NAMESPACE}metadata", f"{_NAMESPACE}style")]:
        parent = removed.getparent()
        assert parent is not None
        parent.remove(removed)
    for element in root.iter():
        style = element.attrib.get("style")
        if style is not None:
            del element.attrib["style"]
            for name, value in _attributes(str(style)):
                element.set(name, value)
    _name_apart(root, alt)
    for name, inches in (("width", width), ("height", height)):
        root.set(name, f"{96 * inches:g}")
    del root.attrib["version"]
    root.set("class", "picture")
    root.set("role", "img")
    root.set("aria-label", as_words(alt))
    root.set("stroke-linejoin", "round")
    etree.cleanup_namespaces(root)
    return root


def _name_apart(root: etree._Element, alt: str) -> None:
    """Makes referenced ids unique on the page and removes all others. Browsers ignore a clip path if the first element
    with its id is in a hidden picture."""
    written = etree.tostring(root)
    prefix = hashlib.sha256(written + alt.encode("utf-8", "replace")).hexdigest()[:8]
    referred = {*re.findall(r'#([\w-]+)[")]', written.decode("utf-8"))}
    for element in root.iter():
        name = str(element.get("id", ""))
        if name in referred:
            element.set("id", f"{prefix}-{name}")
        elif name:
            del element.attrib["id"]
        if _SERIES_ID.fullmatch(name):
            element.set("data-series", name.removeprefix("of-"))
        for key in (_HREF, "clip-path"):
            if key in element.attrib:
                element.set(key, str(element.get(key)).replace("#", f"#{prefix}-"))


def _attributes(style: str) -> Iterator[tuple[str, str]]:
    """Converts a style attribute to presentation attributes, except the font family, which the page sets."""
    for declaration in filter(None, style.split(";")):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        if name == "font":
            size = _SIZE.search(value)
            assert size is not None
            yield "font-size", size.group()
            if "bold" in value or " 700 " in f" {value} ":
                yield "font-weight", "bold"
        elif name != "font-family":
            yield name, _VARIABLES.get(value, value)
