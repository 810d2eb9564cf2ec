"""Of what a difference is said: of what the claim speaks of, or of another thing, another place or another time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from factloop.tools.linguistics import lexicon
from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.checks.figures import counted
from factloop.tools.verifiers.reading import Reading
from factloop.tools.verifiers.terms import CONTENT, Term, TermKind
from factloop.tools.verifiers.verbs import is_verb
from factloop.tools.verifiers.wording import ANTONYMS, CONVERSES, MEASURES, UNITS

_NOUNS = frozenset({TermKind.WORD, TermKind.NAME})
_DATES = frozenset({TermKind.YEAR, TermKind.MONTH})
_BEGINS_PHRASE = lexicon.DETERMINERS | lexicon.POSSESSIVES
_JOINING = frozenset({"and", "or", "nor"})
_DEFINITE = frozenset({"the", "this", "that"})
_BEFORE_OCCASION = frozenset({"in", "on", "at", "during", "against"})
_SHARES = MEASURES | {"half", "quarter", "third", "rds", "majority", "minority", "number", "part", "share", "group"}
"""Nouns that say how much of what follows *of*: *half of the seats* are seats."""
_AFTER_GAP = frozenset({"a", "an", "the"})
MAX_MARK_CHARS = 3
"""Letters of a name that ends in a number: *X4*."""
_LASTING = frozenset({"last", "take", "go", "run", "continue", "endure", "need", "require"})
"""Verbs that say of a time how long something takes."""
_SAYING_OF_WHOM = frozenset({"quantity", "person", "sides", "limit", "currency", "exclusiveness"})
"""Kinds of mismatch that are of the subject itself, or of what counts it."""


def is_of_another(alignment: Alignment, mismatch: Mismatch) -> bool:
    """Whether the words that differ are said of another thing than the claim's.

    Of another subject: *the house is closed* says nothing of the garden. Or of the opposite of the subject, or of what
    is said of it: *the upper road is safe*, *the lower road is dangerous*.
    """
    if mismatch.kind in _SAYING_OF_WHOM:
        return False
    claim, sentence = alignment.claim, alignment.sentence
    ours = subject(claim, claim.clauses[mismatch.claimed[0]] if mismatch.claimed else 0)
    theirs = subject(
        sentence, sentence.clauses[mismatch.said[0]] if mismatch.said else _clause_of_rest(alignment, ours)
    )
    if any(place in alignment.opposed for place in ours) or _counts_another(alignment, mismatch):
        return True
    if mismatch.kind != "denial" and (
        _are_opposites(alignment, ours, theirs)
        or _has_more_opposites(alignment, mismatch)
        or _is_of_other_verb(alignment, mismatch)
    ):
        return True
    if not ours or not theirs or _may_mean(alignment, ours, theirs) or _is_called(alignment, ours[-1], theirs[-1]):
        return False
    return _said_alike(alignment).isdisjoint(_heads(sentence, theirs))


def _heads(reading: Reading, phrase: list[int]) -> list[int]:
    """The nouns that a phrase is of: *house* and *garden* of *the house and the garden*; of *the house and garden wall*
    the last alone."""
    following = (reading.words[place + 1 : place + 3] for place in phrase[:-1])
    joined = zip(phrase, following, strict=False)
    return [
        *(place for place, (one, two) in joined if one in _JOINING and two in _BEGINS_PHRASE),
        phrase[-1],
    ]


def _clause_of_rest(alignment: Alignment, ours: list[int]) -> int:
    """The clause of the sentence with most of what the claim says of its subject."""
    rest = [place for place in alignment.pairs if place not in ours]
    held = Counter(clause for place in rest for clause in alignment.clauses_of(place))
    return max(held, key=lambda clause: (held[clause], clause == alignment.main, -clause), default=alignment.main)


def _is_called(alignment: Alignment, ours: int, theirs: int) -> bool:
    """Whether the sentence says what its subject is with the claim's subject: *the house is now a hostel*."""
    sentence = alignment.sentence
    for partner in alignment.partners.get(ours, ()):
        between = sentence.terms[theirs + 1 : partner]
        links = [place for place, term in enumerate(between) if term.key == "be"]
        if links and sentence.clauses[theirs] == sentence.clauses[partner]:
            return all(term.key not in lexicon.PREPOSITIONS for term in between[links[-1] :])
    return False


