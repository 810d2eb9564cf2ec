"""The shared parts of pages: stretches of a response, and filters of a list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from factloop.reports.faults import Fault


@dataclass(frozen=True)
class Filter:
    """A button that shows some items of a list: its key in their `data-filters`, and the number that have it."""

    key: str
    words: str
    sign: str
    tone: str
    count: int


@dataclass(frozen=True)
class PageStretch:
    """A part of a response: a sentence with the numbers of its claims, or what lies between sentences, with none.

    `text` is fit to be seen; `said` is the verdict in words, for those who see no colours; `marks` are its signs, each
    with a tone; `faults` are the words that fail.
    """

    text: str
    numbers: tuple[int, ...] = ()
    tone: str = ""
    marks: tuple[tuple[str, str], ...] = ()
    said: str = ""
    faults: tuple[Fault, ...] = ()
    leads_to: int = 0
    """The number of the claim to read first: the worst."""


def homes(stretches: Iterable[PageStretch]) -> Mapping[int, int]:
    """The number in the address of the sentence of each claim that has one on the page: that of its first claim."""
    return {number: one.numbers[0] for one in stretches for number in one.numbers}
