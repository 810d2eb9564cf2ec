"""A sentence read closely: its words by clause, and what is denied, without a trained model."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, wraps
from itertools import chain, groupby, pairwise, takewhile
from typing import Any, TypeVar

from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.english import is_known, lemmatize
from factloop.tools.verifiers.contrasts import contrasted, joins_contrast
from factloop.tools.verifiers.denied_lists import joined_marks
from factloop.tools.verifiers.homographs import is_rubbish
from factloop.tools.verifiers.passage_index import STEM_CHARS
from factloop.tools.verifiers.terms import CONTENT, FIGURES, NON, NOUNS_LIKE_PASTS, SentenceTerms, Term, TermKind
from factloop.tools.verifiers.wording import (
    CLAUSE_OPENERS,
    DENIED_BOUND,
    NEGATORS,
    NO_NEGATION_BEFORE,
    PHRASE_NEGATORS,
    SHUTTING_OUT,
)

MAX_KEPT, MAX_KEPT_TOGETHER = 20_000, 2_000

_SURELY_FINITE = lexicon.PAST | lexicon.AUXILIARIES | lexicon.MODALS
_VERB_FORMS = _SURELY_FINITE | lexicon.PARTICIPLES | lexicon.PAST_OR_PARTICIPLE
_BEFORE_NO = frozenset({"at", "with", "in", "by", "for", "under"})
_BEFORE_FEW = frozenset({"a", "the", "this", "these", "those", "past", "last", "next", "first", "every"})
"""*The past few years* are some."""
_BEFORE_ATTRIBUTE = lexicon.PREPOSITIONS | {"a", "an", "the", "any", "each", "every", "another", "several", "many"}
_ANSWERS = frozenset({"yes", "no"})
_DENYING_EACH = frozenset({"no", "not"})
_JOINING = frozenset({"and", "or"})
MAX_UNIT_CHARS = 3
_IN_PHRASE = frozenset({"a", "the", "any", "of"})
_BOUND, _LONGEST_BOUND = re.compile(DENIED_BOUND), 5

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
    contrasts = contrasted(sentence.terms, is_verb)
    opens_denied = bool(sentence.terms) and _without_prefix(sentence.terms[0]) is not None
    joined = joined_marks(sentence.terms, is_verb, opens_denied=opens_denied)
    clauses = list(_clauses(sentence.terms, contrasts, joined))
    kept = [(place, clause) for place, clause in enumerate(clauses) if clause is not None]
    in_contrast = frozenset(chain.from_iterable(contrasts))
    terms, negators, phrase_denied = [], [], []
    denying: int | None = None  # the clause in which a phrase is being denied
    for place, clause in kept:
        term = _opening_name(sentence.terms) if place == 0 else sentence.terms[place]
        term = _side(sentence.terms, place) or term
        bare = _without_prefix(term)
        is_contrast = place in in_contrast
        negates = (
            not is_contrast and _negates(sentence.terms, place) and not _is_moved(sentence.terms, place, contrasts)
        )
        of_phrase = _denies_phrase(sentence.terms, place) and not _is_with_or_without(sentence.terms, place)
        if of_phrase or (negates and _follows_preposition(sentence.terms, place)):
            denying, negates = clause, False
        elif denying != clause or _ends_phrase(term):
            denying = None
        terms.append(bare or term)
        negators.append(negates)
        phrase_denied.append(denying is not None or is_contrast or bare is not None or _is_lacking(term))
    numbers = [clause for _, clause in kept]
    return _indexed(terms, numbers, negators, phrase_denied, sentence)


@lru_cache(maxsize=MAX_KEPT)
def is_verb(term: Term) -> bool:
    """Whether a word is likely to be a verb, by its form."""
    word = term.surface.lower()
    if word == term.key and word in NOUNS_LIKE_PASTS:
        return False
    return (
        word in _VERB_FORMS
        or (word.endswith("ed") and len(word) > 3 and word not in lexicon.NOT_VERBS_IN_ED)
        or (word.endswith("s") and term.kind is TermKind.WORD and term.key in lexicon.VERBS)
    )


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
    if first.surface.lower() in _SURELY_FINITE or (first.surface.endswith("s") and first.key in lexicon.VERBS):
        return True
    return is_verb(first) and all(term.key not in lexicon.PREPOSITIONS for term in following)


def _negates(terms: Sequence[Term], place: int) -> bool:
    term = terms[place]
    if term.kind is not TermKind.NEGATION and term.key not in NEGATORS and not _shuts_out(terms, place):
        return False
    if (
        is_rubbish(terms, place, is_verb)
        or _is_attribute(terms, place)
        or _goes_on_denying(terms, place)
        or _is_of_title(terms, place)
        or _is_with_or_without(terms, place)
        or _is_cell(terms, place)
    ):
        return False
    rest = terms[place + 1 :]
    if term.kind is TermKind.NEGATION:
        return not _is_no_denial(term, rest)
    if rest and rest[0].kind in FIGURES:  # "barely 900 copies"
        return False
    if term.key in {"few", "little"}:
        return term.surface.lower() == term.key and (place == 0 or terms[place - 1].key not in _BEFORE_FEW)
    return True


def _shuts_out(terms: Sequence[Term], place: int) -> bool:
    """Whether a verb says that its subject has no part in what follows *from*: *excluded from returns*."""
    return terms[place].key in SHUTTING_OUT and any(term.key == "from" for term in terms[place + 1 : place + 3])


def _is_attribute(terms: Sequence[Term], place: int) -> bool:
    """Whether a verb in *-ed* tells which things are meant, as in *after five failed attempts*, and denies nothing."""
    term, before, following = terms[place], terms[place - 1 : place], terms[place + 1 : place + 2]
    if not term.surface.endswith("ed") or not following or following[0].kind is not TermKind.WORD:
        return False
    if before and before[0].kind is TermKind.NUMBER:
        return following[0].surface.endswith("s")
    return not before or before[0].key in _BEFORE_ATTRIBUTE or before[0].surface.lower() in lexicon.POSSESSIVES


def _goes_on_denying(terms: Sequence[Term], place: int) -> bool:
    """Whether a word goes on with what another denies in the same clause, so that two of them deny no less than one:
    *neither the cat nor the dog*, *no pool and no gym*."""
    word = terms[place].surface.lower()
    is_second = word in _DENYING_EACH and place > 0 and terms[place - 1].key in _JOINING
    if word != "nor" and not is_second:
        return False
    back = takewhile(lambda one: one.kind is not TermKind.MARK, reversed(terms[:place]))
    return any(one.kind is TermKind.NEGATION for one in back)


def _is_moved(terms: Sequence[Term], place: int, contrasts: Sequence[range]) -> bool:
    """Whether a *not* denies a contrast after it alone: *was not written by Berg but by Lund*."""
    after = [phrase for phrase in contrasts if phrase.start > place]
    between = terms[place + 1 : after[0].start] if after else ()
    is_before = bool(after) and terms[after[0].start].kind is not TermKind.NEGATION
    return is_before and all(term.kind is not TermKind.MARK and term.key != "but" for term in between)


def _is_of_title(terms: Sequence[Term], place: int) -> bool:
    """Whether a word with a capital stands between others, as in titles: *the album Can't Slow Down*."""
    opens = place == 0 or terms[place - 1].kind is TermKind.MARK
    following = terms[place + 1 : place + 2]
    has_capitals = terms[place].surface[:1].isupper() and any(term.surface[:1].isupper() for term in following)
    return has_capitals and not opens and not terms[place].surface.isupper()


