"""Measures how cutting documents into chunks changes an evaluator's predictions (Godbole & Jia, 2.1 and 4.2).

An evaluator with a short context window reads a document in chunks of whole sentences, and the claim gets the highest
score of any chunk. If a claim relies on two distant passages, no single chunk contains all of its evidence. Documents
are cut as the verifiers cut them (`cut_by_words`), so R2-diff describes the chunks that the evaluator read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from factloop.core.records import Count, Record, Share
from factloop.evaluation.audit.figures import Bools, Floats, Group
from factloop.evaluation.audit.surface import NoTextError, bigrams_of, by_document, precision
from factloop.evaluation.audit.table import THRESHOLD, PredictionTable, pooled_groups, scores_of
from factloop.tools.judges.chunks import cut_by_words, word_ends

_CHUNKED = re.compile(r"(?P<whole>.+)@(?P<n_words>[1-9][0-9]*)")


class Changes(Record):
    n: Count
    n_lost: Count
    """Claims predicted attributable with the whole document but not with chunks."""
    n_gained: Count
    """Claims predicted attributable with chunks but not with the whole document."""
    share_lost: Share | None
    share_gained: Share | None
    share_changed: Share | None
    """Fractions of the `n` claims, or None if `n` is 0."""
    n_passed: Count
    """Claims predicted attributable with the whole document. Only these can be lost."""


class LongDocumentRates(Record):
    """One column's rates on claims whose documents are longer than a chunk (the paper's Table 30)."""

    n_attributable: Count
    n_unattributable: Count
    tpr: Share | None
    """Each rate is None if no claims have the relevant label."""
    tnr: Share | None
    balanced_accuracy: Share | None
    predicted_positive_rate: Share | None
    """Fraction of claims predicted attributable. None if there are no claims."""


class ChunkingBias(Record):
    """How chunks affect one evaluator on the claims of a group whose documents are longer than a chunk."""

    group: Group
    evaluator: str
    chunked: str
    n_words: Count
    threshold: float
    within: Changes
    """Claims with an R2-diff of zero: one chunk has all the wording that the document shares with the claim."""
    across: Changes
    """Claims with an R2-diff above zero: no single chunk has all of that wording."""
    on_whole: LongDocumentRates
    """Rates with whole documents, over all claims with long documents that are scored in both columns."""
    on_chunks: LongDocumentRates
    n_short: Count
    """Claims left out because their documents fit into one chunk."""
    n_no_similarity: Count
    """Claims left out because they have fewer than two words."""
    n_unscored: Count
    """Claims left out because they lack a score in one of the two columns."""
    n_no_document: Count
    """Claims left out because their document is blank."""


def chunked_evaluators(names: Iterable[str]) -> list[tuple[str, str, int]]:
    """Returns each chunked evaluator's name, column and chunk size, such as (`NAME`, `NAME@500`, 500)."""
    given = list(names)
    found = [(match["whole"], name, int(match["n_words"])) for name in given if (match := _CHUNKED.fullmatch(name))]
    return [(whole, name, n_words) for whole, name, n_words in found if whole in given]


@dataclass(frozen=True)
class R2Differences:
    n_words: int
    values: Floats
    """Shape (n_rows,), in [0, 1]: the claim's ROUGE-2 precision against the whole document, minus its best precision
    against any single chunk. NaN if the claim has fewer than two words or `is_cut` is False."""
    is_cut: Bools
    """Shape (n_rows,): whether the document has more than `n_words` words, as counted by `cut_by_words`."""


def r2_differences(table: PredictionTable, n_words: int) -> R2Differences:
    """Returns the R2-diff of every claim whose document does not fit into one chunk. Raises NoTextError if the table
    contains no text, and ValueError if `n_words` is zero."""
    if table.claim_text is None or table.document is None:
        raise NoTextError("cannot compute R2-diff: the table must contain claims and documents")
    values, is_cut = np.full(table.n_rows, np.nan), np.zeros(table.n_rows, dtype=np.bool_)
    for document, places in by_document(table.document):
        if len(word_ends([document])[0]) > n_words:
            is_cut[places] = True
            values[places] = _differences(document, [table.claim_text[place] for place in places], n_words)
    return R2Differences(n_words, values, is_cut)


def _differences(document: str, claims: Sequence[str], n_words: int) -> list[float]:
    whole, chunks = bigrams_of(document), [bigrams_of(chunk) for chunk in cut_by_words(document, n_words)]
    values = []
    for claim in map(bigrams_of, claims):
        most = precision(claim, whole)
        best = max((precision(claim, chunk) or 0.0 for chunk in chunks), default=0.0)
        values.append(np.nan if most is None else max(0.0, most - best))
    return values


def chunking_bias(
    table: PredictionTable, evaluator: str, chunked: str, r2_diff: R2Differences, *, threshold: float = THRESHOLD
) -> tuple[ChunkingBias, ...]:
    """Returns the changes for each data set, each task group, and all claims together.

    Evaluators with the same chunk size can share `r2_diff`. As in the paper's Figure 5, each fraction is taken over all
    claims in `within` or `across`, not only over those predicted attributable with the whole document.
    """
    scores, cut = scores_of(table, evaluator), scores_of(table, chunked)
    is_known, is_scored = ~np.isnan(r2_diff.values), ~np.isnan(scores) & ~np.isnan(cut)
    is_used, is_across = is_known & is_scored, r2_diff.values > 0.0
    return tuple(
        ChunkingBias(
            group=group,
            evaluator=evaluator,
            chunked=chunked,
            n_words=r2_diff.n_words,
            threshold=threshold,
            within=_changes(scores, cut, rows & is_used & ~is_across, threshold),
            across=_changes(scores, cut, rows & is_used & is_across, threshold),
            on_whole=_rates(table, scores, rows & r2_diff.is_cut & is_scored, threshold),
            on_chunks=_rates(table, cut, rows & r2_diff.is_cut & is_scored, threshold),
            n_short=int((rows & ~r2_diff.is_cut & ~table.lacks_document).sum()),
            n_no_similarity=int((rows & r2_diff.is_cut & ~is_known).sum()),
            n_unscored=int((rows & is_known & ~is_scored).sum()),
            n_no_document=int((rows & table.lacks_document).sum()),
        )
        for group, rows in pooled_groups(table)
    )


def _changes(scores: Floats, cut: Floats, rows: Bools, threshold: float) -> Changes:
    before, after = scores[rows] >= threshold, cut[rows] >= threshold
    n, n_lost, n_gained = len(before), int((before & ~after).sum()), int((~before & after).sum())
    return Changes(
        n=n,
        n_lost=n_lost,
        n_gained=n_gained,
        share_lost=n_lost / n if n else None,
        share_gained=n_gained / n if n else None,
        share_changed=(n_lost + n_gained) / n if n else None,
        n_passed=int(before.sum()),
    )


def _rates(table: PredictionTable, scores: Floats, rows: Bools, threshold: float) -> LongDocumentRates:
    is_attributable, passed = table.label[rows] == 1, scores[rows] >= threshold
    n, n_attributable = len(passed), int(is_attributable.sum())
    n_unattributable = n - n_attributable
    tpr = int((is_attributable & passed).sum()) / n_attributable if n_attributable else None
    tnr = int((~is_attributable & ~passed).sum()) / n_unattributable if n_unattributable else None
    return LongDocumentRates(
        n_attributable=n_attributable,
        n_unattributable=n_unattributable,
        tpr=tpr,
        tnr=tnr,
        balanced_accuracy=None if tpr is None or tnr is None else (tpr + tnr) / 2.0,
        predicted_positive_rate=int(passed.sum()) / n if n else None,
    )