def _counts_another(alignment: Alignment, mismatch: Mismatch) -> bool:
    """Whether one of two numbers is of a name, or the sentence has the claim's number with a gap."""
    claim, sentence = alignment.claim, alignment.sentence
    ours = [place for place in mismatch.claimed if claim.terms[place].kind is TermKind.NUMBER]
    theirs = [place for place in mismatch.said if sentence.terms[place].kind is TermKind.NUMBER]
    if not ours or not theirs:
        return False
    same = sentence.places.get(claim.terms[ours[0]].key, ())
    is_gapped = any(_is_before_gap(sentence, place) or not counted(sentence, place) for place in same)
    return is_gapped or is_of_name(claim, ours[0]) or is_of_name(sentence, theirs[0])


def is_of_name(reading: Reading, number: int) -> bool:
    """Whether a number is the end of a name: *X4*, or *Kestrel 2* before its verb."""
    before = reading.terms[number - 1] if number else None
    if before is None or before.kind not in _NOUNS or not before.surface[:1].isupper():
        return False
    is_mark = before.surface.isupper() and len(before.surface) <= MAX_MARK_CHARS
    return is_mark or (number + 1 < len(reading.terms) and _is_verb(reading, number + 1))


def _is_before_gap(reading: Reading, number: int) -> bool:
    """Whether what a number counts stands before another one alone: *gave 120 men the drug and 118 the placebo*."""
    following = reading.terms[number + 1 : number + 3]
    opens = len(following) == 2 and following[0].surface.lower() in _AFTER_GAP and following[1].key not in UNITS
    return opens and number > 0 and reading.terms[number - 1].key == "and"


def _are_opposites(alignment: Alignment, ours: list[int], theirs: list[int]) -> bool:
    """Whether a word of one subject is the opposite of a word of the other: *the outer wall*, *the inner wall*."""
    said = {form for place in theirs for form in _spellings(alignment.sentence, place)}
    opposites = (ANTONYMS.get(form, frozenset()) for place in ours for form in _spellings(alignment.claim, place))
    return any(not said.isdisjoint(one) for one in opposites)


def _spellings(reading: Reading, place: int) -> tuple[str, str]:
    return reading.terms[place].key, reading.words[place]


def _has_more_opposites(alignment: Alignment, mismatch: Mismatch) -> bool:
    """Whether yet another word has its opposite there: *opened in 1901* is no other date of *closed in 1943*."""
    sentence = alignment.sentence
    clauses = {sentence.clauses[place] for place in mismatch.said}
    others = alignment.opposed | (_converses(alignment) if mismatch.kind == "opposite" else frozenset())
    return any(sentence.clauses[alignment.pairs[place]] in clauses for place in others - frozenset(mismatch.claimed))


def _is_of_other_verb(alignment: Alignment, mismatch: Mismatch) -> bool:
    """Whether the words that differ stand with another verb, and the claim's stands elsewhere or nowhere: who *spoke
    for 4 hours* may have *ruled for four years*."""
    claim, sentence = alignment.claim, alignment.sentence
    own = {claim.clauses[place] for place in mismatch.claimed}
    verbs = [
        place
        for place, term in enumerate(claim.terms)
        if claim.clauses[place] in own and place not in mismatch.claimed and is_verb(term) and term.kind in CONTENT
    ]
    clauses = {sentence.clauses[place] for place in mismatch.said}
    others = [
        term
        for place, term in enumerate(sentence.terms)
        if sentence.clauses[place] in clauses and place not in mismatch.said and is_verb(term) and term.kind in CONTENT
    ]
    if not verbs or not others or any(alignment.clauses_of(place) & clauses for place in verbs):
        return False
    is_of_time = any(_is_time(claim.terms[place]) for place in mismatch.claimed)
    if any(term.key in _LASTING for term in others) and any(claim.terms[place].key in _LASTING for place in verbs):
        return False
    return is_of_time or any(place in alignment.pairs for place in verbs)


