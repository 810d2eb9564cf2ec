"""Tells equal sentences of a response apart: *She was elected in 1838.* may be said of two people."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache

from factloop.agents.safe.stages import SentenceTask
from factloop.tools.linguistics.outline import read_outline

_MARKS = re.compile(r"\[\^?\w{1,8}\](?!\()|[*_`]")
"""Marks of references and of stress, which make no sentence another."""
_MOST_BEFORE = 4
"""Sentences before an equal one that are shown at most, where those before it are equal, too."""
_KEPT = 64


def told_apart_by(task: SentenceTask) -> str:
    """What stands right before the sentence, in one line, where the response has the same sentence elsewhere under the
    same headings; else nothing."""
    return _places(task.response).before(task.start)


@lru_cache(maxsize=_KEPT)
def _places(response: str) -> _Places:
    return _Places(response)


class _Places:
    """The sentences of a response, and where each is said. Built once for all of them."""

    def __init__(self, response: str) -> None:
        parts = read_outline(response)
        self._texts = [" ".join(part.text.split()) for part in parts]
        self._words = [_MARKS.sub("", text) for text in self._texts]
        self._numbers = {part.start: number for number, part in enumerate(parts)}
        self._is_sentence = [part.kind in ("prose", "item") for part in parts]
        self._equal: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for number, part in enumerate(parts):
            self._equal[part.above, self._words[number]].append(number)
        self._above = [part.above for part in parts]

    def before(self, start: int) -> str:
        """As few sentences before the one at `start` as no equal one has before it."""
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
