"""Whether the passages that a verdict cites name what its claim names: by words alone.

A judge that reads cites passages about the thing in question. One that does not, such as a model too small for its
task, calls claims supported by whatever passage stands next. Absence proves nothing of a single claim, since passages
may use other names or write numbers out; so it costs a claim a second look, and is told of many.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from factloop.core.records import Claim, Evidence, Verdict

FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_POSSESSIVE = re.compile(r"['’]s?$")
_LEAST_WITHIN = 5
"""Letters of a name from which on it may be part of a longer word of the passage."""


def absent(claim: str, passages: Iterable[Evidence]) -> frozenset[str]:
    """The figures of the claim, and the names but for its first word, that stand in none of the passages or titles."""
    return _PassageText(" ".join(f"{item.title} {item.passage}" for item in passages)).lacks(claim)


class _PassageText:
    """A text, and what it names."""

    def __init__(self, text: str) -> None:
        self._text = text.casefold()

    @cached_property
    def figures(self) -> frozenset[str]:
        return frozenset(map(_plain, FIGURE.findall(self._text)))

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(map(_bare, WORD.findall(self._text)))

    def lacks(self, claim: str) -> frozenset[str]:
        """The figures of the claim, and the names but for its first word, that do not stand in the text."""
        missing = {figure for figure in map(_plain, FIGURE.findall(claim)) if figure not in self.figures}
        names = _names(claim)
        missing_names = {name for name in names if name not in self._text}
        short = {name for name in names - missing_names if len(name) < _LEAST_WITHIN}
        if short:  # nearly all names are longer, and need no look at each word of the text
            missing_names |= short - self.words
        return frozenset(missing | missing_names)


def is_groundless(claim: Claim) -> bool:
    """Whether a supported claim cites passages without most of its names and figures. Those of another language are
    asked for them, too: names and figures are mostly the same there."""
    if claim.judgement.verdict is not Verdict.SUPPORTED:
        return False
    text = claim.self_contained or claim.text
    cited = [item for item in claim.evidence if item.id in claim.judgement.cited]
    return 2 * len(absent(text, cited)) > _n_asked(text)


def groundless(claims: Sequence[Claim]) -> list[Claim]:
    return [claim for claim in claims if is_groundless(claim)]


def _n_asked(claim: str) -> int:
    return len(set(map(_plain, FIGURE.findall(claim))) | _names(claim))


def _names(claim: str) -> set[str]:
    words = WORD.findall(claim)
    return {_bare(word.casefold()) for word in words[1:] if word[0].isupper()}


def _bare(word: str) -> str:
    return _POSSESSIVE.sub("", word)


def _plain(figure: str) -> str:
    return figure.replace(",", "")
