"""Lists of which one word denies all: *It does not include SSO, phone support or logs*, *Not supported: archives*.

A mark ends a clause, and a denial with it. In such a list it ends neither, so that every thing on it is denied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from factloop.tools.linguistics import lexicon
from factloop.tools.verifiers.terms import Term, TermKind
from factloop.tools.verifiers.verbs import is_verb
from factloop.tools.verifiers.wording import CLAUSE_OPENERS

MAX_ITEM, MAX_LEAD, MAX_LIST = 6, 6, 60
"""Words of a thing on a list, of the lead before its colon, and of a whole list."""
_JOINING = frozenset({"or", "nor", "and"})
_ARTICLES = frozenset({"a", "an", "the"})


def joined_marks(terms: Sequence[Term], *, opens_denied: bool) -> frozenset[int]:
    """The places of the marks within denied lists; most sentences hold no denial or no mark, and are spared the search.

    `opens_denied` tells that the first term is denied in itself, as *unsupported* is.
    """
    negations = [place for place, term in enumerate(terms) if term.kind is TermKind.NEGATION]
    if not negations and not opens_denied:
        return frozenset()
    marks = [place for place, term in enumerate(terms) if term.kind is TermKind.MARK]
    if not marks:
        return frozenset()
    if (opens_denied or negations[0] == 0) and terms[marks[0]].key == ":" and 0 < marks[0] < MAX_LEAD:
        return frozenset(_after_lead(terms, marks))
    return frozenset(mark for place in negations for mark in _after_negation(terms, place, marks))


def _after_lead(terms: Sequence[Term], marks: Sequence[int]) -> Iterator[int]:
    """The colon of *Not supported: images and archives* and the commas after it; none where a verb follows: *Not so: it
    failed*."""
    if marks[0] + 1 < len(terms) and not any(_acts(term) for term in terms[marks[0] + 1 : MAX_LIST]):
        yield from (mark for mark in marks if terms[mark].key in {":", ","})


def _after_negation(terms: Sequence[Term], place: int, marks: Sequence[int]) -> Sequence[int]:
    """The commas of a list that begins after a denial and ends with *or*, or with *and* where nothing in it may be an
    apposition: *did not meet Ida, a singer and pianist*."""
    commas = [mark for mark in marks if mark > place]
    if not commas or commas[0] - place > MAX_ITEM + 2:
        return ()
    found: list[int] = []
    for mark, end in zip(commas, [*commas[1:], len(terms)], strict=True):
        item = terms[mark + 1 : end]
        is_item = terms[mark].key == "," and bool(item) and not any(_acts(term) for term in item)
        if not is_item or any(term.kind is TermKind.NEGATION for term in item):
            return ()  # *no pool, no gym* denies each for itself
        found.append(mark)
        joining = next((at for at, term in enumerate(item) if term.key in _JOINING), None)
        if joining is not None:
            may_be_told_of = item[joining].key == "and" and (item[0].key in _ARTICLES or item[0].kind is TermKind.NAME)
            return () if may_be_told_of or joining > MAX_ITEM else found
        if len(item) > MAX_ITEM:
            return ()
    return ()


def _acts(term: Term) -> bool:
    """Whether a word makes a clause of its own of what stands around it."""
    word = term.surface.lower()
    return (
        is_verb(term)
        or word in lexicon.BE | lexicon.MODALS | lexicon.SUBJECT_PRONOUNS
        or (term.key in CLAUSE_OPENERS and term.key != "nor")
    )
