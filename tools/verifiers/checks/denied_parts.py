"""What a claim says of its subject, denied wherever the evidence speaks of it: *It has no battery*.

`denial` weighs all words of a clause, and the subject, told in a sentence before, would outweigh what is denied of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from factloop.tools.linguistics import lexicon
from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading, kept
from factloop.tools.verifiers.terms import CONTENT, TermKind
from factloop.tools.verifiers.verbs import is_verb

_HELPING = frozenset({"be", "have", "do", *lexicon.MODALS})
_SPLITTING = lexicon.PREPOSITIONS | {"and", "or", "but"}
_WITHIN_NAME = frozenset({"of"})


def denied_parts(alignment: Alignment) -> Iterator[Mismatch]:
    """A phrase of the claim after its verb that stands in denied clauses alone: *has a battery* where the evidence says
    *It has no battery*; or what the claim denies, which the evidence denies nowhere."""
    claim, sentence = alignment.claim, alignment.sentence
    if not any(sentence.clause_denied) and not any(claim.clause_denied):
        return
    for clause in range(len(claim.clause_denied)):
        is_denied, phrases = claim.clause_denied[clause], _phrases(claim, clause)
        if not claim.is_mostly(clause):
            continue
        for phrase in phrases[: 1 if is_denied else None]:
            places = _said_at(alignment, phrase)
            if not places or not _are_there(alignment, phrases, sentence.clauses[places[0]]):
                continue
            if all(sentence.is_denied(place) != is_denied for place in places):
                ours = _negators(claim, clause) if is_denied else ()
                theirs = () if is_denied else _negators(sentence, sentence.clauses[places[0]])
                if ours or theirs:
                    yield Mismatch("denial", ours[:1], theirs[:1], excludes=True)
                    return


def bears_denial_out(alignment: Alignment, clause: int) -> bool:
    """Whether the evidence denies just what a clause of the claim denies, where it speaks of that: *It does not include
    logs* of *The plan does not include logs*, whatever else the plan includes."""
    claim, sentence = alignment.claim, alignment.sentence
    if not claim.clause_denied[clause] or not any(sentence.clause_denied):
        return False
    places = [place for phrase in _phrases(claim, clause)[:1] for place in _said_at(alignment, phrase)]
    return bool(places) and all(sentence.clause_denied[sentence.clauses[place]] for place in places)


def _are_there(alignment: Alignment, phrases: Sequence[Sequence[int]], clause: int) -> bool:
    """Whether a clause has half or more of what the evidence has of these phrases: what it says is of their matter."""
    told = [place for phrase in phrases for place in phrase if place in alignment.partners]
    return 2 * sum(clause in alignment.clauses_of(place) for place in told) >= len(told)


def _said_at(alignment: Alignment, phrase: Sequence[int]) -> Sequence[int]:
    """The places of a phrase in all clauses that have the whole of it; none where there is no such clause, or where one
    says something else of it, as *the battery was not changed* does."""
    claim, sentence, partners = alignment.claim, alignment.sentence, alignment.partners
    if not phrase or any(place not in partners or place in alignment.opposed for place in phrase):
        return ()
    if any(claim.phrase_denied[place] for place in phrase):
        return ()
    clauses = frozenset.intersection(*(alignment.clauses_of(place) for place in phrase))
    found = [one for place in phrase for one in partners[place] if sentence.clauses[one] in clauses]
    said = {one for places in partners.values() for one in places}
    if not clauses or any(sentence.phrase_denied[one] or sentence.negators[one] for one in found):
        return ()
    acts = (place for place in _deeds(sentence) if sentence.clauses[place] in clauses)
    return () if any(place not in said for place in acts) else found


@kept
def _deeds(reading: Reading) -> Sequence[int]:
    """The places of the verbs that tell what is done; *has* and *is* tell nothing."""
    return [place for place, term in enumerate(reading.terms) if term.key not in _HELPING and _acts(reading, place)]


def _acts(reading: Reading, place: int) -> bool:
    """Whether a word is a verb, be it in its plain form after *does not* or *may*."""
    term = reading.terms[place]
    if term.kind not in CONTENT or reading.negators[place]:
        return False
    if is_verb(term):
        return True
    before = next((one for one in reversed(reading.terms[:place]) if one.kind is not TermKind.NEGATION), None)
    return term.key in lexicon.VERBS and before is not None and before.key in _HELPING


def _phrases(claim: Reading, clause: int) -> list[list[int]]:
    """The content of each phrase after the verb of a clause; none without a verb."""
    within = [place for place, one in enumerate(claim.clauses) if one == clause]
    start = next((place for place in within if _begins(claim, place)), None)
    found: list[list[int]] = [[]]
    for place in within if start is not None else ():
        term = claim.terms[place]
        if start is None or place <= start or claim.negators[place]:
            continue
        if term.key in _SPLITTING - _WITHIN_NAME:
            found.append([])
        elif term.kind in CONTENT and not _is_of_verb(claim, place):
            found[-1].append(place)
    return [phrase for phrase in found if phrase]


def _begins(claim: Reading, place: int) -> bool:
    """Whether a word is the first of a verb, be it one of several: *requests go*."""
    term, before = claim.terms[place], claim.words[max(0, place - 1)]
    is_plural = term.kind is TermKind.WORD and term.key in lexicon.VERBS and place > 0 and before.endswith("s")
    return term.key in _HELPING or _acts(claim, place) or is_plural


def _is_of_verb(claim: Reading, place: int) -> bool:
    """Whether a word goes on with the verb: *include* of *does not include*."""
    before = next((one for one in reversed(claim.terms[:place]) if one.kind is not TermKind.NEGATION), None)
    return _acts(claim, place) and before is not None and before.key in _HELPING


def _negators(reading: Reading, clause: int) -> tuple[int, ...]:
    return tuple(place for place, one in enumerate(reading.clauses) if one == clause and reading.negators[place])