def _is_cell(terms: Sequence[Term], place: int) -> bool:
    """Whether *no* is a cell of a table whose lines were run together: beside another *yes* or *no*, after a figure, or
    before the capital of what comes next."""
    before, following = terms[max(0, place - 2) : place], terms[place + 1 : place + 2]
    if terms[place].surface.lower() != "no" or not before:
        return False
    ends = not following or following[0].kind in {TermKind.MARK, TermKind.NUMBER} or following[0].surface[0].isupper()
    is_among_answers = any(one.surface.lower() in _ANSWERS for one in (before[-1], *following))
    is_after_figure = any(one.kind is TermKind.NUMBER for one in before) and _is_short(before[-1])
    opens_next = any(one.surface[0].isupper() and one.kind is TermKind.FUNCTION for one in following)
    return is_among_answers or opens_next or (ends and is_after_figure)


def _is_short(term: Term) -> bool:
    """Whether a term is a figure or a short unit of one."""
    return term.kind is TermKind.NUMBER or len(term.surface) <= MAX_UNIT_CHARS


def _is_no_denial(negation: Term, rest: Sequence[Term]) -> bool:
    """Whether a limit or an addition follows: "not only", "no later than", "not until", "do not take more than"."""
    if rest and rest[0].key in NO_NEGATION_BEFORE and negation.surface.lower() != "never" and not _is_degree(rest):
        return rest[0].surface.lower() != "few"
    if any(term.key == "until" for term in rest) or any(
        after.key == "than" and before.key in {"much", "more", "late", "later"} for before, after in pairwise(rest)
    ):
        return True
    words = " ".join("#" if term.kind in FIGURES else term.surface.lower() for term in rest[:_LONGEST_BOUND])
    return _BOUND.match(words) is not None


def _is_degree(rest: Sequence[Term]) -> bool:
    """Whether *more* or *less* compares by the word after it: *not more expensive than wine* denies something."""
    after = rest[2:3]
    return rest[0].surface.lower() in {"more", "less"} and bool(after) and after[0].key == "than"


def _follows_preposition(terms: Sequence[Term], place: int) -> bool:
    return terms[place].surface.lower() == "no" and place > 0 and terms[place - 1].key in _BEFORE_NO


def _denies_phrase(terms: Sequence[Term], place: int) -> bool:
    """Whether a word denies the phrase after it alone, as *free* does in "free of charge"."""
    term = terms[place]
    if term.key == "free" and any(one.key == "of" for one in terms[place + 1 : place + 2]):
        return True
    return term.key in PHRASE_NEGATORS or term.surface.lower() in PHRASE_NEGATORS


def _is_with_or_without(terms: Sequence[Term], place: int) -> bool:
    """Whether a word is the last of "with or without", which denies nothing."""
    words = [term.surface.lower() for term in terms[max(0, place - 2) : place + 1]]
    return words == ["with", "or", "without"]


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


def _is_lacking(term: Term) -> bool:
    """Whether a word says that something is not there or not so: *fan* as *fanless*, *refundable* as
    *non-refundable*."""
    word = term.surface.lower()
    is_prefixed = word.startswith(NON) and not term.key.startswith(NON)
    return is_prefixed or (word.endswith("less") and term.kind is TermKind.WORD and word == f"{term.key}less")


@lru_cache(maxsize=MAX_KEPT)
def _without_prefix(term: Term) -> Term | None:
    """*published* for *unpublished*; None where no prefix denies the word."""
    bare = term.key.removeprefix("un")
    if term.kind is not TermKind.WORD or bare == term.key or len(bare) < STEM_CHARS or not is_known(bare):
        return None
    return Term(lemmatize(bare), term.kind, term.surface)
