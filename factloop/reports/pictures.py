"""Pictures drawn by matplotlib, as SVG that stands in a page and takes its colours from it.

A page's content security policy forbids style attributes, and light and dark need other colours. So each colour below
stands for a variable of the page's style sheet, styles become presentation attributes, and text stays text. What an
artist is of (`artist.set_gid("of-3")`) becomes its `data-series`, by which a page can dim all others.
"""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from collections.abc import Callable, Iterator
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
"""Of text and lines, of what stands back, of grids, and of the page itself."""
SERIES = tuple(f"#05010{number}" for number in range(1, 9))
"""Colours of evaluators and systems, in their order; from the ninth on they come again."""
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
_NO_CHARACTERS = {0xFFFE: "\ufffd", 0xFFFF: "\ufffd"}
"""The two noncharacters that XML does not allow."""


def as_words(text: str) -> str:
    """The text as one line that an SVG can hold."""
    return " ".join(visible(text).translate(_NO_CHARACTERS).split())


def draw(paint: Callable[[Axes], object], *, alt: str, width: float = 7.0, height: float = 3.2) -> Markup:
    """Draws by `paint` on one pair of axes, in inches; `alt` says in a sentence what is to be seen."""
    return draw_figure(lambda figure: paint(figure.subplots()), alt=alt, width=width, height=height)


def draw_figure(paint: Callable[[Figure], object], *, alt: str, width: float = 7.0, height: float = 3.2) -> Markup:
    """Draws by `paint` on a figure, as an `<svg>` element. Equal drawings give equal text."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # the page's fonts have it, or the reader's do
        figure = Figure(figsize=(width, height), dpi=72, layout="constrained")
        paint(figure)
        written = io.BytesIO()
        # `savefig` would draw everything twice, once only to lay it out
        canvas: Any = FigureCanvasSVG(figure)  # it has no types
        canvas.print_svg(written, metadata={"Date": None, "Creator": None})
    readable = visible(written.getvalue().decode("utf-8")).translate(_NO_CHARACTERS)
    root = etree.fromstring(readable.encode("utf-8"))
    return Markup(etree.tostring(_for_pages(root, alt, width, height), encoding="unicode", with_tail=False))


def as_file(picture: Markup) -> str:
    """The picture as an SVG file: in the light colours on paper of its own, in any viewer."""
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
    """The drawing without styles of its own, metadata and ids that nothing refers to; it scales with the page."""
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
    """Keeps the ids that something refers to, under names that no other picture of the page has.

    A browser ignores a clip path whose first namesake stands in a picture that is hidden.
    """
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
    """The declarations of a style attribute as presentation attributes. Of a font the face is left to the page."""
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
