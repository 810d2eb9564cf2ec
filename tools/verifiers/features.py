"""How far the words, names and figures of a claim agree with the passages, as numbers in [0, 1].

Every feature grows with agreement, so that a model with weights of no less than zero is monotone: more of the claim
found in the evidence never lowers its score. The length of the claim is no feature, for a claim is not truer by being
short.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from factloop.tools.verifiers.passage_index import PassageIndex, stem_of
from factloop.tools.verifiers.terms import CONTENT, FIGURES, SentenceTerms, Term, TermKind

WINDOW = 3
"""Sentences that are read together."""
N_CANDIDATES = 8
"""Sentences compared in full: those that hold the most of the claim."""
MAX_CLAIM_TERMS = 200
"""Content terms of a claim that are compared; longer texts are no claims, and time stays bounded."""

Place = tuple[int, int]
"""Index of a passage, and of a sentence in it."""

FEATURES = (
    "best_sentence",  # share of the claim's content terms in the one best sentence
    "best_window",  # the same for the best three sentences in a row
    "best_three",  # the same for three sentences chosen one by one, wherever they stand
    "rare_terms",  # as best_window, each term weighted by how few of the sentences hold it
    "focus",  # share of the best sentence's own content that the claim speaks of
    "third_sentence",  # share of the claim in the third best sentence: whether the evidence is about the matter at all
    "first_term",  # 1 if the claim's first content term, mostly its subject, is in the best window
    "last_term",  # the same for its last
    "names",  # share of its names in the best window; 1 where it has none
    "all_names",  # 1 if no name is missing from the evidence as a whole
    "all_figures",  # the same for figures
    "figures_agree",  # 0 if the best window lacks a figure of the claim and has others in its place
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
    by_passage: tuple[int, ...]
    """Masks of the terms in each passage that holds any of the claim."""
    window: tuple[SentenceTerms, ...]
    """The best window; its first sentence holds some of the claim."""
    best: SentenceTerms
    """The sentence that holds the most of the claim."""
    candidates: tuple[SentenceTerms, ...]
    """The sentences that hold the most of the claim, best first; `best` is the first."""
    shares: tuple[tuple[int, float], ...]
    """Index of a passage and the share of the claim in its best window, best first; only passages that hold any."""

    @property
    def read(self) -> tuple[SentenceTerms, ...]:
        """The sentences to read closely: the candidates, and those of the window that are not among them."""
        return tuple({id(sentence): sentence for sentence in (*self.candidates, *self.window)}.values())

    def stand_together(self, terms: Iterable[Term]) -> bool:
        """Whether some one passage holds all of these terms of the claim that any passage holds."""
        asked = self.found & _union(1 << self.terms.index(term) for term in terms)
        return any(held & asked == asked for held in self.by_passage)

    def missing(self, kinds: frozenset[TermKind] = CONTENT) -> tuple[Term, ...]:
        """The terms of these kinds that no passage holds."""
        return tuple(term for bit, term in enumerate(self.terms) if term.kind in kinds and not self.found >> bit & 1)


def compare(claim: Sequence[SentenceTerms], passages: Sequence[PassageIndex]) -> ClaimComparison | None:
    """The comparison, or None where the passages hold no content term of the claim, or it has none.

    Takes time in the number of places where the claim's terms stand, not in the length of the passages.
    """
    terms = content_terms(claim)[:MAX_CLAIM_TERMS]
    masks = _masks(terms, passages)
    if not masks:
        return None
    windows = _windows(masks)
    start = min(windows, key=lambda at: (-windows[at].bit_count(), at))
    window = passages[start[0]].sentences[start[1] : start[1] + WINDOW]
    ranked = sorted(masks, key=lambda at: (-masks[at].bit_count(), at))[:N_CANDIDATES]
    candidates = tuple(passages[passage].sentences[place] for passage, place in ranked)
    n_sentences = sum(len(index.sentences) for index in passages)
    found = _union(masks.values())
    full = (1 << len(terms)) - 1
    names, figures = _mask_of(terms, {TermKind.NAME}), _mask_of(terms, FIGURES)
    values = {
        "best_sentence": _share(masks[ranked[0]], full),
        "best_window": _share(windows[start], full),
        "best_three": _share(_best_three([masks[at] for at in ranked]), full),
        "rare_terms": _rare_share(windows[start], len(terms), list(masks.values()), n_sentences),
        "focus": _focus(candidates[0], terms),
        "third_sentence": _share(masks[ranked[2]], full) if len(ranked) > 2 else 0.0,
        "first_term": float(windows[start] & 1),
        "last_term": float(windows[start] >> (len(terms) - 1) & 1),
        "names": _share(windows[start], names),
        "all_names": float(names & found == names),
        "all_figures": float(figures & found == figures),
        "figures_agree": float(not _has_other_figure(terms, windows[start], window)),
    }
    return ClaimComparison(
        features=tuple(values[name] for name in FEATURES),
        terms=terms,
        found=found,
        by_passage=_by_passage(masks),
        window=window,
        best=candidates[0],
        candidates=candidates,
        shares=_passage_shares(windows, full),
    )


def content_terms(sentences: Iterable[SentenceTerms]) -> tuple[Term, ...]:
    """The distinct content terms, in order."""
    return tuple({term.key: term for sentence in sentences for term in sentence.terms if term.kind in CONTENT}.values())


def _has_other_figure(terms: Sequence[Term], held: int, window: Iterable[SentenceTerms]) -> bool:
    """Whether the window lacks a figure of the claim and has one of the same kind that the claim has not."""
    claimed = {term.key for term in terms}
    others = {term.kind for sentence in window for term in sentence.terms if term.key not in claimed}
    return any(term.kind in FIGURES & others for bit, term in enumerate(terms) if not held >> bit & 1)


def _masks(terms: Sequence[Term], passages: Sequence[PassageIndex]) -> dict[Place, int]:
    masks: dict[Place, int] = {}
    for passage, index in enumerate(passages):
        for bit, term in enumerate(terms):
            for place in index.places(term):
                at = (passage, place)
                masks[at] = masks.get(at, 0) | 1 << bit
    return masks


def _windows(masks: Mapping[Place, int]) -> dict[Place, int]:
    """The terms of each sentence that holds any of the claim and of the next ones. No window spans two passages."""
    return {
        (passage, place): _union(masks.get((passage, place + step), 0) for step in range(WINDOW))
        for passage, place in masks
    }


def _union(masks: Iterable[int]) -> int:
    return reduce(or_, masks, 0)


def _mask_of(terms: Sequence[Term], kinds: Container[TermKind]) -> int:
    return sum(1 << bit for bit, term in enumerate(terms) if term.kind in kinds)


def _share(held: int, asked: int) -> float:
    """Share of the asked bits that are held; 1 where nothing is asked."""
    return (held & asked).bit_count() / asked.bit_count() if asked else 1.0


def _best_three(masks: Sequence[int]) -> int:
    """The most terms that three sentences hold together, each chosen for what it adds."""
    held = 0
    for _ in range(3):
        held |= max(masks, key=lambda mask: (mask & ~held).bit_count())
    return held


def _rare_share(held: int, n_terms: int, masks: Sequence[int], n_sentences: int) -> float:
    """Share held, each term weighted by log((n + 1) / (df + 1/2)) over the n sentences at hand."""
    weights = [math.log((n_sentences + 1) / (sum(mask >> bit & 1 for mask in masks) + 0.5)) for bit in range(n_terms)]
    return sum(weight for bit, weight in enumerate(weights) if held >> bit & 1) / sum(weights)


def _focus(sentence: SentenceTerms, terms: Sequence[Term]) -> float:
    """Share of the sentence's own content that the claim speaks of."""
    own = content_terms([sentence])
    keys, stems = {term.key for term in terms}, {stem_of(term) for term in terms} - {None}
    return sum(term.key in keys or stem_of(term) in stems for term in own) / len(own)


def _by_passage(masks: Mapping[Place, int]) -> tuple[int, ...]:
    held: dict[int, int] = {}
    for (passage, _), mask in masks.items():
        held[passage] = held.get(passage, 0) | mask
    return tuple(held.values())


def _passage_shares(windows: Mapping[Place, int], full: int) -> tuple[tuple[int, float], ...]:
    best: dict[int, float] = {}
    for (passage, _), mask in windows.items():
        best[passage] = max(best.get(passage, 0.0), _share(mask, full))
    return tuple(sorted(best.items(), key=lambda item: (-item[1], item[0])))
