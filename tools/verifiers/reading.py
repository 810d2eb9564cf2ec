"""A sentence read closely: its words by clause, and what is denied, without a trained model."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, wraps
from itertools import chain, groupby
from typing import Any, TypeVar

from factloop.tools.linguistics import lexicon
from factloop.tools.verifiers.contrasts import contrasted, joins_contrast
from factloop.tools.verifiers.denied_lists import joined_marks
from factloop.tools.verifiers.negation import (
    denies_clause,
    denies_phrase,
    follows_preposition,
    is_lacking,
    is_moved,
    is_with_or_without,
    without_prefix,
)
from factloop.tools.verifiers.passage_index import STEM_CHARS
from factloop.tools.verifiers.terms import CONTENT, FIGURES, SentenceTerms, Term, TermKind
from factloop.tools.verifiers.verbs import SURELY_FINITE, is_verb
from factloop.tools.verifiers.wording import CLAUSE_OPENERS

MAX_KEPT, MAX_KEPT_TOGETHER = 20_000, 2_000

_IN_PHRASE = frozenset({"a", "the", "any", "of"})

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Reading:
    """The terms of one sentence or of several in a row, marks left out. A *place* is an index into `terms`."""

    terms: tuple[Term, ...]
    clauses: tuple[int, ...]
    """The clause of each place."""
    negators: tuple[bool, ...]
    """Whether the term at a place denies its clause."""
    phrase_denied: tuple[bool, ...]
    """Whether the phrase at a place is denied, and no more than that: *at no charge*, *unopened*."""
    clause_denied: tuple[bool, ...]
    """Whether each clause is denied: it holds an odd number of negators."""
    sentences: tuple[SentenceTerms, ...]
    sentence_of: tuple[int, ...]
    """The sentence of each clause."""
    places: Mapping[str, tuple[int, ...]] = field(repr=False)
    """Where each key stands, and each stem with a hyphen after it, each decade and century as *193.* and *19..*."""
    found: dict[Callable[[Reading], Any], Any] = field(default_factory=dict, repr=False)
    """What functions of the reading alone have found in it (`kept`)."""

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The terms as they are spelt, in lower case."""
        return tuple(term.surface.lower() for term in self.terms)

    @cached_property
    def content(self) -> tuple[int, ...]:
        """The places of content."""
        return tuple(place for place, term in enumerate(self.terms) if term.kind in CONTENT)

    @cached_property
    def first_verb(self) -> int:
        """The place of the first verb; the number of terms without one."""
        return next((place for place, term in enumerate(self.terms) if is_verb(term)), len(self.terms))

    def of_kind(self, *kinds: TermKind) -> list[int]:
        return [place for place, term in enumerate(self.terms) if term.kind in kinds]

    def names(self) -> list[tuple[Term, ...]]:
        """The names, each with all of its words: terms of that kind in a row, in one clause."""
        runs = groupby(range(len(self.terms)), key=lambda place: (self.terms[place].kind, self.clauses[place]))
        return [tuple(self.terms[place] for place in run) for (kind, _), run in runs if kind is TermKind.NAME]

    def is_mostly(self, clause: int) -> bool:
        """Whether a clause holds half of the content or more: what a side clause says is one thing of many."""
        content = self.content
        return 2 * sum(self.clauses[place] == clause for place in content) >= len(content)

    def shares_subject(self, clause: int) -> bool:
        """Whether a clause begins with *and* and a verb, and so speaks of what the one before it does."""
        begins = next((place for place, one in enumerate(self.clauses) if one == clause), len(self.terms))
        one, two = self.terms[begins : begins + 1], self.terms[begins + 1 : begins + 2]
        return any(term.key == "and" for term in one) and any(is_verb(term) for term in two)

    def sentence_at(self, place: int) -> int:
        """The sentence that a place is of, from 0."""
        return self.sentence_of[self.clauses[place]]

    def is_denied(self, place: int) -> bool:
        return self.clause_denied[self.clauses[place]] != self.phrase_denied[place]

    def phrase(self, places: Iterable[int]) -> str:
        """The words at these places, as they are spelt."""
        return " ".join(self.terms[place].surface for place in places)


