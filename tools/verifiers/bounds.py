"""Claims that give a bound: *more than 12,000* holds where the sources say 12,300 of the same thing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from factloop.tools.verifiers.amounts import Amount, amounts_of, amounts_said, in_amounts
from factloop.tools.verifiers.terms import sentence_texts
from factloop.tools.verifiers.wording import UNITS

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
_LIMIT_WORDS = (
    r"\b(?:(?P<above>over|more than|above|at least)|(?P<below>up to|at most|(?:no|not) more than|under|below|less than"
    r"|max(?:imum)?\.?(?: [a-z]+){0,3}:?)) "
)
_LIMITING = re.compile(_LIMIT_WORDS, re.IGNORECASE)
_LIMIT = re.compile(rf"{_LIMIT_WORDS}[€$£]?(?P<figure>\d[\d,]*(?:\.\d+)?)(?![\w,]|\.\d)", re.IGNORECASE)
_IN_GENERAL = re.compile(
    r"\A(?:an?|any|each|every) (?:\w+ of )?[€$£]?\d|\b(?:can|may|needs?|requires?)\b", re.IGNORECASE
)
"""What is said of things of a measure, or of what may be; *a parcel weighs 5 kg* is no matter of limits."""
_SIGNS = frozenset("€$£")
_MOST = r"\b(?:up to|at most|(?:no|not) more than|not exceed) "
_AT_MOST = re.compile(rf"{_MOST}\d", re.IGNORECASE)
_BEFORE_LIMIT, _MOST_CHARS = re.compile(rf"{_MOST}\Z", re.IGNORECASE), 20
_AFTER_FIGURE = re.compile(r"[ -]?([^\W\d_]+|:(?=\d))")
_FIGURE = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w,]|\.\d)")


def as_figures(claim: str, passages: Sequence[str]) -> Iterator[str]:
    """The claim with figures of the passages that keep to its bound, the nearest first; none where it has no bound.

    *More than 12,000 people signed* becomes *12,300 people signed*. What else the claim says is for the verifier.
    """
    claim = in_amounts(claim)
    for pattern, is_above in ((_ABOVE, True), (_BELOW, False)):
        found = pattern.search(claim)
        bound = None if found is None else _number(found[1])
        if found is None or not bound:
            continue
        sentences = [in_amounts(text) for passage in passages for text, _ in sentence_texts(passage)]
        unit, gives_limit = _unit_at(claim, found.end()), _gives_limit(claim)
        figures = {one for text in sentences for one in _figures(text, unit=unit)}
        figures -= {one for text in sentences for one in _limits(text)} if gives_limit else set()
        away = {one: (_number(one) - bound) / bound * (1 if is_above else -1) for one in figures}
        kept = sorted((share, one) for one, share in away.items() if 0 < share <= MOST_AWAY)
        yield from (f"{claim[: found.start()]}{one}{claim[found.end() :]}" for _, one in kept[:MOST_TRIED])
        return


def within_limits(claim: str, passages: Sequence[str]) -> Iterator[str]:
    """The claim with limits of the passages that its figures keep, where it says what may be or holds in general: *a
    £60 order ships free* becomes *a £50 order* by *orders over £50*; none where it gives a bound itself."""
    claim = in_amounts(claim)
    if not _IN_GENERAL.search(claim) or _ABOVE.search(claim) or _BELOW.search(claim):
        return
    ours = [(found, _measure_of(claim, found)) for found in _FIGURE.finditer(claim)]
    if not ours:
        return
    said = (text for passage in passages for text, _ in sentence_texts(passage) if _LIMITING.search(text))
    texts = [in_amounts(text) for text in said]
    told = [(limit, _measure_of(text, limit, "figure")) for text in texts for limit in _LIMIT.finditer(text)]
    kept = (
        f"{claim[: figure.start()]}{limit['figure']}{claim[figure.end() :]}"
        for figure, measure in ours
        for limit, other in told
        if measure == other and _keeps(figure[0], limit)
    )
    yield from islice(dict.fromkeys(kept), MOST_TRIED)


def _measure_of(text: str, found: re.Match[str], figure: str | int = 0) -> tuple[str, str]:
    """The sign of money before a figure, and the unit after it; each empty where there is none."""
    sign = text[found.start(figure) - 1 : found.start(figure)]
    unit = _unit_at(text, found.end(figure))
    return (sign if sign in _SIGNS else "", unit)


def _keeps(figure: str, limit: re.Match[str]) -> bool:
    ours, theirs = _number(figure), _number(limit["figure"])
    return ours > theirs if limit["above"] else 0 < ours < theirs


def as_amounts(claim: str, passages: Sequence[str]) -> Iterator[str]:
    """The claim with amounts of the passages in another unit that keep to its bound: *more than 2 hours* with *125
    minutes*, the nearest first."""
    claim = in_amounts(claim)
    for pattern, sign in ((_ABOVE, 1), (_BELOW, -1)):
        found = pattern.search(claim)
        ours = None if found is None else _amount_at(claim, found.start(1))
        if found is None or ours is None or not ours.worth:
            continue
        like = (one for one in amounts_said(passages) if one.base == ours.base and one.unit != ours.unit)
        away = ((float((one.worth - ours.worth) / ours.worth) * sign, one.text) for one in like)
        kept = sorted((share, text) for share, text in away if 0 < share <= MOST_AWAY)
        yield from (f"{claim[: found.start()]}{text}{claim[ours.end :]}" for _, text in kept[:MOST_TRIED])
        return


def _amount_at(text: str, start: int) -> Amount | None:
    return next((one for one in amounts_of(text) if one.start == start), None)


def _keeps_amount(claim: str, said: str) -> bool:
    """Whether an amount of the sources keeps the bound of the claim: *a year and a half*, *less than two years*."""
    claim, said = in_amounts(claim), in_amounts(said)
    theirs = _amount_at(said, 0)
    for pattern, sign in ((_ABOVE, 1), (_BELOW, -1)):
        found = pattern.search(claim)
        ours = None if found is None else _amount_at(claim, found.start(1))
        if ours is not None and theirs is not None and ours.base == theirs.base:
            return (theirs.worth - ours.worth) * sign >= 0
    return False


def _gives_limit(text: str) -> bool:
    """Whether a text gives a limit that another one is not: *up to 64*; *fewer than 64* holds of 48 as well."""
    return _AT_MOST.search(text) is not None


def _figures(text: str, *, unit: str) -> Iterator[str]:
    """The figures of a text that stand before this unit; without one, those that stand before none."""
    return (found[0] for found in _FIGURE.finditer(text) if _unit_at(text, found.end()) == unit)


def _limits(text: str) -> Iterator[str]:
    """The figures that a text gives as a limit."""
    for found in _FIGURE.finditer(text):
        if _BEFORE_LIMIT.search(text, max(0, found.start() - _MOST_CHARS), found.start()) is not None:
            yield found[0]


def _unit_at(text: str, end: int) -> str:
    """The short name of the unit that a figure stands before; of a time of day, which counts nothing, its colon."""
    after = _AFTER_FIGURE.match(text, end)
    word = "" if after is None else after[1].lower()
    unit = UNITS.get(word) or UNITS.get(word.removesuffix("s"))
    return word if word == ":" else "" if unit is None else unit[1]


def keeps_bound(claim: str, figure: str, sentence: str = "") -> bool:
    """Whether a figure does not contradict the bound that the claim gives, however far it is away.

    It does where the sentence gives it as the same limit: *up to 32* is not *up to 64*.
    """
    if _keeps_amount(claim, figure):
        return True
    claim, figure = in_amounts(claim), in_amounts(figure)
    if _FIGURE.fullmatch(figure) is None:
        return False
    if _gives_limit(claim) and figure in _limits(in_amounts(sentence)):
        return False
    above, below = _ABOVE.search(claim), _BELOW.search(claim)
    return (above is not None and _number(figure) >= _number(above[1])) or (
        below is not None and _number(figure) <= _number(below[1])
    )


def _number(text: str) -> float:
    return float(text.replace(",", ""))