def _is_time(term: Term) -> bool:
    return term.kind in _DATES or UNITS.get(term.key, ("",))[0] == "time"


def _converses(alignment: Alignment) -> frozenset[int]:
    """The places of verbs whose partner is a converse: *lost*, *won*."""
    claim, sentence = alignment.claim, alignment.sentence
    return frozenset(
        place
        for place, other in alignment.pairs.items()
        if sentence.terms[other].key in CONVERSES.get(claim.terms[place].key, frozenset())
    )


def _said_alike(alignment: Alignment) -> frozenset[int]:
    """The places of the sentence that say what a word of the claim says."""
    same = (places for place, places in alignment.partners.items() if place not in alignment.opposed)
    return frozenset(one for places in same for one in places)


def _may_mean(alignment: Alignment, ours: list[int], theirs: list[int]) -> bool:
    """Whether two subjects may be one: they share a name, or one is a name and the other, as *the company*, is not."""
    claim, sentence = alignment.claim, alignment.sentence
    names = {place for place in theirs if sentence.terms[place].kind is TermKind.NAME}
    if names:
        return not names.isdisjoint(_said_alike(alignment))
    has_name = any(claim.terms[place].kind is TermKind.NAME for place in ours)
    before = sentence.terms[theirs[0] - 1].surface.lower() if theirs[0] else ""
    return has_name and before in _DEFINITE


def subject(reading: Reading, clause: int) -> list[int]:
    """The places of the noun phrase before the first verb of a clause: *bar* of *in May the bar of the hotel opened*.

    Empty where there is no verb, or a pronoun stands there.
    """
    within = [place for place, one in enumerate(reading.clauses) if one == clause]
    verb = next((place for place in within if _is_verb(reading, place)), None)
    if verb is None:
        return []
    phrases = _phrases(reading, [place for place in within if place < verb])
    return next((phrase for phrase in phrases if phrase), [])


def _is_verb(reading: Reading, place: int) -> bool:
    term = reading.terms[place]
    return is_verb(term) or term.key in {"be", "have", "do"} or term.key in lexicon.MODALS


def _phrases(reading: Reading, places: list[int]) -> Iterator[list[int]]:
    """The nouns of each noun phrase that stands after no preposition."""
    phrase: list[int] = []
    after_preposition = False
    for place in places:
        term = reading.terms[place]
        word, before = term.surface.lower(), reading.terms[place - 1] if place else None
        begins = word in _BEGINS_PHRASE and before is not None and not _goes_on(before)
        follows_date = before is not None and before.kind in _DATES and term.kind is TermKind.NAME
        if term.key == "of" and before is not None and before.key in _SHARES:
            phrase = []
        elif term.key in lexicon.PREPOSITIONS or begins or follows_date:
            yield [] if after_preposition else phrase
            phrase, after_preposition = [], term.key in lexicon.PREPOSITIONS
        if term.kind in _NOUNS and not term.surface.endswith("ly"):
            phrase.append(place)
    yield [] if after_preposition else phrase


def _goes_on(before: Term) -> bool:
    """Whether an article after this word begins no new phrase: *for the house*, *the house and the garden*."""
    return before.key in lexicon.PREPOSITIONS or before.surface.lower() in _JOINING


def is_of_another_occasion(alignment: Alignment, mismatch: Mismatch) -> bool:
    """Whether the evidence gives what differs a time or a place of its own: *lost in 1949*, *won in Bergen*."""
    sentence = alignment.sentence
    clauses = {sentence.clauses[place] for place in mismatch.said}
    claimed = frozenset(one for places in alignment.partners.values() for one in places)
    for place, term in enumerate(sentence.terms):
        is_own = sentence.clauses[place] in clauses and place not in claimed
        if is_own and term.kind in _DATES | {TermKind.NAME} and place not in mismatch.said:
            before = [one for one in range(max(0, place - 3), place) if sentence.terms[one].kind in CONTENT]
            start = before[-1] + 1 if before else max(0, place - 3)
            if any(one.key in _BEFORE_OCCASION for one in sentence.terms[start:place]):
                return True
    return False