def kept(find: Callable[[Reading], T]) -> Callable[[Reading], T]:
    """The function, with what it finds kept in the reading: checks ask the same of a sentence again and again."""

    @wraps(find)
    def ask(reading: Reading) -> T:
        if find not in reading.found:
            reading.found[find] = find(reading)
        value: T = reading.found[find]
        return value

    return ask


@lru_cache(maxsize=MAX_KEPT_TOGETHER)
def read_together(sentences: tuple[SentenceTerms, ...]) -> Reading:
    """Sentences in a row as one reading."""
    readings = [read_closely(sentence) for sentence in sentences]
    if len(readings) == 1:
        return readings[0]
    clauses: list[int] = []
    places: dict[str, tuple[int, ...]] = {}
    n_clauses = 0
    for one in readings:
        start = len(clauses)
        for form, found in one.places.items():
            places[form] = (*places.get(form, ()), *(start + place for place in found))
        clauses.extend(n_clauses + clause for clause in one.clauses)
        n_clauses += len(one.clause_denied)
    return Reading(
        terms=tuple(term for one in readings for term in one.terms),
        clauses=tuple(clauses),
        negators=tuple(negates for one in readings for negates in one.negators),
        phrase_denied=tuple(denied for one in readings for denied in one.phrase_denied),
        clause_denied=tuple(denied for one in readings for denied in one.clause_denied),
        sentences=sentences,
        sentence_of=tuple(index for index, one in enumerate(readings) for _ in one.clause_denied),
        places=places,
    )


@lru_cache(maxsize=MAX_KEPT)
def read_closely(sentence: SentenceTerms) -> Reading:
    """One sentence; read once, since every claim is held against it."""
    contrasts = contrasted(sentence.terms)
    opens_denied = bool(sentence.terms) and without_prefix(sentence.terms[0]) is not None
    joined = joined_marks(sentence.terms, opens_denied=opens_denied)
    clauses = list(_clauses(sentence.terms, contrasts, joined))
    kept = [(place, clause) for place, clause in enumerate(clauses) if clause is not None]
    in_contrast = frozenset(chain.from_iterable(contrasts))
    terms, negators, phrase_denied = [], [], []
    denying: int | None = None  # the clause in which a phrase is being denied
    for place, clause in kept:
        term = _opening_name(sentence.terms) if place == 0 else sentence.terms[place]
        term = _side(sentence.terms, place) or term
        bare = without_prefix(term)
        is_contrast = place in in_contrast
        negates = (
            not is_contrast and denies_clause(sentence.terms, place) and not is_moved(sentence.terms, place, contrasts)
        )
        of_phrase = denies_phrase(sentence.terms, place) and not is_with_or_without(sentence.terms, place)
        if of_phrase or (negates and follows_preposition(sentence.terms, place)):
            denying, negates = clause, False
        elif denying != clause or _ends_phrase(term):
            denying = None
        terms.append(bare or term)
        negators.append(negates)
        phrase_denied.append(denying is not None or is_contrast or bare is not None or is_lacking(term))
    numbers = [clause for _, clause in kept]
    return _indexed(terms, numbers, negators, phrase_denied, sentence)


def _indexed(
    terms: Sequence[Term],
    clauses: Sequence[int],
    negators: Sequence[bool],
    phrase_denied: Sequence[bool],
    sentence: SentenceTerms,
) -> Reading:
    denied = [False] * (max(clauses, default=0) + 1)
    places: dict[str, list[int]] = {}
    for place, term in enumerate(terms):
        denied[clauses[place]] ^= negators[place]
        for form in _forms(term):
            places.setdefault(form, []).append(place)
    return Reading(
        tuple(terms),
        tuple(clauses),
        tuple(negators),
        tuple(phrase_denied),
        tuple(denied),
        (sentence,),
        (0,) * len(denied),
        {form: tuple(found) for form, found in places.items()},
    )


