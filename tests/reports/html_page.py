from __future__ import annotations

import re
from html.parser import HTMLParser
from importlib.resources import files

from factloop.reports.page import SHARED

VOID = {"meta", "input", "rect", "line", "circle", "path", "img", "br", "link"}
AA_CONTRAST = 4.5


class Page(HTMLParser):
    """A parsed page: its elements with their attributes, the text of each class, and whether the tags nest."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[tuple[list[str], str]] = []
        self._open: list[tuple[str, str]] = []
        self.feed(html)
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        self.elements.append((tag, named))
        if tag not in VOID:
            self._open.append((tag, named.get("class", "")))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1][0] == tag, f"</{tag}> closes <{self._open[-1][0]}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self.texts.append((" ".join(names for _, names in self._open).split(), data))

    def text_in(self, name: str, *, without: tuple[str, ...] = ()) -> str:
        return "".join(data for names, data in self.texts if name in names and not set(without) & set(names))

    def of(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


def words(text: str) -> str:
    return " ".join(text.split())


def text_of(html: str) -> str:
    return words(" ".join(data for _, data in Page(html).texts))


def colours(style: str, theme: int, room: str = SHARED) -> dict[str, str]:
    """The colors in a style sheet, for the light theme (0) or the dark one (1)."""
    css = files(room).joinpath("pages", style).read_text(encoding="utf-8")
    pairs = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", css)
    return {name: both[theme] for name, *both in pairs}


def _luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """WCAG 2.2 contrast ratio: (lighter + 0.05) / (darker + 0.05) of the relative luminances."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)
