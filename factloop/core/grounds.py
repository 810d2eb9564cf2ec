"""Checks whether a claim's names and figures occur in the passages that its verdict cites.

A model that is too small for the task may cite arbitrary passages. But a passage can also support a claim in different
words, such as spelled-out numbers. The `grounded` plan therefore judges such claims again, and users are warned
only if there are many.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from factloop.core.records import Claim, Evidence, Verdict

FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_POSSESSIVE = re.compile(r"['’]s?$")
_LEAST_WITHIN = 5  # minimum length of a name that may be part of a longer word in the passage


def absent(claim: str, passages: Iterable[Evidence]) -> frozenset[str]:
    """The claim's figures and names that are in no passage or title. The claim's first word is ignored."""
    return _PassageText(" ".join(f"{item.title} {item.passage}" for item in passages)).lacks(claim)


class _PassageText:
    def __init__(self, text: str) -> None:
        self._text = text.casefold()

    @cached_property
    def figures(self) -> frozenset[str]:
        return frozenset(map(_plain, FIGURE.findall(self._text)))

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(map(_bare, WORD.findall(self._text)))

    def lacks(self, claim: str) -> frozenset[str]:
        missing = {figure for figure in map(_plain, FIGURE.findall(claim)) if figure not in self.figures}
        names = _names(claim)
        missing_names = {name for name in names if name not in self._text}
        short = {name for name in names - missing_names if len(name) < _LEAST_WITHIN}
        if short:  # nearly all names are longer and need no comparison with each word of the text
            missing_names |= short - self.words
        return frozenset(missing | missing_names)


def is_groundless(claim: Claim) -> bool:
    """Whether the claim is supported by passages that lack most of its names and figures."""
    if claim.judgement.verdict is not Verdict.SUPPORTED:
        return False
    text = claim.self_contained or claim.text
    cited = [item for item in claim.evidence if item.id in claim.judgement.cited]
    return 2 * len(absent(text, cited)) > len(set(map(_plain, FIGURE.findall(text))) | _names(text))


def _names(claim: str) -> set[str]:
    words = WORD.findall(claim)
    return {_bare(word.casefold()) for word in words[1:] if word[0].isupper()}


def _bare(word: str) -> str:
    return _POSSESSIVE.sub("", word)


def _plain(figure: str) -> str:
    return figure.replace(",", "")
