"""Pictures drawn by matplotlib, as SVG that stands in a page and takes its colours from it.

A page's content security policy forbids style attributes, and light and dark need other colours. So each colour below
stands for a variable of the page's style sheet, styles become presentation attributes, and text stays text.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from lxml import etree
from markupsafe import Markup

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, QUIET, RULE, PAPER = "#010101", "#020202", "#030303", "#040404"
"""Of text and lines, of what stands back, of grids, and of the page itself."""
SERIES = tuple(f"#05010{number}" for number in range(1, 9))
"""Of evaluators and systems, in their order; from the ninth on they come again."""
_VARIABLES = {INK: "var(--ink)", QUIET: "var(--muted)", RULE: "var(--line)", PAPER: "var(--surface)"} | {
    colour: f"var(--series-{number})" for number, colour in enumerate(SERIES, 1)
}
_STYLE: dict[Any, Any] = {
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "factloop",
    "font.size": 10,
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


def draw(paint: Callable[[Axes], object], *, alt: str, width: float = 7.0, height: float = 3.2) -> Markup:
    """What `paint` draws on one pair of axes, in inches; `alt` says in a sentence what is to be seen."""
    return draw_figure(lambda figure: paint(figure.subplots()), alt=alt, width=width, height=height)


def draw_figure(paint: Callable[[Figure], object], *, alt: str, width: float = 7.0, height: float = 3.2) -> Markup:
    """What `paint` draws on a figure, as an `<svg>` element. Equal drawings give equal text."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # the page's fonts have it, or the reader's do
        figure = Figure(figsize=(width, height), layout="constrained")
        paint(figure)
        written = io.BytesIO()
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    root = etree.fromstring(written.getvalue())
    return Markup(etree.tostring(_for_pages(root, alt), encoding="unicode", with_tail=False))


def _for_pages(root: etree._Element, alt: str) -> etree._Element:
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
    referred = {*re.findall(r'#([\w-]+)[")]', etree.tostring(root, encoding="unicode"))}
    for element in root.iter():
        if element.get("id", "") not in {"", *referred}:
            del element.attrib["id"]
    for name in ("width", "height", "version"):
        del root.attrib[name]
    root.set("class", "picture")
    root.set("role", "img")
    root.set("aria-label", alt)
    root.set("stroke-linejoin", "round")
    etree.cleanup_namespaces(root)
    return root


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
