"""The answer under check: its outline, read once, and the views of it that prompts show.

A short answer is shown whole, so that all requests about it begin alike, and so is one that is not clearly too long.
An excerpt of a long one shows its opening, which mostly says whom it is about; the neighbourhood of the sentence; and
what ties the sentence to the rest: sentences that share names or figures with it, and those that say who these are in
turn. Each comes with the sentences before it that say who *she* or *the firm* is. An excerpt holds whole sentences in
the order of the answer, and a line of its own marks what is left out.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, islice

from factloop.agents.safe.conversation import turns_of
from factloop.agents.safe.faithful import Wording
from factloop.agents.safe.referents import HeadNouns, referents
from factloop.agents.safe.state import SentenceTask
from factloop.tools.text.outline import Part, read_outline

MOST_CELLS = 500
"""Cells of an answer's tables that are read, by whole rows: each may become a claim."""
LEFT_OUT = "(part of the answer is left out here)"
CLEARLY_OVER = 1.2
"""An answer of so many times the bound is cut; cutting a shorter one would hide much to save little."""

_TELLING = re.compile(r"\b(?:[A-Z][\w'’-]{2,}|\d[\d.,]*\d|\d)")
_MARKS_BEFORE = re.compile(r"(?:\A|\n)[ \t]*(?:[-+*•>]|\d{1,3}[.)])?[ \t]*[*_`|]*[ \t]*\Z")
"""Marks of a list item, a row or stress that open a line: without their sentence they say nothing."""
_MARKS_WITHIN = re.compile(r"\[\^?\w{1,8}\](?!\()|[*_`]")
"""Marks of references and of stress, which make no sentence another."""
_MOST_SHARED = 200
"""A word in more parts than this says nothing about where to look."""
_NO_NAMES = frozenset({"The", "This", "That", "She", "Her", "His", "Its", "They", "Their"})
_JUST_BEFORE = 3
"""Parts with names before a sentence, to which a pronoun in it mostly reaches back."""
_HOPS = 3
"""Ties followed from one person to the next: a town to the man born there, he to his teacher, she to the subject."""
_MOST_TOO_LONG = 20
"""Parts that do not fit, after which the search for others ends."""
_MOST_BEFORE = 4
"""Sentences shown before an equal one at most, where those before it are equal, too."""


@dataclass(frozen=True)
class Answer:
    """A response and the question that it answers. Its outline and views are made once, when first needed."""

    prompt: str | None
    response: str

    @cached_property
    def parts(self) -> Sequence[Part]:
        """The outline."""
        return read_outline(self.response)

    @cached_property
    def prose(self) -> Sequence[Part]:
        """The sentences and items."""
        return [part for part in self.parts if part.kind in ("prose", "item")]

    @cached_property
    def wording(self) -> Wording:
        """What the answer and its question name and count."""
        return Wording(f"{self.prompt or ''}\n{self.response}")

    @cached_property
    def rows_left_out(self) -> frozenset[int]:
        """Where the rows of tables begin that are not read: those after the first `MOST_CELLS` cells."""
        rows = [part for part in self.parts if part.kind == "row"]
        cells = accumulate(part.text.count("|") + 1 for part in rows)
        return frozenset(part.start for part, n_cells in zip(rows, cells, strict=True) if n_cells > MOST_CELLS)

    @cached_property
    def asked(self) -> str | None:
        """The question without the conversation before it."""
        return turns_of(self.prompt)[1] if self.prompt else self.prompt

    @cached_property
    def said_before(self) -> Sequence[str]:
        """The sentences of the conversation before the question."""
        turns = turns_of(self.prompt)[0] if self.prompt else ()
        return [part.text for turn in turns for part in read_outline(turn) if part.kind in ("prose", "item")]

    @cached_property
    def _view(self) -> _View:
        return _View(self.response, self.parts)

    @cached_property
    def _places(self) -> _Places:
        return _Places(self.parts)

    def prose_before(self, start: int) -> Sequence[Part]:
        """The sentences and items that end before a place."""
        return self.prose[: bisect_right(self.prose, start, key=lambda part: part.end)]

    def around(self, start: int, end: int, *, most: int) -> str:
        """The response if it is not clearly longer than `most` characters, else so many around `[start:end]`."""
        if len(self.response) <= most * CLEARLY_OVER:
            return self.response.strip()
        return self._view.around(start, end, most)

    def before(self, start: int, *, most: int) -> str:
        """The text before a sentence: all of it if it is not clearly longer than `most`, else an excerpt."""
        text = _MARKS_BEFORE.sub("", self.response[:start]).strip()
        if len(text) <= most * CLEARLY_OVER:
            return text
        return self._view.around(start, start, most, until=start)

    def told_apart_by(self, task: SentenceTask) -> str:
        """What tells a sentence from an equal one elsewhere under the same headings: the text right before it.

        Empty where the response has no equal one. *She was elected in 1838.* may be said of two people.
        """
        return self._places.before(task.start)


