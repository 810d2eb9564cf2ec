"""Quantifiers: "all" where the evidence says "most", "only" where it says "both"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading
from factloop.tools.verifiers.terms import PART_ONLY, Term, TermKind
from factloop.tools.verifiers.wording import AT_ODDS, QUANTIFIERS


def other_quantities(alignment: Alignment) -> Iterator[Mismatch]:
    """A quantity that the clause with most of the claim does not bear out."""
    ours, theirs = _quantities(alignment.claim, None), _quantities(alignment.sentence, alignment.main)
    for quantity, place in ours.items():
        against = sorted(AT_ODDS.get(quantity, frozenset()) & theirs.keys())
        is_few = quantity == "only" and "few" in ours and "all" not in theirs
        if quantity not in theirs and against and not is_few:
            yield Mismatch("quantity", (place,), (theirs[against[0]],), excludes=True)
            return


def parts_for_all(alignment: Alignment) -> Iterator[Mismatch]:
    """*All of which*, where the sentence says of how many: *of which 1,740 are preserved*."""
    claim, sentence = alignment.claim, alignment.sentence
    place = _quantities(claim, None).get("all")
    following = () if place is None else claim.terms[place + 1 : place + 3]
    if place is None or claim.is_denied(place) or not _is_partitive(following):
        return
    for one in range(1, len(sentence.terms) - 1):
        if _is_partitive(sentence.terms[one : one + 2]):
            beside = [two for two in (one - 1, one + 2) if two < len(sentence.terms)]
            counts = [two for two in beside if sentence.terms[two].kind is TermKind.NUMBER]
            if counts and sentence.terms[counts[0]].key not in alignment.claim_keys:
                yield Mismatch("quantity", (place,), (counts[0],), excludes=True)
                return


def _is_partitive(terms: Sequence[Term]) -> bool:
    return [term.key for term in terms] in (["of", "which"], ["of", "whom"], ["of", "they"], ["of", "them"])


def unsaid_only(alignment: Alignment) -> Iterator[Mismatch]:
    """An "only" that stands nowhere in the evidence; "not only" and "only to find" exclude nothing."""
    claim = alignment.claim
    place = _quantities(claim, None).get("only")
    if place is None or claim.clause_denied[claim.clauses[place]] or not claim.is_mostly(claim.clauses[place]):
        return
    if "only" not in _quantities(alignment.sentence, None) and not _excludes_nothing(claim, place):
        yield Mismatch("exclusiveness", (place,), ())


def _excludes_nothing(reading: Reading, place: int) -> bool:
    """Whether "only" follows "not", or tells what came of something: *only to lose again*."""
    before = reading.terms[place - 1].kind is TermKind.NEGATION if place else False
    return before or any(term.key == "to" for term in reading.terms[place + 1 : place + 2])


def _quantities(reading: Reading, clause: int | None) -> dict[str, int]:
    """The quantities in a clause, or in all, with the place of the word that says each."""
    found: dict[str, int] = {}
    for place in range(len(reading.terms)):
        if clause in {None, reading.clauses[place]}:
            quantity = _quantity(reading, place)
            if quantity is not None:
                found.setdefault(quantity, place)
    return found


def _quantity(reading: Reading, place: int) -> str | None:
    """What a word says of how many; "the most famous", "a few" and "just before" are not what they look like."""
    word = reading.terms[place].surface.lower()
    if reading.terms[place] is PART_ONLY:
        return None
    before = reading.terms[place - 1].key if place else ""
    following = reading.terms[place + 1 : place + 2]
    if word == "most" and before == "the":
        return None
    if word == "few" and before == "a":
        return "some"
    if word == "other" and place and reading.terms[place - 1].kind is TermKind.NEGATION:
        return "only"
    if word == "just" and not any(term.kind is TermKind.NUMBER or term.key == "one" for term in following):
        return None
    return QUANTIFIERS.get(word) or QUANTIFIERS.get(reading.terms[place].key)
