"""Of which document a passage is: several pages, or several passages, are of one."""

from __future__ import annotations

from collections.abc import Iterable

from factloop.core.records import Evidence


def document_of(item: Evidence) -> str:
    """The source without the place in it, such as a page."""
    return item.source.partition("#page=")[0]


def document_numbers(items: Iterable[Evidence]) -> tuple[int, ...]:
    """The number of each passage's document, from 0 in the order of their first passages."""
    numbers: dict[str, int] = {}
    return tuple(numbers.setdefault(document_of(item), len(numbers)) for item in items)