class _Places:
    """Where each sentence of a response is said."""

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
        """The fewest sentences before the one at `start` that no equal one has before it."""
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
    """The parts of one response, and where its telling words stand."""

    def __init__(self, response: str, parts: Sequence[Part]) -> None:
        self._response = response
        self._parts = parts
        self._starts = [part.start for part in parts]
        names = {word[0] for part in parts for word in _TELLING.finditer(part.text) if _may_name(word, part)}
        nouns = HeadNouns(names)
        own = [(set(_TELLING.findall(part.text)) & names) - _NO_NAMES for part in parts]
        words = [found | nouns.named_by(part.text) for part, found in zip(parts, own, strict=True)]
        holders: defaultdict[str, list[int]] = defaultdict(list)
        for number, found in enumerate(words):
            for word in found:
                holders[word].append(number)
        self._holders = {word: numbers for word, numbers in holders.items() if len(numbers) <= _MOST_SHARED}
        self._words = [found & self._holders.keys() for found in words]
        self._above = _numbers_above(parts)
        self._back = referents(parts, [{word for word in found if word[0].isalpha()} for found in own], nouns)
        self._telling = [number for number, found in enumerate(self._words) if found]

    def around(self, start: int, end: int, most: int, *, until: int | None = None) -> str:
        """Parts of about `most` characters together; with `until` none that begins there or later."""
        last = len(self._parts) if until is None else bisect_right(self._starts, until - 1)
        here = max(0, bisect_right(self._starts, start) - 1)
        last_here = max(here, bisect_right(self._starts, max(start, end - 1)) - 1)
        chosen: set[int] = set()
        meant = (number for number in self._back[here] if number < last) if self._parts else ()
        left = most - self._add(chosen, [*range(here, min(last_here + 1, last)), *meant], None)
        telling = self._telling[: bisect_left(self._telling, last)]
        near = (number for number in (here - 1, here - 2, last_here + 1) if 0 <= number < last)
        tied = (number for number in self._tied(here, last_here) if number < last)
        shares = (
            (chain(range(min(1, last)), telling), 6),
            (chain(near, _nearest(telling, here, last_here)), 4),
            (tied, 2),
            (_nearest(telling, here, last_here), 1),
            (_outwards(here, last_here, last), 1),
        )
        for numbers, share in shares:
            left -= self._add(chosen, numbers, min(left, most // share))
        return self._written(sorted(chosen), last)

    def _add(self, chosen: set[int], numbers: Iterable[int], most: int | None) -> int:
        """Adds parts in the order given, as long as they fit, each with what it is to be read with; the characters
        taken. With None all of them are added."""
        taken = n_too_long = 0
        for number in numbers:
            if number in chosen:
                continue
            needed = {number, *self._above[number]}
            needed.update(above for back in self._back[number] for above in (back, *self._above[back]))
            needed -= chosen
            length = sum(self._parts[one].end - self._parts[one].start + 1 for one in needed)
            if most is None or taken + length <= most:
                taken += length
                chosen |= needed
            elif (n_too_long := n_too_long + 1) > _MOST_TOO_LONG:
                break
        return taken

    def _tied(self, first: int, last: int) -> Iterator[int]:
        """Parts that share telling words with those from `first` to `last` or just before, then with these in turn.

        The first part with a word comes before all others that have it, as it mostly says who or what is meant; and
        what introduces these, over all steps, comes before the rest.
        """
        before = (number for number in range(first - 1, -1, -1) if self._words[number])
        frontier: Sequence[int] = [*range(first, last + 1), *islice(before, _JUST_BEFORE)]
        introducing, known = frontier, set[str]()
        for _ in range(_HOPS):
            introducing, _others = self._holding(introducing, known)
            yield from introducing
        known = set()
        for _ in range(_HOPS):
            introductions, others = self._holding(frontier, known)
            frontier = [*introductions, *others]
            yield from frontier

    def _holding(self, numbers: Iterable[int], known: set[str]) -> tuple[list[int], list[int]]:
        """The parts that first have words of these parts, then all others that have them; `known` words left out.

        The words are then known. Rare ones come first.
        """
        words = {word for number in numbers for word in self._words[number]} - known
        known |= words
        by_rarity = sorted(words, key=lambda word: (len(self._holders[word]), self._holders[word][0]))
        rarity: defaultdict[int, float] = defaultdict(float)
        for word in by_rarity:
            for number in self._holders[word]:
                rarity[number] += 1.0 / len(self._holders[word])
        introductions = dict.fromkeys(self._holders[word][0] for word in by_rarity)
        others = sorted(rarity.keys() - introductions.keys(), key=lambda number: (-rarity[number], number))
        return [*introductions], others

    def _written(self, numbers: Sequence[int], last: int) -> str:
        """The parts as the response has them, space and marks between neighbours included."""
        pieces: list[str] = []
        reached, expected = 0, 0
        for number in numbers:
            part = self._parts[number]
            if number == expected or self._is_short(expected, number):
                pieces.append(self._response[reached : part.end])
            else:
                line = max(self._response.rfind("\n", 0, part.start) + 1, self._parts[number - 1].end)
                pieces.append(f"\n{LEFT_OUT}\n{self._response[line : part.end].lstrip()}")
            reached, expected = part.end, number + 1
        if expected < last and self._is_short(expected, last):
            pieces.append(self._response[reached : self._parts[last - 1].end])
        elif expected < last:
            pieces.append(f"\n{LEFT_OUT}")
        return "".join(pieces).strip()

    def _is_short(self, first: int, until: int) -> bool:
        """Whether the parts from `first` to `until` have no more characters than the note that they are left out."""
        return self._parts[until - 1].end - self._parts[first].start <= len(LEFT_OUT)


def _may_name(word: re.Match[str], part: Part) -> bool:
    """Whether it is a name or a figure, and not just the first word of a sentence."""
    return word.start() > 0 or part.kind in ("heading", "head", "row") or not word[0].isalpha()


def _numbers_above(parts: Sequence[Part]) -> list[list[int]]:
    """The numbers of the headings, the lead or the head of a table that each part stands under."""
    latest: dict[str, int] = {}
    found: list[list[int]] = []
    for number, part in enumerate(parts):
        found.append([latest[line] for line in part.above.splitlines() if line in latest])
        latest[part.text.strip("*_: ") if part.kind == "heading" else part.text] = number
    return found


def _nearest(numbers: Sequence[int], first: int, last: int) -> Iterator[int]:
    """These numbers of parts, those that are nearest to the ones between `first` and `last` before others."""
    low, high = bisect_left(numbers, first), bisect_right(numbers, last)
    return (numbers[place] for place in _outwards(low, high - 1, len(numbers)))


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