def _forms(term: Term) -> tuple[str, ...]:
    if term.kind is TermKind.YEAR:
        return (term.key, f"{term.key[:3]}.", f"{term.key[:2]}..")
    if term.kind is TermKind.WORD and len(term.key) >= STEM_CHARS:
        return (term.key, f"{term.key[:STEM_CHARS]}-")
    return (term.key,)


def _clauses(terms: Sequence[Term], contrasts: Sequence[range], joined: Container[int]) -> Iterable[int | None]:
    """The clause of each term, None for a mark.

    A subject that a mark cuts off from its verb is taken up again: "The flaw, found by Sollis, was fixed" is
    "The flaw was fixed" and "found by Sollis".
    """
    last = current = 0
    begun = has_verb = False
    after_mark = False
    subject: int | None = None
    for place, term in enumerate(terms):
        if term.kind is TermKind.MARK:
            if begun and not after_mark and place not in joined and not _labels_figure(terms, place):
                after_mark = True
                subject = current if subject is None and not has_verb else subject
            yield None
            continue
        if begun and contrasts and joins_contrast(terms, place, contrasts):
            pass
        elif begun and after_mark and subject is not None and _begins_with_verb(terms, place):
            current, subject, has_verb = subject, None, True
        elif begun and (after_mark or _opens_clause(terms, place, has_verb=has_verb)):
            last += 1
            current, has_verb = last, False
        has_verb = has_verb or (begun and is_verb(term))
        begun, after_mark = True, False
        yield current


def _labels_figure(terms: Sequence[Term], mark: int) -> bool:
    """Whether a mark is the colon of *Seats: 10*, which is one clause."""
    around = terms[mark - 1 : mark + 2]
    return terms[mark].key == ":" and len(around) == 3 and around[0].kind is TermKind.WORD and around[2].kind in FIGURES


def _opens_clause(terms: Sequence[Term], place: int, *, has_verb: bool) -> bool:
    key, following = terms[place].key, terms[place + 1 : place + 5]
    if key in CLAUSE_OPENERS:
        return True
    if key == "that":  # as "which" does: "ears that do not cover"
        return bool(following) and is_verb(following[0])
    if key == "and" and any(term.key in lexicon.MODALS for term in following[:1]):
        return True
    if key != "and" or not has_verb:  # "Salt and pepper were sold" is one clause
        return False
    for term in following:
        if term.kind is TermKind.MARK or term.key == "and":
            return False
        if is_verb(term):
            return True
    return bool(following) and following[0].key in lexicon.PREPOSITIONS


def _begins_with_verb(terms: Sequence[Term], place: int) -> bool:
    first, following = terms[place], terms[place + 1 : place + 2]
    if first.kind is TermKind.NEGATION or first.surface.endswith("ly") or first.key in {"also", "now", "still"}:
        return any(is_verb(term) for term in following)
    if first.surface.lower() in SURELY_FINITE or (first.surface.endswith("s") and first.key in lexicon.VERBS):
        return True
    return is_verb(first) and all(term.key not in lexicon.PREPOSITIONS for term in following)


def _ends_phrase(term: Term) -> bool:
    return is_verb(term) or (term.kind is TermKind.FUNCTION and term.key not in _IN_PHRASE)


def _opening_name(terms: Sequence[Term]) -> Term:
    """The first term, as a name where a verb follows its capital: "Ada built it"."""
    first = terms[0]
    is_name = first.kind is TermKind.WORD and first.surface[0].isupper() and not first.surface.endswith("s")
    return Term(first.key, TermKind.NAME, first.surface) if is_name and any(map(is_verb, terms[1:2])) else first


def _side(terms: Sequence[Term], place: int) -> Term | None:
    """*left* of "her left eye", which is no form of *leave*; else None."""
    term = terms[place]
    if place == 0 or term.surface.lower() != "left":
        return None
    before = terms[place - 1].surface.lower()
    is_side = before == "the" or before in lexicon.POSSESSIVES
    return Term("left", term.kind, term.surface) if is_side else None
