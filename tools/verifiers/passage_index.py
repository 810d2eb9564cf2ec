"""The places of the terms of a passage: built once a passage, kept, and asked once a claim."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import TypeVar

from factloop.tools.verifiers.terms import SentenceTerms, Term, TermKind, read_passage, read_sentences

MAX_KEPT_CHARS = 20_000
MAX_KEPT_PASSAGES = 1_000

STEM_CHARS = 5
"""Two ordinary words also match where these first letters agree: "compose", "composer"; names must match in full."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PassageIndex:
    """The sentences of one passage, and for each key and stem the sentences it stands in, ascending."""

    sentences: tuple[SentenceTerms, ...]
    by_key: Mapping[str, Sequence[int]]
    by_stem: Mapping[str, Sequence[int]]

    def places(self, term: Term) -> Sequence[int]:
        """Indices of the sentences that hold the term, by its key or else by its stem; a decade holds its years."""
        if term.period is not None:
            return self.by_stem.get(term.period, ())
        exact = self.by_key.get(term.key)
        if exact is not None:
            return exact
        stem = stem_of(term)
        return self.by_stem.get(stem, ()) if stem is not None else ()


def stem_of(term: Term) -> str | None:
    """The first letters of an ordinary word that is long enough to have a stem."""
    return term.key[:STEM_CHARS] if term.kind is TermKind.WORD and len(term.key) >= STEM_CHARS else None


def matches(term: Term, other: Term) -> bool:
    """Whether two terms say the same, by the rule that `PassageIndex.places` follows."""
    if term.period is not None:
        return other.kind is TermKind.YEAR and other.key.startswith(term.period)
    return term.key == other.key or (stem_of(term) is not None and stem_of(term) == stem_of(other))


def kept_by_passage(read: Callable[[str], T]) -> Callable[[str], T]:
    """The function, with what it reads kept, since many claims are held against one passage.

    It is kept of the last `MAX_KEPT_PASSAGES` passages, long ones apart, so that memory stays bounded.
    """
    keeping = lru_cache(maxsize=MAX_KEPT_PASSAGES)(read)

    @wraps(read)
    def ask(passage: str) -> T:
        return keeping(passage) if len(passage) <= MAX_KEPT_CHARS else read(passage)

    return ask


@kept_by_passage
def index_passage(passage: str) -> PassageIndex:
    """The index of a passage, without the numbers of its headings, items and clauses."""
    return _index(read_passage(passage))


@kept_by_passage
def index_with_numbering(passage: str) -> PassageIndex:
    """The index of a passage for claims that speak of such a number: *clause 3*, *version 3.2*."""
    return _index(read_sentences(passage))


def _index(sentences: tuple[SentenceTerms, ...]) -> PassageIndex:
    by_key = _places([term.key for term in sentence.terms] for sentence in sentences)
    return PassageIndex(sentences, by_key, _places(_stems(sentence.terms) for sentence in sentences))


def _places(forms: Iterable[Iterable[str]]) -> dict[str, Sequence[int]]:
    """For each form the sentences it stands in, given the forms of each sentence.

    Most stand in one alone, and these share a tuple: a list for each would be thousands of objects a passage, at which
    the garbage collector looks again and again.
    """
    places: dict[str, Sequence[int]] = {}
    for place, of_sentence in enumerate(forms):
        alone = (place,)
        for form in of_sentence:
            known = places.setdefault(form, alone)
            if known[-1] == place:
                continue
            if isinstance(known, list):
                known.append(place)
            else:
                places[form] = [*known, place]
    return places


def _stems(terms: Iterable[Term]) -> list[str]:
    """Forms that terms can be found by apart from their keys: a year also by its decade and century."""
    word, year = TermKind.WORD, TermKind.YEAR
    stems = [term.key[:STEM_CHARS] for term in terms if term.kind is word and len(term.key) >= STEM_CHARS]
    for key in [term.key for term in terms if term.kind is year]:
        stems += (key[:2], key[:3])
    return stems
