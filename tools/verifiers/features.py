"""How far the words, names and figures of a claim agree with the passages, as numbers in [0, 1].

Every feature grows with agreement, so that a model with weights of no less than zero is monotone: more of the claim
found in the evidence never lowers its score. The length of the claim is no feature, for a claim is not truer by being
short.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from factloop.tools.verifiers.alignment import Alignment, align
from factloop.tools.verifiers.checks.dates import follows_from
from factloop.tools.verifiers.passage_index import PassageIndex, stem_of
from factloop.tools.verifiers.reading import read_together
from factloop.tools.verifiers.terms import CONTENT, FIGURES, SentenceTerms, Term, TermKind

WINDOW = 3
"""Sentences that are read together."""
MAX_CLAIM_SENTENCES = 8
"""Sentences of a claim that are read closely."""
N_CANDIDATES = 8
"""Sentences compared in full: those that hold the most of the claim."""
MAX_CLAIM_TERMS = 200
"""Content terms of a claim that are compared; longer texts are no claims, and time stays bounded."""

Place = tuple[int, int]
"""Index of a passage, and of a sentence in it."""

FEATURES = (
    "best_sentence",  # share of the claim's content terms in the one best sentence
    "focus",  # share of the best sentence's own content that the claim speaks of
    "third_sentence",  # share of the claim in the third best sentence: whether the evidence is about the matter at all
    "all_names",  # 1 if no name is missing from the evidence as a whole
    "all_figures",  # the same for figures
    "partners",  # share of the claim with a partner in the best window: the same word, a synonym or the opposite
    "main_clause",  # share of the claim with its partner in one clause
    "last_word",  # 1 if the last content word, mostly what is new in a claim, or its partner stands anywhere
)


@dataclass(frozen=True)
class ClaimComparison:
    """One claim held against the passages. Bit i of a mask stands for `terms[i]`."""

    features: tuple[float, ...]
    """Shape (len(FEATURES),), each in [0, 1]."""
    terms: tuple[Term, ...]
    """The distinct content terms of the claim, in order, `MAX_CLAIM_TERMS` at most."""
    found: int
    """Mask of the terms that stand anywhere in the passages."""
    by_document: Mapping[int, int]
    """Masks of the terms in each document that holds any of the claim, by its number."""
    window: tuple[SentenceTerms, ...]
    """The best window; its first sentence holds some of the claim."""
    alignment: Alignment
    """The claim beside the best window."""
    candidates: tuple[SentenceTerms, ...]
    """The sentences that hold the most of the claim, best first."""
    documents_of: tuple[int, ...]
    """Of each candidate, the number of its document."""
    shares: tuple[tuple[int, float], ...]
    """Index of a passage and the share of the claim in its best window, best first; only passages that hold any."""

    def stand_in(self, document: int, terms: Iterable[Term]) -> bool:
        """Whether a document holds all of these terms of the claim that any passage holds."""
        asked = self.found & _union(1 << self.terms.index(term) for term in terms)
        return self.by_document[document] & asked == asked

    @property
    def has_all_figures(self) -> bool:
        """Whether each figure of the claim stands in the passages, in digits or in other words."""
        return self.features[FEATURES.index("all_figures")] == 1.0

    def stands_with_most(self, term: Term) -> bool:
        """Whether a term of the claim stands in a document that holds as much of it as any does, or in none at all."""
        bit = 1 << self.terms.index(term)
        masks = self.by_document.values()
        most = max(held.bit_count() for held in masks)
        return not self.found & bit or any(held & bit and held.bit_count() == most for held in masks)

    def missing(self, kinds: frozenset[TermKind] = CONTENT) -> tuple[Term, ...]:
        """The terms of these kinds that no passage holds."""
        return tuple(term for bit, term in enumerate(self.terms) if term.kind in kinds and not self.found >> bit & 1)


def compare(
    claim: Sequence[SentenceTerms], passages: Sequence[PassageIndex], documents: Sequence[int]
) -> ClaimComparison | None:
    """The comparison, or None where the passages hold no content term of the claim, or it has none.

    `documents` has the number of each passage's document. Takes time in the number of places where the claim's terms
    stand, not in the length of the passages.
    """
    terms = content_terms(claim)[:MAX_CLAIM_TERMS]
    masks = _masks(terms, passages)
    if not masks:
        return None
    windows = _windows(masks)
    names, figures = _mask_of(terms, {TermKind.NAME}), _mask_of(terms, FIGURES)
    start = min(windows, key=lambda at: (*_rank(windows[at], masks[at], figures | 1), at))
    window = passages[start[0]].sentences[start[1] : start[1] + WINDOW]
    ranked = sorted(masks, key=lambda at: (-masks[at].bit_count(), at))[:N_CANDIDATES]
    candidates = tuple(passages[passage].sentences[place] for passage, place in ranked)
    found = _union(masks.values())
    full = (1 << len(terms)) - 1
    alignment = align(read_together(tuple(claim[:MAX_CLAIM_SENTENCES])), read_together(window))
    values = {
        "best_sentence": _share(masks[ranked[0]], full),
        "focus": _focus(candidates[0], terms),
        "third_sentence": _share(masks[ranked[2]], full) if len(ranked) > 2 else 0.0,
        "all_names": float(names & found == names),
        "all_figures": float(_has_all_figures(figures & ~found, terms, alignment)),
        "partners": alignment.share,
        "main_clause": alignment.share_in_main,
        "last_word": float(_has_last_word(found, terms, alignment)),
    }
    return ClaimComparison(
        features=tuple(values[name] for name in FEATURES),
        terms=terms,
        found=found,
        by_document=_by_document(masks, documents),
        window=window,
        alignment=alignment,
        candidates=candidates,
        documents_of=tuple(documents[passage] for passage, _ in ranked),
        shares=_passage_shares(windows, full, start[0]),
    )


def content_terms(sentences: Iterable[SentenceTerms]) -> tuple[Term, ...]:
    """The distinct content terms, in order."""
    return tuple({term.key: term for sentence in sentences for term in sentence.terms if term.kind in CONTENT}.values())


def _masks(terms: Sequence[Term], passages: Sequence[PassageIndex]) -> dict[Place, int]:
    masks: defaultdict[Place, int] = defaultdict(int)
    for passage, index in enumerate(passages):
        for bit, term in enumerate(terms):
            for place in index.places(term):
                masks[passage, place] |= 1 << bit
    return masks


def _windows(masks: Mapping[Place, int]) -> dict[Place, int]:
    """The terms of each sentence that holds any of the claim and of the next ones. No window spans two passages."""
    windows = dict(masks)
    for (passage, place), mask in masks.items():
        for step in range(1, WINDOW):
            if (passage, place - step) in windows:
                windows[passage, place - step] |= mask
    return windows


def _rank(window: int, first: int, telling: int) -> tuple[int, int, int]:
    """Smallest for the window that holds the most of the claim; of equal ones that with its figures and its subject,
    then that whose first sentence holds the most."""
    return -window.bit_count(), -(window & telling).bit_count(), -first.bit_count()


def _union(masks: Iterable[int]) -> int:
    return reduce(or_, masks, 0)


def _mask_of(terms: Sequence[Term], kinds: Container[TermKind]) -> int:
    return sum(1 << bit for bit, term in enumerate(terms) if term.kind in kinds)


def _has_all_figures(missing: int, terms: Sequence[Term], alignment: Alignment) -> bool:
    """Whether each figure that stands nowhere is said in other words: a century for its years, "the year after"."""
    lacking = [term for bit, term in enumerate(terms) if missing >> bit & 1]
    keys = {alignment.claim.terms[place].key for place in alignment.pairs}
    return all(term.key in keys or follows_from(alignment.sentence, term) for term in lacking)


def _has_last_word(found: int, terms: Sequence[Term], alignment: Alignment) -> bool:
    keys = (alignment.claim.terms[place].key for place in alignment.pairs)
    return bool(found >> len(terms) - 1 & 1) or terms[-1].key in keys


def _share(held: int, asked: int) -> float:
    """Share of the asked bits that are held; 1 where nothing is asked."""
    return (held & asked).bit_count() / asked.bit_count() if asked else 1.0


def _focus(sentence: SentenceTerms, terms: Sequence[Term]) -> float:
    """Share of the sentence's own content that the claim speaks of."""
    own = content_terms([sentence])
    keys, stems = {term.key for term in terms}, {stem_of(term) for term in terms} - {None}
    return sum(term.key in keys or stem_of(term) in stems for term in own) / len(own)


def _by_document(masks: Mapping[Place, int], documents: Sequence[int]) -> Mapping[int, int]:
    held: dict[int, int] = {}
    for (passage, _), mask in masks.items():
        held[documents[passage]] = held.get(documents[passage], 0) | mask
    return held


def _passage_shares(windows: Mapping[Place, int], full: int, first: int) -> tuple[tuple[int, float], ...]:
    """The passages by their best windows; of equal ones `first` comes first."""
    best: dict[int, float] = {}
    for (passage, _), mask in windows.items():
        best[passage] = max(best.get(passage, 0.0), _share(mask, full))
    return tuple(sorted(best.items(), key=lambda item: (-item[1], item[0] != first, item[0])))
