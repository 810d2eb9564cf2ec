"""Quantifiers: "all" where the evidence says "most", "only" where it says "both"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from factloop.tools.linguistics import lexicon
from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.checks.figures import counted, is_ordinal
from factloop.tools.verifiers.reading import Reading, kept
from factloop.tools.verifiers.terms import PART_ONLY, Term, TermKind
from factloop.tools.verifiers.verbs import is_verb
from factloop.tools.verifiers.wording import AT_ODDS, EVERYONE, PEOPLE, QUANTIFIERS, UNITS

GROUP_REACH = 3
"""Words between a quantity and its verb: *only paying members can*."""
_ALL = frozenset({"all", "every"})
_DEFINITE = lexicon.POSSESSIVES | {"the", "all", "both", "these", "those"}
_BEFORE_GROUP = frozenset({"of", "the", "a", "an", "our", "its", "their"})


def other_quantities(alignment: Alignment) -> Iterator[Mismatch]:
    """A quantity that the clause with most of the claim does not bear out."""
    ours, theirs = _quantities(alignment.claim, None), _quantities(alignment.sentence, alignment.main)
    for quantity, place in ours.items():
        against = sorted(AT_ODDS.get(quantity, frozenset()) & theirs.keys())
        is_few = quantity == "only" and "few" in ours and "all" not in theirs
        if quantity not in theirs and against and not is_few:
            said = theirs[against[0]]
            if quantity == "only":
                excludes = "few" in ours or _may_be_part(alignment, place, said)
            else:
                are_at_odds = _differ_surely if against[0] == "only" else _may_be_one
                excludes = are_at_odds(alignment, place, said)
            yield Mismatch("quantity", (place,), (said,), excludes=excludes)
            return


def all_for_only(alignment: Alignment) -> Iterator[Mismatch]:
    """*Any agent can delete it*, where the sentence says that only others can: *only owners can delete it*."""
    claim, sentence = alignment.claim, alignment.sentence
    everyone = next((one for one, word in enumerate(claim.words) if word in EVERYONE), None)
    place = _quantities(claim, None).get("all", everyone)
    only = _quantities(sentence, None).get("only")
    if place is None or only is None or claim.is_denied(place) or sentence.is_denied(only):
        return
    ours, theirs = _group_after(claim, place), _group_after(sentence, only)
    if not (ours or place == everyone) or not theirs or any(place in theirs for place in _said_of(alignment, ours)):
        return
    said = [one for one in claim.content if one > place and one not in ours]
    clause = sentence.clauses[only]
    if said and all(clause in alignment.clauses_of(one) for one in said):
        is_sure = _differ_surely(alignment, place, only)
        yield Mismatch("quantity", (place, *ours), (only, *theirs), excludes=is_sure)


def others_for_only(alignment: Alignment) -> Iterator[Mismatch]:
    """*Admins may delete it*, where the sentence says that only others may: *only owners may delete it*."""
    claim, sentence = alignment.claim, alignment.sentence
    only = _quantities(sentence, None).get("only")
    theirs = _group_after(sentence, only) if only is not None else []
    if only is None or not theirs or _quantities(claim, None) or sentence.is_denied(only) or any(claim.clause_denied):
        return
    ours, clause = _group_after(claim, -1), sentence.clauses[only]
    said = [one for one in claim.content if one not in ours]
    if not ours or not said or any(clause not in alignment.clauses_of(one) for one in said):
        return
    may_be_same = any(one in theirs for one in _said_of(alignment, ours)) or _are_one_people(alignment, ours, theirs)
    elsewhere = [one for place in ours[-1:] for one in alignment.clauses_of(place) if one != clause]
    if not may_be_same and not any(one in alignment.clauses_of(said[0]) for one in elsewhere):
        yield Mismatch("quantity", tuple(ours), (only, *theirs))


def _are_one_people(alignment: Alignment, ours: Sequence[int], theirs: Sequence[int]) -> bool:
    """Whether two groups may be the same people in other words: *staff* and *employees*."""
    people, others = PEOPLE.get(alignment.claim.terms[ours[-1]].key), alignment.sentence.terms[theirs[-1]].key
    return people is not None and others in people


def _said_of(alignment: Alignment, group: Sequence[int]) -> list[int]:
    """The places of the sentence that say what the words of a group of the claim say."""
    return [one for place in group if place not in alignment.opposed for one in alignment.partners.get(place, ())]


def _may_be_one(alignment: Alignment, place: int, other: int) -> bool:
    """Whether two quantities may count one group: *most customers* say nothing of *all employees*."""
    ours, theirs = _group_after(alignment.claim, place), _group_after(alignment.sentence, other)
    return not ours or not theirs or any(one in theirs for one in _said_of(alignment, ours))


def _may_be_part(alignment: Alignment, place: int, other: int) -> bool:
    """Whether the claim's group may be but a part of the sentence's: *only senior members* of *all members*."""
    ours, theirs = _group_after(alignment.claim, place), _group_after(alignment.sentence, other)
    same = [word for word in ours if any(one in theirs for one in _said_of(alignment, [word]))]
    return not ours or not theirs or (bool(same) and len(same) < len(ours))


def _differ_surely(alignment: Alignment, place: int, other: int) -> bool:
    """Whether *all* and *only* cannot both be true: of everyone, of a group and a part of it, of two groups that are
    known to be different. *Only staff* may be *all employees*."""
    claim, sentence = alignment.claim, alignment.sentence
    if claim.words[place] in EVERYONE:
        following = claim.terms[place + 1 : place + 2]
        return any(term.key in lexicon.MODALS or is_verb(term) or term.key == "be" for term in following)
    ours, theirs = _group_after(claim, place), _group_after(sentence, other)
    if not ours or not theirs:
        following = claim.terms[place + 1 : place + 2]
        return not ours and not theirs and any(UNITS.get(term.key, ("",))[0] == "time" for term in following)
    same = _said_of(alignment, ours)
    if all(any(one in theirs for one in _said_of(alignment, [word])) for word in ours):
        return any(one not in same for one in theirs)
    people, others = PEOPLE.get(claim.terms[ours[-1]].key), PEOPLE.get(sentence.terms[theirs[-1]].key)
    return ours[-1] in alignment.opposed or (people is not None and others is not None and people != others)


def _group_after(reading: Reading, place: int) -> list[int]:
    """The words between a quantity and the verb: whom it counts; none where no verb follows soon."""
    found: list[int] = []
    for one in range(place + 1, min(place + 2 + GROUP_REACH, len(reading.terms))):
        term = reading.terms[one]
        if term.key in lexicon.MODALS or term.key == "be" or is_verb(term) or (found and term.key in lexicon.VERBS):
            return found
        if (not found and term.key in _BEFORE_GROUP) or (found and term.key in {"and", "or"}):
            continue
        if term.kind not in {TermKind.WORD, TermKind.NAME} or reading.clauses[one] != reading.clauses[place]:
            return []
        found.append(one)
    return []


def denies_of_some(alignment: Alignment) -> bool:
    """Whether one side denies something of some alone, and the other does not say it of all: *some rooms do not face
    south*, *most rooms face south*."""
    sides = (alignment.claim, alignment.sentence), (alignment.sentence, alignment.claim)
    for one, other in sides:
        place = _quantities(one, None).get("some")
        if place is not None and one.is_denied(place) and "all" not in _quantities(other, None):
            return True
    return False


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


def numbers_for_all(alignment: Alignment) -> Iterator[Mismatch]:
    """*All arches*, where the sentence speaks of a number of them alone, which may be a part: *two arches*.

    *The two arches* may be all there are.
    """
    claim, sentence = alignment.claim, alignment.sentence
    place = next((one for one, word in enumerate(claim.words) if word in _ALL), None)
    if place is None or claim.is_denied(place) or _is_nearly(claim, place):
        return
    group = [one for one in counted(claim, place) if not is_verb(claim.terms[one])]
    partners = alignment.partners.get(group[-1], ()) if group else ()
    if not partners or claim.terms[group[-1]].key in UNITS:
        return
    numbers = [one for one in sentence.of_kind(TermKind.NUMBER) if _counts_some(sentence, one)]
    said = [next((one for one in numbers if partner in counted(sentence, one)), None) for partner in partners]
    if said[0] is not None and None not in said:
        yield Mismatch("quantity", (place, group[-1]), (said[0], partners[0]))


def _is_nearly(reading: Reading, place: int) -> bool:
    return place > 0 and reading.words[place - 1] in {"nearly", "almost", "practically", "virtually"}


def _counts_some(reading: Reading, number: int) -> bool:
    before = reading.terms[number - 1] if number else None
    is_owned = before is not None and before.surface.endswith(("'s", "’s"))
    return not is_ordinal(reading, number) and (before is None or not (is_owned or before.key in _DEFINITE))


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
    for place, quantity in _all_quantities(reading):
        if clause in {None, reading.clauses[place]}:
            found.setdefault(quantity, place)
    return found


@kept
def _all_quantities(reading: Reading) -> Sequence[tuple[int, str]]:
    """The place of each word that says of how many, and what it says."""
    found = ((place, _quantity(reading, place)) for place in range(len(reading.terms)))
    return [(place, quantity) for place, quantity in found if quantity is not None]


def _quantity(reading: Reading, place: int) -> str | None:
    """What a word says of how many; "the most famous", "a few" and "just before" are not what they look like."""
    word = reading.words[place]
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
