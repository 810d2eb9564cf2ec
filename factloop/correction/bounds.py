"""The words that make a figure a bound: *more than 10*, *5 or more*. Without them it says something else. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_COMPARED = "more|less|fewer|greater|higher|lower|longer|shorter|larger|smaller|older|younger|later|earlier"
_LEADING = (
    rf"(?:(?:no|not) )?(?:{_COMPARED}) than(?: or equal to)?|(?:just |well )?(?:over|under|above|below)|beyond"
    r"|at (?:the )?(?:very )?(?:least|most)|up to|as (?:many|much|few|little|long|late|early) as|exceeding"
    r"|an? (?:maximum|minimum) of|(?:max|min)(?:imum|\.)?|not exceeding"
    r"|about|around|roughly|approximately|approx\.|almost|nearly|close to|circa|ca\.|some"
)
_GOVERNING = "within|before|after|until|till"
"""They bound, too, but only some verbs may stand before them: *is answered within 2 days*, *takes 2 days*."""
_BEFORE = re.compile(rf"(?<![\w-])(?P<words>{_LEADING}|{_GOVERNING})\s+(?P<sign>[£$€¥]?)$", re.IGNORECASE)
_AFTER = re.compile(
    rf"\+|(?:\s+[^\W\d_]+){{0,2}}?\s+(?P<words>(?:or|and) (?:{_COMPARED}|over|above|under|below|up|so)"
    r"|at (?:least|most)|max(?:imum)?|min(?:imum)?)(?!\w)",
    re.IGNORECASE,
)
_MOST_BEFORE, _MOST_AFTER = 40, 60
_NARROW = re.compile(r"(?<!\w)(?:an?|the|this|that|every|each|per)\s+$", re.IGNORECASE)
"""Between an article and its noun no bound can be put: *a 6 day leave*."""


@dataclass(frozen=True)
class BoundedFigure:
    """A figure in a text with the words around it that make a bound of it."""

    figure: str
    """With its bound, as it stands in the text."""
    before: str
    """In small letters; empty without."""
    after: str
    sign: str
    """The sign of a currency between bound and figure, or right before the figure."""
    is_narrow: bool
    """Whether an article before it, or a hyphen after it, leaves no room for a bound."""


def bounded_figure(text: str, start: int, end: int) -> BoundedFigure:
    """The figure `text[start:end]` with what bounds it."""
    lead, tail = text[max(0, start - _MOST_BEFORE) : start], text[end : end + _MOST_AFTER]
    before, after = _BEFORE.search(lead), _AFTER.match(tail)
    sign = lead[-1:] if lead[-1:] in {*"£$€¥"} else ""
    first = start - len(sign) if before is None else start - len(lead) + before.start()
    return BoundedFigure(
        figure=text[first:end],
        before="" if before is None else " ".join(before["words"].lower().split()),
        after="" if after is None else " ".join((after["words"] or "+").lower().split()),
        sign=sign,
        is_narrow=_NARROW.search(text[:first]) is not None or tail.startswith("-"),
    )


def is_same_bound(one: BoundedFigure, other: BoundedFigure) -> bool:
    return (one.before, one.after) == (other.before, other.after)


def can_replace(one: BoundedFigure, other: BoundedFigure) -> bool:
    """Whether a figure can be put with its bound where another one stands with its own."""
    return (
        one.after == other.after
        and one.sign == other.sign
        and not other.is_narrow
        and not any(side.before in _GOVERNING.split("|") for side in (one, other))
    )
