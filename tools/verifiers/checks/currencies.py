"""Currencies: *$79* where the evidence says *€79*."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.plain_figures import in_plain_figures
from factloop.tools.verifiers.reading import Reading, kept
from factloop.tools.verifiers.terms import FIGURES

_CURRENCIES = {
    "€": "EUR",
    "euro": "EUR",
    "eur": "EUR",
    "$": "USD",
    "dollar": "USD",
    "usd": "USD",
    "£": "GBP",
    "gbp": "GBP",
    "pound": "GBP",
    "¥": "JPY",
    "yen": "JPY",
}
"""A *pound* is a weight, too, but not where the other side has money."""
_FIGURE = r"\d+(?:[.,]\d+)*"
_MONEY = re.compile(
    rf"(?P<sign>[€$£¥]) ?(?P<after>{_FIGURE})"
    rf"|(?P<before>{_FIGURE}) ?(?P<name>[€$£¥]|(?:euro|dollar|pound|yen|eur|usd|gbp)(?=s?\b))",
    re.IGNORECASE,
)


def other_currencies(alignment: Alignment) -> Iterator[Mismatch]:
    """A figure of the claim that stands in the sentence in other currencies alone."""
    for place, currency in _money(alignment.claim).items():
        places = alignment.partners.get(place, ())
        told = [_money(alignment.sentence).get(one) for one in places]
        if told and None not in told and currency not in told:
            yield Mismatch("currency", (place,), (places[0],), excludes=True)


def stands_in_others_alone(claim: Reading, place: int, sentences: Iterable[Reading]) -> bool:
    """Whether a figure of the claim stands in these sentences in other currencies, and nowhere otherwise."""
    currency, key = _money(claim).get(place), claim.terms[place].key
    if currency is None:
        return False
    told = [_money(one).get(other) for one in sentences for other in one.places.get(key, ())]
    return bool(told) and None not in told and currency not in told


def _as_read(text: str) -> str:
    """A text with its figures as the terms have them: *£40 million* as *£40000000*."""
    return in_plain_figures(text) if "illion" in text or "thousand" in text else text


@kept
def _money(reading: Reading) -> Mapping[int, str]:
    """The currency of each figure that has one, by its place; none for a figure that has several."""
    said: defaultdict[str, set[str]] = defaultdict(set)
    for sentence in reading.sentences:
        for found in _MONEY.finditer(_as_read(sentence.text)):
            said[found["after"] or found["before"]].add(_CURRENCIES[(found["sign"] or found["name"]).lower()])
    figures = reading.of_kind(*FIGURES) if said else ()
    told = {place: said.get(reading.terms[place].surface, set()) for place in figures}
    return {place: min(currencies) for place, currencies in told.items() if len(currencies) == 1}
