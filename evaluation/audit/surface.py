"""Does an evaluator follow the wording? Its rates by how much of a claim's wording the document has.

Godbole & Jia, section 4.1: evaluators pass false claims that copy the document, and refuse true ones that paraphrase
it. Similarity is ROUGE-2 precision (Lin 2004), the share of a claim's pairs of neighbouring words that the document
has; the claims of a task group fall into five bins by its percentiles.
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
    """Claims of like similarity, from the least to the most."""

    low: Share | None
    high: Share | None
    """Least and greatest similarity within; None without claims, as where many have the same similarity."""
    n_attributable: Count
    n_unattributable: Count
    """Claims labelled unattributable and scored."""
    tpr: Share | None
    """Share of the attributable claims predicted so; None without such claims. Falls in the low bins if the evaluator
    punishes paraphrase."""
    tnr: Share | None
    """Share of the unattributable claims predicted so. Falls in the high bins if copied wording misleads it."""


class SurfaceBias(Record):
    """One evaluator on one group of claims."""

    group: Group
    evaluator: str
    threshold: float
    bins: tuple[SimilarityBin, ...]
    """Five; equal similarities are never parted, so that bins differ in size."""
    n: Count
    """Claims in the bins."""
    n_no_similarity: Count
    """Claims left out as they have fewer than two words."""
    n_no_document: Count
    """Claims left out as their document is blank."""
    n_unscored: Count
    """Claims left out as the evaluator gave no score; the bounds of the bins rest on them, too."""


class NoTextError(ValueError):
    """The table lacks claims or documents, so that no similarity can be taken."""


def bigrams_of(text: str) -> Bigrams:
    """How often each pair of neighbouring words occurs; words are lower-cased runs of letters and digits.

    On ASCII text these are the words of the `rouge_score` package without its stemmer. Departure: it drops all other
    letters, so that a Greek claim has no words and "café" is "caf"; here they count.
    """
    return Counter(pairwise(_WORD.findall(text.lower())))


def precision(claim: Bigrams, document: Bigrams) -> float | None:
    """Share in [0, 1] of the claim's bigrams found in the document, each at most as often as it occurs there.

    None for a claim of fewer than two words, of which no share can be taken; `rouge_score` gives 0 there.
    """
    total = sum(claim.values())
    found = sum(min(times, document.get(pair, 0)) for pair, times in claim.items())
    return found / total if total else None


def by_document(documents: Sequence[str]) -> Iterator[tuple[str, list[int]]]:
    """The distinct documents, each with the places at which it stands: each is read once, for all its claims."""
    places: dict[str, list[int]] = {}
    for place, document in enumerate(documents):
        places.setdefault(document, []).append(place)
    yield from places.items()


def similarities(table: PredictionTable) -> Floats:
    """(n_rows,): ROUGE-2 precision of each claim against its document.

    NaN for a claim of fewer than two words, and for one without a document: what a search did not find is not unlike.

    Departure from the paper's words ("the fraction of claim bigrams that appear in the document"): a bigram that the
    claim repeats counts as found no more often than the document has it, as ROUGE has it. Raises NoTextError.
    """
    if table.claim_text is None or table.document is None:
        raise NoTextError("similarity takes the text of the claims and their documents")
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
    """The rates by bin for each data set, each task group and all claims together, as `pooled_groups` has them.

    The paper gives those of the task groups. `similarity` is that of `similarities`, taken once for all evaluators; the
    bounds of the bins follow from it alone, so that two evaluators have the same bins.
    """
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
    """The bin of each claim, -1 without a similarity; a value on a bound belongs to the bin below, as in pandas."""
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
