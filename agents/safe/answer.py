"""Selects the excerpts of an answer that are shown in prompts.

A short answer is shown in full, so that all requests about it begin with the same text. For a longer one, a prompt
about a sentence shows the text near it, sentences that share its names or figures, sentences that introduce those
names, and the beginning of the answer, which usually names the subject. An excerpt consists of whole sentences in their
original order, with a line that marks each omission.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice

from factloop.agents.safe.conversation import turns_of
from factloop.agents.safe.faithful import Wording
from factloop.agents.safe.state import SentenceTask
from factloop.tools.text.outline import Part, read_outline

MOST_CELLS = 500
"""Maximum number of table cells to read per answer, because each may become a claim. Only whole rows are read."""
LEFT_OUT = "(part of the answer is left out here)"
CLEARLY_OVER = 1.2
"""Only answers longer than this multiple of the limit are shortened. Shortening others would save little."""

_TELLING = re.compile(r"\b(?:[A-Z][\w'’-]{2,}|\d[\d.,]*\d|\d)")
_MARKS_BEFORE = re.compile(r"(?:\A|\n)[ \t]*(?:[-+*•>]|\d{1,3}[.)])?[ \t]*[*_`|]*[ \t]*\Z")
"""Matches list, table and emphasis markers at the start of a line."""
_MARKS_WITHIN = re.compile(r"\[\^?\w{1,8}\](?!\()|[*_`]")
"""Matches citation and emphasis marks. Sentences that differ only in these marks count as identical."""
_MOST_SHARED = 200
_NO_NAMES = frozenset({"The", "This", "That", "She", "Her", "His", "Its", "They", "Their"})
_JUST_BEFORE = 3
"""Number of preceding parts whose names a pronoun may refer to."""
_HOPS = 3
"""Number of links to follow, for example from a town to a man born there and from him to his teacher."""
_MOST_BEFORE = 4
"""Maximum number of preceding sentences used to distinguish a repeated sentence."""


@dataclass(frozen=True)
class Answer:
    """A response and the question it answers."""

    prompt: str | None
    response: str
    is_late: Callable[[], bool] = lambda: False
    """Whether the deadline has passed. If it has, the rest of the response is only cut into long pieces."""

    @cached_property
    def parts(self) -> Sequence[Part]:
        return read_outline(self.response, self.is_late)

    @cached_property
    def prose(self) -> Sequence[Part]:
        return [part for part in self.parts if part.kind in ("prose", "item")]

    @cached_property
    def wording(self) -> Wording:
        return Wording(f"{self.prompt or ''}\n{self.response}")

    @cached_property
    def rows_left_out(self) -> frozenset[int]:
        """Start positions of the table rows that are skipped because they come after the first `MOST_CELLS` cells."""
        rows = [part for part in self.parts if part.kind == "row"]
        cells = accumulate(part.text.count("|") + 1 for part in rows)
        return frozenset(part.start for part, n_cells in zip(rows, cells, strict=True) if n_cells > MOST_CELLS)

    @cached_property
    def asked(self) -> str | None:
        """The question without the conversation that preceded it."""
        return turns_of(self.prompt)[1] if self.prompt else self.prompt

    @cached_property
    def said_before(self) -> Sequence[str]:
        """The sentences of the conversation that preceded the question."""
        turns = turns_of(self.prompt)[0] if self.prompt else ()
        return [part.text for turn in turns for part in read_outline(turn) if part.kind in ("prose", "item")]

    @cached_property
    def _view(self) -> _View:
        return _View(self.response, self.parts)

    @cached_property
    def _places(self) -> _Places:
        return _Places(self.parts)

    def prose_before(self, start: int) -> Sequence[Part]:
        return self.prose[: bisect_right(self.prose, start, key=lambda part: part.end)]

    def around(self, start: int, end: int, *, most: int) -> str:
        """Returns the response or, if it is clearly too long, about `most` characters around `[start:end]`."""
        if len(self.response) <= most * CLEARLY_OVER:
            return self.response.strip()
        return self._view.around(start, end, most)

    def before(self, start: int, *, most: int) -> str:
        """Returns the text before a sentence or, if it is clearly too long, an excerpt of about `most` characters."""
        line = max(0, self.response.rfind("\n", 0, start))
        text = (self.response[:line] + _MARKS_BEFORE.sub("", self.response[line:start])).strip()
        if len(text) <= most * CLEARLY_OVER:
            return text
        return self._view.around(start, start, most, until=start)

    def told_apart_by(self, task: SentenceTask) -> str:
        """Returns the preceding text that distinguishes a sentence from identical ones under the same headings.

        Returns an empty string if the sentence occurs only once.
        """
        return self._places.before(task.start)


class _Places:
    def __init__(self, parts: Sequence[Part]) -> None:
        self._texts = [" ".join(part.text.split()) for part in parts]
        self._words = [_MARKS_WITHIN.sub("", text) for text in self._texts]
        self._numbers = {part.start: number for number, part in enumerate(parts)}
        self._is_sentence = [part.kind in ("prose", "item") for part in parts]
        self._equal: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for number, part in enumerate(parts):
            self._equal[part.above, self._words[number]].append(number)
        self._above = [part.above for part in parts]

    def before(self, start: int) -> str:
        number = self._numbers.get(start)
        if number is None or not self._is_sentence[number]:
            return ""
        others = [one for one in self._equal[self._above[number], self._words[number]] if one != number]
        first = number
        while others and first > 0 and number - first < _MOST_BEFORE and self._is_sentence[first - 1]:
            first -= 1
            n_back = number - first
            others = [one for one in others if one >= n_back and self._words[one - n_back] == self._words[first]]
        return " ".join(self._texts[first:number])


class _View:
    def __init__(self, response: str, parts: Sequence[Part]) -> None:
        self._response, self._parts = response, parts
        self._starts = [part.start for part in parts]
        self._above = _numbers_above(parts)
        names = {word[0] for part in parts for word in _TELLING.finditer(part.text) if _may_name(word, part)}
        words = [names.intersection(_TELLING.findall(part.text)) - _NO_NAMES for part in parts]
        holders: defaultdict[str, list[int]] = defaultdict(list)
        for number, found in enumerate(words):
            for word in found:
                holders[word].append(number)
        self._holders = {word: numbers for word, numbers in holders.items() if len(numbers) <= _MOST_SHARED}
        self._words = [found & self._holders.keys() for found in words]

    def around(self, start: int, end: int, most: int, *, until: int | None = None) -> str:
        last = len(self._parts) if until is None else bisect_right(self._starts, until - 1)
        here = max(0, bisect_right(self._starts, start) - 1)
        last_here = max(here, bisect_right(self._starts, max(start, end - 1)) - 1)
        chosen: set[int] = set()
        left = most - self._add(chosen, range(here, min(last_here + 1, last)), None)
        tied = (number for number in self._tied(here, last_here) if number < last)
        near, rest = (_outwards(here, last_here, last) for _ in range(2))
        for numbers, share in ((range(last), 6), (near, 3), (tied, 2), (rest, 1)):
            left -= self._add(chosen, numbers, min(left, most // share))
        return self._written(sorted(chosen), last)

    def _add(self, chosen: set[int], numbers: Iterable[int], most: int | None) -> int:
        taken = 0
        for number in numbers:
            needed = {number, *self._above[number]} - chosen
            length = sum(self._parts[one].end - self._parts[one].start + 1 for one in needed)
            if most is not None and taken + length > most:
                break
            taken += length
            chosen |= needed
        return taken

    def _tied(self, first: int, last: int) -> Iterator[int]:
        """Yields the parts that share names or figures with the sentence or the text before it, rare words first. The
        first part with a word usually explains it, so the other words in that part are followed too.
        """
        before = (number for number in range(first - 1, -1, -1) if self._words[number])
        tied: Sequence[int] = [*range(first, last + 1), *islice(before, _JUST_BEFORE)]
        shared = Counter(number for one in tied for word in self._words[one] for number in self._holders[word])
        known: set[str] = set()
        for _ in range(_HOPS):
            words = {word for number in tied for word in self._words[number]} - known
            by_rarity = sorted(words, key=lambda word: (len(self._holders[word]), self._holders[word][0]))
            tied = [*dict.fromkeys(self._holders[word][0] for word in by_rarity)]
            known |= words
            yield from tied
        yield from sorted(shared, key=lambda number: (-shared[number], number))

    def _written(self, numbers: Sequence[int], last: int) -> str:
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
        return "".join([*pieces, *([f"\n{LEFT_OUT}"] if expected < last else [])]).strip()


def _may_name(word: re.Match[str], part: Part) -> bool:
    return word.start() > 0 or part.kind in ("heading", "head", "row") or not word[0].isalpha()


def _numbers_above(parts: Sequence[Part]) -> list[list[int]]:
    latest: dict[str, int] = {}
    found: list[list[int]] = []
    for number, part in enumerate(parts):
        found.append([latest[line] for line in part.above.splitlines() if line in latest])
        latest[part.text.strip("*_: ") if part.kind == "heading" else part.text] = number
    return found


def _outwards(first: int, last: int, n_parts: int) -> Iterator[int]:
    low, high = first - 1, last + 1
    while low >= 0 or high < n_parts:
        yield from (number for number in (low, low - 1) if number >= 0)
        low -= 2
        if high < n_parts:
            yield high
        high += 1
