"""The places of the terms of a passage: built once a passage, kept, and asked once a claim."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import TypeVar

from factloop.tools.verifiers.terms import SentenceTerms, Term, TermKind, read_passage, read_sentences

MAX_KEPT_CHARS = 20_000
MAX_KEPT_PASSAGES = 1_000
MAX_KEPT_TERMS = 50_000

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


@lru_cache(maxsize=MAX_KEPT_TERMS)
def _stems(term: Term) -> tuple[str, ...]:
    """Forms that a term can be found by apart from its key: a year also by its decade and century."""
    if term.kind is TermKind.YEAR:
        return (term.key[:2], term.key[:3])
    stem = stem_of(term)
    return () if stem is None else (stem,)


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
    by_key: defaultdict[str, list[int]] = defaultdict(list)
    by_stem: defaultdict[str, list[int]] = defaultdict(list)
    for place, sentence in enumerate(sentences):
        for key in {term.key for term in sentence.terms}:
            by_key[key].append(place)
        for stem in {stem for term in sentence.terms for stem in _stems(term)}:
            by_stem[stem].append(place)
    return PassageIndex(sentences, dict(by_key), dict(by_stem))
