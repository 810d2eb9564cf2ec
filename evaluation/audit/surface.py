"""Does an evaluator follow the wording? Its rates by how much of a claim's wording the document has.

Godbole & Jia, section 4.1: evaluators pass false claims that copy the document, and refuse true ones that paraphrase
it. Similarity is ROUGE-2 precision; the claims of a task group fall into five bins by its percentiles.
"""

from __future__ import annotations

import numpy as np

from factloop.core.records import Count, Record, Share
from factloop.evaluation.audit.bigrams import Floats, precisions
from factloop.evaluation.audit.estimate import Group
from factloop.evaluation.audit.table import THRESHOLD, PredictionTable
from factloop.evaluation.audit.units import Bools, pooled_groups, scores_of

N_BINS = 5


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
    n_no_document: Count = 0
    """Claims left out as their document is blank. Audits before version 2.2 took their similarity to be 0."""
    n_unscored: Count
    """Claims left out as the evaluator gave no score; the bounds of the bins rest on them, too."""


class NoTextError(ValueError):
    """The table lacks claims or documents, so that no similarity can be taken."""


def similarities(table: PredictionTable) -> Floats:
    """(n_rows,): ROUGE-2 precision of each claim against its document.

    NaN for a claim of fewer than two words, and for one without a document: what a search did not find is not unlike.

    Departure from the paper's words ("the fraction of claim bigrams that appear in the document"): a bigram that the
    claim repeats counts as found no more often than the document has it, as ROUGE has it. Raises NoTextError.
    """
    if table.claim_text is None or table.document is None:
        raise NoTextError("similarity takes the text of the claims and their documents")
    return np.where(table.lacks_document, np.nan, precisions(table.claim_text, table.document))


def surface_bias(
    table: PredictionTable, evaluator: str, similarity: Floats, *, threshold: float = THRESHOLD
) -> tuple[SurfaceBias, ...]:
    """The rates by bin for each data set, each task group and all claims together, as `pooled_groups` has them.

    The paper gives those of the task groups. `similarity` is that of `similarities`, taken once for all evaluators; the
    bounds of the bins follow from it alone, so that two evaluators have the same bins.
    """
    scores = scores_of(table, evaluator)
    lacks = table.lacks_document
    return tuple(
        _bias(group, evaluator, table.label[rows] == 1, scores[rows], similarity[rows], lacks[rows], threshold)
        for group, rows in pooled_groups(table)
    )


def _bias(
    group: Group,
    evaluator: str,
    is_attributable: Bools,
    scores: Floats,
    similarity: Floats,
    lacks_document: Bools,
    threshold: float,
) -> SurfaceBias:
    number, is_scored = _bins(similarity), ~np.isnan(scores)
    passed = scores >= threshold
    used = is_scored & (number >= 0)
    return SurfaceBias(
        group=group,
        evaluator=evaluator,
        threshold=threshold,
        bins=tuple(
            _bin(similarity[chosen], is_attributable[chosen], passed[chosen])
            for chosen in (used & (number == place) for place in range(N_BINS))
        ),
        n=int(used.sum()),
        n_no_similarity=int(((number < 0) & ~lacks_document).sum()),
        n_no_document=int(lacks_document.sum()),
        n_unscored=int((~is_scored & (number >= 0)).sum()),
    )


def _bins(similarity: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """The bin of each claim, -1 without a similarity; a value on a bound belongs to the bin below, as in pandas."""
    number = np.full(len(similarity), -1)
    known = ~np.isnan(similarity)
    if known.any():
        bounds = np.quantile(similarity[known], np.arange(1, N_BINS) / N_BINS)
        number[known] = np.searchsorted(bounds, similarity[known], side="left")
    return number


def _bin(similarity: Floats, is_attributable: Bools, passed: Bools) -> SimilarityBin:
    n_attributable = int(is_attributable.sum())
    n_unattributable = len(similarity) - n_attributable
    true_passed, false_stopped = int((is_attributable & passed).sum()), int((~is_attributable & ~passed).sum())
    return SimilarityBin(
        low=float(similarity.min()) if len(similarity) else None,
        high=float(similarity.max()) if len(similarity) else None,
        n_attributable=n_attributable,
        n_unattributable=n_unattributable,
        tpr=true_passed / n_attributable if n_attributable else None,
        tnr=false_stopped / n_unattributable if n_unattributable else None,
    )
