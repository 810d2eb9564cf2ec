"""Measures whether an evaluator relies on shared wording (Godbole & Jia, section 4.1).

An evaluator that does so accepts false claims that copy the document and rejects true claims that paraphrase it.
Similarity is ROUGE-2 precision (Lin 2004), the fraction of a claim's bigrams that occur in the document. A group's
claims are divided into five bins at percentiles of their similarity.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from factloop.core.records import Count, Record, Share
from factloop.evaluation.audit.figures import Bools, Floats, Group, Ints
from factloop.evaluation.audit.table import THRESHOLD, PredictionTable, pooled_groups, scores_of

N_BINS = 5
Bigrams = Mapping[tuple[str, str], int]

_WORD = re.compile(r"[^\W_]+")


class SimilarityBin(Record):
    """Bins are ordered from the least to the most overlap with the document."""

    low: Share | None
    high: Share | None
    """Smallest and largest similarity in the bin. None if ties leave it empty."""
    n_attributable: Count
    n_unattributable: Count
    """Scored claims labelled unattributable."""
    tpr: Share | None
    """Fraction of attributable claims that are predicted attributable, or None if there are none. It is lower in the
    low bins if the evaluator penalizes paraphrases."""
    tnr: Share | None
    """Like `tpr`, but for unattributable claims. It is lower in the high bins if copied wording misleads."""


class SurfaceBias(Record):
    group: Group
    evaluator: str
    threshold: float
    bins: tuple[SimilarityBin, ...]
    """Claims with equal similarity share a bin, so bins differ in size."""
    n: Count
    n_no_similarity: Count
    """Claims left out because they have fewer than two words."""
    n_no_document: Count
    """Claims left out because their document is blank."""
    n_unscored: Count
    """Claims left out because the evaluator gave no score. They still affect the boundaries of the bins."""


class NoTextError(ValueError):
    """The table does not contain both claims and documents."""


def bigrams_of(text: str) -> Bigrams:
    """Counts each pair of adjacent words. A word is a run of letters and digits, in lower case.

    On ASCII text, these are the words of the `rouge_score` package without its stemmer. Departure: the package drops
    all other letters, so that a Greek claim has no words and "café" becomes "caf". This function keeps them.
    """
    return Counter(pairwise(_WORD.findall(text.lower())))


def precision(claim: Bigrams, document: Bigrams) -> float | None:
    """Returns the fraction in [0, 1] of the claim's bigrams that occur in the document, or None if the claim has no
    bigrams.

    `rouge_score` returns 0 for a claim without bigrams. Departure from the paper's wording ("the fraction of claim
    bigrams that appear in the document"): as in ROUGE, a bigram that the claim repeats counts at most as often as it
    occurs in the document.
    """
    total = sum(claim.values())
    found = sum(min(times, document.get(pair, 0)) for pair, times in claim.items())
    return found / total if total else None


def by_document(documents: Sequence[str]) -> Iterator[tuple[str, list[int]]]:
    """Yields each distinct document with the positions of its claims."""
    places: dict[str, list[int]] = {}
    for place, document in enumerate(documents):
        places.setdefault(document, []).append(place)
    yield from places.items()


def similarities(table: PredictionTable) -> Floats:
    """Returns each claim's ROUGE-2 precision against its document, with shape (n_rows,).

    The result is NaN for claims with fewer than two words. It is also NaN for claims without a document, because a
    search that found nothing does not imply low similarity. Raises NoTextError if the table contains no text.
    """
    if table.claim_text is None or table.document is None:
        raise NoTextError("cannot compute similarity: the table must contain claims and documents")
    values = np.full(table.n_rows, np.nan)
    for document, places in by_document(table.document):
        bigrams = bigrams_of(document)
        for place in places:
            value = precision(bigrams_of(table.claim_text[place]), bigrams)
            values[place] = np.nan if value is None else value
    return np.where(table.lacks_document, np.nan, values)


def surface_bias(
    table: PredictionTable, evaluator: str, similarity: Floats, *, threshold: float = THRESHOLD
) -> tuple[SurfaceBias, ...]:
    """Returns the rates by bin for each data set, each task group, and all claims together. The paper reports task
    groups. `similarity` comes from `similarities`. It alone determines the bins, so all evaluators share them."""
    scores, holds, lacks = scores_of(table, evaluator), table.label == 1, table.lacks_document
    found = []
    for group, rows in pooled_groups(table):
        number = np.full(table.n_rows, -1)
        number[rows] = _bins(similarity[rows])
        used = rows & ~np.isnan(scores) & (number >= 0)
        found.append(
            SurfaceBias(
                group=group,
                evaluator=evaluator,
                threshold=threshold,
                bins=tuple(
                    _bin(similarity[chosen], holds[chosen], scores[chosen] >= threshold)
                    for chosen in (used & (number == place) for place in range(N_BINS))
                ),
                n=int(used.sum()),
                n_no_similarity=int((rows & (number < 0) & ~lacks).sum()),
                n_no_document=int((rows & lacks).sum()),
                n_unscored=int((rows & np.isnan(scores) & (number >= 0)).sum()),
            )
        )
    return tuple(found)


def _bins(similarity: Floats) -> Ints:
    """Returns each claim's bin, or -1 if similarity is NaN. As in pandas, bins include their upper boundary."""
    number = np.full(len(similarity), -1)
    known = ~np.isnan(similarity)
    if known.any():
        bounds = np.quantile(similarity[known], np.arange(1, N_BINS) / N_BINS)
        number[known] = np.searchsorted(bounds, similarity[known], side="left")
    return number


def _bin(similarity: Floats, holds: Bools, passed: Bools) -> SimilarityBin:
    n_attributable, n_unattributable = int(holds.sum()), int((~holds).sum())
    return SimilarityBin(
        low=float(similarity.min()) if len(similarity) else None,
        high=float(similarity.max()) if len(similarity) else None,
        n_attributable=n_attributable,
        n_unattributable=n_unattributable,
        tpr=int((holds & passed).sum()) / n_attributable if n_attributable else None,
        tnr=int((~holds & ~passed).sum()) / n_unattributable if n_unattributable else None,
    )
