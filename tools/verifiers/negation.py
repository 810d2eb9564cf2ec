"""What denies a clause, and what denies no more than a phrase of it: *not*, *no*, *failed*, *free of*, *unopened*."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise, takewhile

from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.english import is_known, lemmatize
from factloop.tools.verifiers.homographs import is_rubbish
from factloop.tools.verifiers.passage_index import STEM_CHARS
from factloop.tools.verifiers.terms import FIGURES, NON, Term, TermKind
from factloop.tools.verifiers.wording import (
    DENIED_BOUND,
    NEGATORS,
    NO_NEGATION_BEFORE,
    PHRASE_NEGATORS,
    SHUTTING_OUT,
)

MAX_KEPT = 20_000
MAX_UNIT_CHARS = 3

_BEFORE_NO = frozenset({"at", "with", "in", "by", "for", "under"})
_BEFORE_FEW = frozenset({"a", "the", "this", "these", "those", "past", "last", "next", "first", "every"})
"""*The past few years* are some."""
_BEFORE_ATTRIBUTE = lexicon.PREPOSITIONS | {"a", "an", "the", "any", "each", "every", "another", "several", "many"}
_ANSWERS = frozenset({"yes", "no"})
_DENYING_EACH = frozenset({"no", "not"})
_JOINING = frozenset({"and", "or"})
_BOUND, _LONGEST_BOUND = re.compile(DENIED_BOUND), 5


def denies_clause(terms: Sequence[Term], place: int) -> bool:
    term = terms[place]
    if term.kind is not TermKind.NEGATION and term.key not in NEGATORS and not _shuts_out(terms, place):
        return False
    if (
        is_rubbish(terms, place)
        or _is_attribute(terms, place)
        or _goes_on_denying(terms, place)
        or _is_of_title(terms, place)
        or is_with_or_without(terms, place)
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


def is_moved(terms: Sequence[Term], place: int, contrasts: Sequence[range]) -> bool:
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


def follows_preposition(terms: Sequence[Term], place: int) -> bool:
    return terms[place].surface.lower() == "no" and place > 0 and terms[place - 1].key in _BEFORE_NO


def denies_phrase(terms: Sequence[Term], place: int) -> bool:
    """Whether a word denies the phrase after it alone, as *free* does in "free of charge"."""
    term = terms[place]
    if term.key == "free" and any(one.key == "of" for one in terms[place + 1 : place + 2]):
        return True
    return term.key in PHRASE_NEGATORS or term.surface.lower() in PHRASE_NEGATORS


def is_with_or_without(terms: Sequence[Term], place: int) -> bool:
    """Whether a word is the last of "with or without", which denies nothing."""
    words = [term.surface.lower() for term in terms[max(0, place - 2) : place + 1]]
    return words == ["with", "or", "without"]


def is_lacking(term: Term) -> bool:
    """Whether a word says that something is not there or not so: *fan* as *fanless*, *refundable* as
    *non-refundable*."""
    word = term.surface.lower()
    is_prefixed = word.startswith(NON) and not term.key.startswith(NON)
    return is_prefixed or (word.endswith("less") and term.kind is TermKind.WORD and word == f"{term.key}less")


@lru_cache(maxsize=MAX_KEPT)
def without_prefix(term: Term) -> Term | None:
    """*published* for *unpublished*; None where no prefix denies the word."""
    bare = term.key.removeprefix("un")
    if term.kind is not TermKind.WORD or bare == term.key or len(bare) < STEM_CHARS or not is_known(bare):
        return None
    return Term(lemmatize(bare), term.kind, term.surface)
