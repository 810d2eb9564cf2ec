"""Quantifiers: "all" where the evidence says "most", "only" where it says "both"."""

from __future__ import annotations

from collections.abc import Iterator

from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading
from factloop.tools.verifiers.terms import TermKind
from factloop.tools.verifiers.wording import AT_ODDS, QUANTIFIERS


def other_quantities(alignment: Alignment) -> Iterator[Mismatch]:
    """A quantity that the clause with most of the claim does not bear out."""
    ours, theirs = _quantities(alignment.claim, None), _quantities(alignment.sentence, alignment.main)
    for quantity, place in ours.items():
        against = sorted(AT_ODDS.get(quantity, frozenset()) & theirs.keys())
        is_few = quantity == "only" and "few" in ours and "all" not in theirs
        if quantity not in theirs and against and not is_few:
            yield Mismatch("quantity", (place,), (theirs[against[0]],))
            return


def unsaid_only(alignment: Alignment) -> Iterator[Mismatch]:
    """An "only" that stands nowhere in the evidence."""
    ours = _quantities(alignment.claim, None)
    if "only" in ours and "only" not in _quantities(alignment.sentence, None):
        yield Mismatch("exclusiveness", (ours["only"],), ())


def _quantities(reading: Reading, clause: int | None) -> dict[str, int]:
    """The quantities in a clause, or in all, with the place of the word that says each."""
    found: dict[str, int] = {}
    for place, term in enumerate(reading.terms):
        quantity = QUANTIFIERS.get(term.surface.lower()) or QUANTIFIERS.get(term.key)
        if quantity is not None and clause in {None, reading.clauses[place]} and not _is_adverb(reading, place):
            found.setdefault(quantity, place)
    return found


def _is_adverb(reading: Reading, place: int) -> bool:
    """Whether *just* is "a moment ago" or "barely": it counts before a number alone."""
    if reading.terms[place].key != "just":
        return False
    return place + 1 >= len(reading.terms) or reading.terms[place + 1].kind is not TermKind.NUMBER
