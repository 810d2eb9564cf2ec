"""Duties: *must* where the evidence says *may*, and what is forbidden where the claim allows it."""

from __future__ import annotations

from collections.abc import Iterator

from factloop.tools.linguistics import lexicon
from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.checks.figures import states_one_limit
from factloop.tools.verifiers.reading import Reading
from factloop.tools.verifiers.terms import CONTENT, TermKind

REACH = 5
"""Words back from a verb in which its modal stands: *must always be*."""
_FORCES = {"must": "must", "should": "should", "ought": "should", "may": "may", "can": "may"}
_BEFORE_TO = {
    **dict.fromkeys(("have", "need", "require", "oblige"), "must"),
    **dict.fromkeys(("allow", "permit", "free", "entitle"), "may"),
}
"""Words that say as much before *to*: *have to pay*, *are allowed to enter*."""
_WEAKER = {"must": frozenset({"should", "may"}), "should": frozenset({"may"}), "may": frozenset({"must"})}
"""What does not bear out a duty, nor a choice: what one must do, one is not free to do."""
FORBIDDING = ("forbid", "prohibit", "ban", "outlaw", "disallow")
_GIVING = ("allow", "permit")
_ASKING = frozenset({"may", "must", "should", "shall", "can", "cannot"})


def other_forces(alignment: Alignment) -> Iterator[Mismatch]:
    """Another force before the verb of the claim, wherever the evidence has the verb."""
    claim = alignment.claim
    if states_one_limit(alignment):
        return  # what must not be more may be so much at most
    for verb in claim.content:
        ours = _force(claim, verb)
        if ours is None or claim.is_denied(verb) or verb in alignment.opposed:
            continue
        theirs = _forces_of(alignment, verb)
        is_weaker = [other is not None and _is_weaker(claim, ours, other) for other in theirs]
        if theirs and all(is_weaker) and theirs[0] is not None:
            yield Mismatch("value", (ours[1],), (theirs[0][1],))
            return


def _forces_of(alignment: Alignment, verb: int) -> list[tuple[str, int] | None]:
    """How strongly the evidence asks for a deed of the claim, in each place that has it with the most of the claim."""
    sentence, partners = alignment.sentence, alignment.partners.get(verb, ())

    def n_held(place: int) -> int:
        return sum(sentence.clauses[place] in alignment.clauses_of(one) for one in alignment.partners)

    most = max(map(n_held, partners), default=0)
    telling = (one for one in partners if n_held(one) == most)
    return [None if _is_bound(sentence, one) else _force(sentence, one) for one in telling]


def _is_bound(reading: Reading, verb: int) -> bool:
    """Whether a verb is denied, or what one may do is all that one may: *can only be bought online*."""
    only = reading.places.get("only", ())
    return reading.is_denied(verb) or any(reading.clauses[one] == reading.clauses[verb] for one in only)


def _is_weaker(claim: Reading, ours: tuple[str, int], theirs: tuple[str, int]) -> bool:
    """Whether a force does not bear out the claim's; what one must do, one *can* do."""
    if ours[0] == "may" and claim.terms[ours[1]].key == "can":
        return False
    return theirs[0] in _WEAKER[ours[0]]


def forbidden_deeds(alignment: Alignment) -> Iterator[Mismatch]:
    """A deed that the claim allows or asks for, where each clause that has it forbids it: *using petrol is forbidden in
    winter*; or one that it forbids, where each allows or asks for it."""
    claim, sentence = alignment.claim, alignment.sentence
    if _places(claim, FORBIDDING):
        yield from _given_deeds(alignment)
        return
    if _places(sentence, _GIVING):
        return
    forbidding = {sentence.clauses[one]: one for one in _places(sentence, FORBIDDING) if not sentence.is_denied(one)}
    for verb in claim.content if forbidding else ():
        force, clauses = _force(claim, verb), alignment.clauses_of(verb)
        if force is not None and not claim.is_denied(verb) and clauses and clauses <= forbidding.keys():
            yield Mismatch("value", (force[1],), (forbidding[min(clauses)],))
            return


def _given_deeds(alignment: Alignment) -> Iterator[Mismatch]:
    claim, sentence = alignment.claim, alignment.sentence
    words = [one for one in _places(claim, FORBIDDING) if not claim.is_denied(one)]
    if not words or _places(sentence, FORBIDDING):
        return
    for verb in claim.content:
        theirs = [
            None if _is_bound(sentence, one) else _force(sentence, one) for one in alignment.partners.get(verb, ())
        ]
        if verb not in words and theirs and theirs[0] is not None and None not in theirs:
            yield Mismatch("value", (words[0],), (theirs[0][1],))
            return


def forbid_alike(alignment: Alignment) -> bool:
    """Whether one side says that something must not be done and the other that it is forbidden: a denial on one of them
    alone, and no difference."""
    sides = (alignment.claim, alignment.sentence), (alignment.sentence, alignment.claim)
    return any(
        any(not one.is_denied(place) for place in _places(one, FORBIDDING)) and _forbids_by_not(other)
        for one, other in sides
        if not _places(other, FORBIDDING)
    )


def is_of_forbidden(alignment: Alignment, mismatch: Mismatch) -> bool:
    """Whether an opposite stands in what one side alone forbids: forbidden inside, it may be done outside."""
    claim, sentence = alignment.claim, alignment.sentence
    words = {claim.terms[one].key for one in mismatch.claimed} | {sentence.terms[one].key for one in mismatch.said}
    is_forbidden = [bool(_places(one, FORBIDDING)) for one in (claim, sentence)]
    return is_forbidden[0] != is_forbidden[1] and words.isdisjoint(FORBIDDING)


def _forbids_by_not(reading: Reading) -> bool:
    """Whether a text denies with *must not*, *may not*, *cannot* or *do not*, the last without a subject."""
    for place, term in enumerate(reading.terms):
        if term.kind is TermKind.NEGATION and not reading.negators[place]:
            continue
        before = reading.terms[place - 1].key if place else ""
        is_request = before == "do" and (place == 1 or reading.clauses[place - 2] != reading.clauses[place])
        opens = term.surface.lower() == "never" and (place == 0 or reading.clauses[place - 1] != reading.clauses[place])
        is_negation = term.kind is TermKind.NEGATION
        if is_negation and (term.surface.lower() == "cannot" or before in _ASKING or is_request or opens):
            return True
        if is_negation and term.surface.lower() in {"don't", "don’t"} and place == 0:
            return True
    return False


def _places(reading: Reading, keys: tuple[str, ...]) -> list[int]:
    return [place for key in keys for place in reading.places.get(key, ())]


def _force(reading: Reading, verb: int) -> tuple[str, int] | None:
    """How strongly the words before a verb ask for the deed, and the place of the word that does; None without one."""
    for place in range(verb - 1, max(-1, verb - 1 - REACH), -1):
        term = reading.terms[place]
        if reading.clauses[place] != reading.clauses[verb]:
            return None
        if term.key in _FORCES and term.kind is TermKind.FUNCTION:
            return _FORCES[term.key], place
        if term.key == "to":
            before = reading.terms[place - 1] if place else None
            found = None if before is None else _BEFORE_TO.get(before.key)
            return None if found is None else (found, place - 1)
        if term.kind in CONTENT and term.surface.lower() not in lexicon.ADVERBS and not term.key.endswith("ly"):
            return None
        if term.key in lexicon.PREPOSITIONS or term.key in lexicon.DETERMINERS:
            return None
    return None
