"""Claims that give a bound: *more than 12,000* holds where the sources say 12,300 of the same thing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from factloop.tools.linguistics.english import in_figures
from factloop.tools.verifiers.terms import sentence_texts

MOST_AWAY = 0.25
"""Share of the bound by which a figure may pass it: *more than 12,000* is no fair word for 40,000."""
MOST_TRIED = 3

_ABOVE = re.compile(
    r"\b(?:(?<!no )(?<!not )(?:more than|over|above)|at least|(?:no|not) (?:fewer|less) than|upwards of)"
    r" (\d[\d,]*(?:\.\d+)?)\b",
    re.IGNORECASE,
)
_BELOW = re.compile(
    r"\b(?:(?<!no )(?<!not )(?:fewer than|less than|under|below)|at most|(?:no|not) (?:more|longer|later|older) than"
    r"|not exceed|up to|nearly|almost) (\d[\d,]*(?:\.\d+)?)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w,]|\.\d)")


def as_figures(claim: str, passages: Sequence[str]) -> Iterator[str]:
    """The claim with figures of the passages that keep to its bound, the nearest first; none where it has no bound.

    *More than 12,000 people signed* becomes *12,300 people signed*. What else the claim says is for the verifier.
    """
    claim = in_figures(claim)
    for pattern, is_above in ((_ABOVE, True), (_BELOW, False)):
        found = pattern.search(claim)
        bound = None if found is None else _number(found[1])
        if found is None or not bound:
            continue
        sentences = (text for passage in passages for text, _ in sentence_texts(passage))
        figures = {one for text in sentences for one in _FIGURE.findall(in_figures(text))}
        away = {one: (_number(one) - bound) / bound * (1 if is_above else -1) for one in figures}
        kept = sorted((share, one) for one, share in away.items() if 0 < share <= MOST_AWAY)
        yield from (f"{claim[: found.start()]}{one}{claim[found.end() :]}" for _, one in kept[:MOST_TRIED])
        return


def keeps_bound(claim: str, figure: str) -> bool:
    """Whether a figure does not contradict the bound that the claim gives, however far it is away."""
    claim, figure = in_figures(claim), in_figures(figure)
    if _FIGURE.fullmatch(figure) is None:
        return False
    above, below = _ABOVE.search(claim), _BELOW.search(claim)
    return (above is not None and _number(figure) >= _number(above[1])) or (
        below is not None and _number(figure) <= _number(below[1])
    )


def _number(text: str) -> float:
    return float(text.replace(",", ""))
