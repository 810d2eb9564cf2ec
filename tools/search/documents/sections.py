"""What loaders give: a piece of text with where it came from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """A file, a page of it, or a row of it."""

    text: str
    title: str
    url: str | None = None
    """Address of the original, where the row of a table names one; it then stands for the file."""
    fragment: str = ""
    """Place inside the file, such as "page=3" or "line=12"; empty for the whole."""
    published: str | None = None
