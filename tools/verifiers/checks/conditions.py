"""Conditions: *if you opt out* where the evidence says *unless you opt out*."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading, kept

_OPENING = frozenset({"if", "unless"})


def other_conditions(alignment: Alignment) -> Iterator[Mismatch]:
    """One condition denied on one side only, by *unless* or *not*, for what both sides say or both deny."""
    claim, sentence = alignment.claim, alignment.sentence
    for place, other in _shared_conditions(alignment):
        ours, theirs = claim.clauses[place], sentence.clauses[other]
        if claim.clause_denied[ours] != sentence.clause_denied[theirs] and not is_turned(alignment):
            yield Mismatch("value", (place,), (other,), excludes=True)
            return


def is_turned(alignment: Alignment) -> bool:
    """Whether the condition and what it is of are both denied on one side only, which makes one rule: *not sent if you
    opt out*, *sent unless you opt out*."""
    claim, sentence = alignment.claim, alignment.sentence
    for place, other in _shared_conditions(alignment):
        ours, theirs = claim.clauses[place], sentence.clauses[other]
        main = [
            one
            for one in alignment.pairs
            if claim.clauses[one] != ours and sentence.clauses[alignment.pairs[one]] != theirs
        ]
        is_other_rule = any(claim.is_denied(one) != sentence.is_denied(alignment.pairs[one]) for one in main)
        if claim.clause_denied[ours] != sentence.clause_denied[theirs] and is_other_rule:
            return True
    return False


def _shared_conditions(alignment: Alignment) -> list[tuple[int, int]]:
    """The places of *if* or *unless* in claim and evidence before one and the same condition."""
    ours, theirs = _openers(alignment.claim), _openers(alignment.sentence)
    return [(place, other) for place in ours for other in theirs if _are_one(alignment, place, other)] if theirs else []


def _are_one(alignment: Alignment, place: int, other: int) -> bool:
    claim, clause = alignment.claim, alignment.sentence.clauses[other]
    told = [one for one in claim.content if claim.clauses[one] == claim.clauses[place] and not claim.negators[one]]
    return bool(told) and all(clause in alignment.clauses_of(one) for one in told)


@kept
def _openers(reading: Reading) -> Sequence[int]:
    return [place for place, word in enumerate(reading.words) if word in _OPENING]
