"""Front matter at the beginning of a document: YAML between two lines of three hyphens. It is no evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import yaml

_FRONT = re.compile(r"---[ \t]*\n(.{0,20000}?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the compiled one is ten times as fast
_URLS = ("url", "source")
_DATES = ("date", "published")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    title: str = ""
    url: str | None = None
    published: str | None = None


NONE = FrontMatter()


def read_front_matter(text: str) -> tuple[FrontMatter, str]:
    """Reads a text's front matter, and the text without it. What is not YAML of named values stays in the text."""
    found = _FRONT.match(text) if text.startswith("---") else None
    if found is None:
        return NONE, text
    try:
        said = yaml.load(found[1], _LOADER)
    except (yaml.YAMLError, ValueError, RecursionError):  # ValueError: an impossible date, as the 31st of February
        return NONE, text
    if not isinstance(said, Mapping) or not all(isinstance(name, str) for name in said):
        return NONE, text
    named = {name.casefold(): value for name, value in said.items()}
    front = FrontMatter(
        title=_first(named, ("title",)) or "", url=_first(named, _URLS), published=_first(named, _DATES)
    )
    return front, text[found.end() :]


def _first(named: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """The first that is a word, a number or a date; a list or a mapping says nothing here."""
    values = (named.get(name) for name in names)
    texts = (" ".join(str(value).split()) for value in values if isinstance(value, str | int | float | date))
    return next((text for text in texts if text), None)
