"""Bounded views of a long response: a prompt must not grow without end with the text under check.

A short response is shown whole, so that all requests about it begin alike. Of a long one three things are shown: its
opening, which mostly says whom it is about, the neighbourhood of the sentence, and sentences elsewhere that share names
or figures with it. They are whole sentences, in the order of the response, and what is left out is said on a line of
its own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from factloop.tools.linguistics.outline import Part, read_outline

LEFT_OUT = "(part of the answer is left out here)"

_TELLING = re.compile(r"\b(?:[A-Z][\w'’-]{2,}|\d[\d.,]*\d|\d)")
_MARKS_BEFORE = re.compile(r"(?:\A|\n)[ \t]*(?:[-+*•>]|\d{1,3}[.)])?[ \t]*[*_`|]*[ \t]*\Z")
"""Of a list item, a row or stress that opens a line: without their sentence they say nothing."""
_MOST_SHARED = 200
"""A word in more parts than this says nothing about where to look."""
_KEPT = 64


def whole_or_excerpt(response: str, start: int, end: int, *, most: int) -> str:
    """The response if it has at most `most` characters, else about that many of it around `response[start:end]`."""
    if len(response) <= most:
        return response.strip()
    return _view(response).around(start, end, most)


def before(response: str, start: int, *, most: int) -> str:
    """What precedes a sentence: all of it if it has at most `most` characters, else an excerpt of about that many."""
    text = _MARKS_BEFORE.sub("", response[:start]).strip()
    if len(text) <= most:
        return text
    return _view(response).around(start, start, most, until=start)


@lru_cache(maxsize=_KEPT)
def _view(response: str) -> _View:
    return _View(response)


class _View:
    """The parts of one response, and where its telling words stand. Built once for all its sentences."""

    def __init__(self, response: str) -> None:
        self._response = response
        self._parts: Sequence[Part] = read_outline(response)
        self._starts = [part.start for part in self._parts]
        self._holders: defaultdict[str, list[int]] = defaultdict(list)
        for number, part in enumerate(self._parts):
            for word in set(_TELLING.findall(part.text)):
                self._holders[word].append(number)

    def around(self, start: int, end: int, most: int, *, until: int | None = None) -> str:
        """Parts of about `most` characters together; with `until` none that begins there or later."""
        last = len(self._parts) if until is None else bisect_right(self._starts, until - 1)
        here = max(0, bisect_right(self._starts, start) - 1)
        last_here = max(here, bisect_right(self._starts, max(start, end - 1)) - 1)
        chosen = set(range(here, min(last_here + 1, last)))
        self._add(chosen, range(last), most // 4)
        self._add(chosen, _outwards(here, last_here, last), most // 2)
        self._add(chosen, (number for number in self._sharing(here, last_here) if number < last), most // 4)
        return self._written(sorted(chosen), last)

    def _add(self, chosen: set[int], numbers: Iterable[int], most: int) -> None:
        """Adds parts in the order given, as long as they fit."""
        for number in numbers:
            if number in chosen:
                continue
            most -= self._parts[number].end - self._parts[number].start + 1
            if most < 0:
                return
            chosen.add(number)

    def _sharing(self, first: int, last: int) -> list[int]:
        """Parts that share telling words with those from `first` to `last`, those with the rarest first."""
        words = {word for part in self._parts[first : last + 1] for word in _TELLING.findall(part.text)}
        rarity: defaultdict[int, float] = defaultdict(float)
        for word in words:
            holders = self._holders[word]
            if len(holders) <= _MOST_SHARED:
                for number in holders:
                    rarity[number] += 1.0 / len(holders)
        return sorted(rarity, key=lambda number: (-rarity[number], number))

    def _written(self, numbers: Sequence[int], last: int) -> str:
        """The parts as the response has them, space and marks between neighbours included."""
        pieces: list[str] = []
        reached, expected = 0, 0
        for number in numbers:
            part = self._parts[number]
            if number == expected:
                pieces.append(self._response[reached : part.end])
            else:
                line = max(self._response.rfind("\n", 0, part.start) + 1, self._parts[number - 1].end)
                pieces.append(f"\n{LEFT_OUT}\n{self._response[line : part.end].lstrip()}")
            reached, expected = part.end, number + 1
        if expected < last:
            pieces.append(f"\n{LEFT_OUT}")
        return "".join(pieces).strip()


def _outwards(first: int, last: int, n_parts: int) -> Iterable[int]:
    """Numbers of parts ever farther from those between `first` and `last`: two before for one after."""
    low, high = first - 1, last + 1
    while low >= 0 or high < n_parts:
        for number in (low, low - 1):
            if number >= 0:
                yield number
        low -= 2
        if high < n_parts:
            yield high
        high += 1
