"""Whether the passages that a verdict cites, and the answer itself, name what its claim names: by words alone.

A judge that reads cites passages about the thing in question. One that does not, such as a model too small for its
task, calls claims supported by whatever passage stands next. Absence proves nothing of a single claim, since passages
may use other names or write numbers out; so it costs a claim a second look, and is told of many.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from factloop.core.records import Claim, Evidence, Verdict

_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_POSSESSIVE = re.compile(r"['’]s?$")
_LEAST_WITHIN = 5
"""Letters of a name from which on it may be part of a longer word of the passage."""


def absent(claim: str, passages: Iterable[Evidence]) -> frozenset[str]:
    """The figures of the claim, and the names but for its first word, that stand in none of the passages or titles."""
    return _absent(claim, " ".join(f"{item.title} {item.passage}" for item in passages))


def _absent(claim: str, said: str) -> frozenset[str]:
    text = said.casefold()
    figures, words = set(map(_plain, _FIGURE.findall(text))), set(map(_bare, _WORD.findall(text)))
    missing_figures = {figure for figure in map(_plain, _FIGURE.findall(claim)) if figure not in figures}
    missing_names = {
        name for name in _names(claim) if name not in words and not (len(name) >= _LEAST_WITHIN and name in text)
    }
    return frozenset(missing_figures | missing_names)


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


def made_up(claims: Sequence[Claim], said: str) -> list[Claim]:
    """Claims most of whose names and figures, or all of whose words, are not in what was asked and answered.

    A model too small for its task gives facts of its instructions, or of its own making, for those of a sentence.
    """
    words = set(_WORD.findall(said.casefold()))
    return [
        claim
        for claim in claims
        if 2 * len(_absent(claim.self_contained, said)) > _n_asked(claim.self_contained)
        or words.isdisjoint(_WORD.findall(claim.self_contained.casefold()))
    ]


def _n_asked(claim: str) -> int:
    return len(set(map(_plain, _FIGURE.findall(claim))) | _names(claim))


def _names(claim: str) -> set[str]:
    words = _WORD.findall(claim)
    return {_bare(word.casefold()) for word in words[1:] if word[0].isupper()}


def _bare(word: str) -> str:
    return _POSSESSIVE.sub("", word)


def _plain(figure: str) -> str:
    return figure.replace(",", "")
