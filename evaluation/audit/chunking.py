"""The effect of cutting documents into chunks on an evaluator's predictions (Godbole & Jia, sections 2.1 and 4.2).

An evaluator with a short window reads a document in chunks of whole sentences and takes its best score. A claim that
draws on two distant parts then finds no chunk that has both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from factloop.core.records import Count, Record, Share
from factloop.evaluation.audit.bigrams import Floats, bigrams_of, by_document, precision
from factloop.evaluation.audit.estimate import Group
from factloop.evaluation.audit.surface import NoTextError
from factloop.evaluation.audit.table import THRESHOLD, PredictionTable
from factloop.evaluation.audit.units import Bools, pooled_groups, scores_of

SplitSentences = Callable[[str], Sequence[str]]
"""A document into its sentences, in order."""

_CHUNKED = re.compile(r"(?P<whole>.+)@(?P<n_words>[1-9][0-9]*)")


class Changes(Record):
    """How predictions change when the evaluator reads chunks, over claims that both of its columns score."""

    n: Count
    n_lost: Count
    """Attributable with the whole document, unattributable with chunks."""
    n_gained: Count
    """The other way round."""
    share_lost: Share | None
    share_gained: Share | None
    share_changed: Share | None
    """Share of the `n` claims whose prediction changes; None without claims."""


class ChunkingBias(Record):
    """One evaluator with and without chunks, on one group of claims whose documents are longer than a chunk."""

    group: Group
    evaluator: str
    chunked: str
    """The column of the scores on chunks."""
    n_words: Count
    """Words in a chunk, at most."""
    threshold: float
    within: Changes
    """R2-diff of zero: some chunk has all the wording that the document shares with the claim."""
    across: Changes
    """R2-diff above zero: no single chunk has it."""
    n_short: Count
    """Claims left out as their documents fit into one chunk."""
    n_no_similarity: Count
    """Claims left out as they have fewer than two words."""
    n_unscored: Count
    """Claims left out as one of the two columns has no score."""


def chunked_evaluators(names: Iterable[str]) -> list[tuple[str, str, int]]:
    """Evaluators that stand in the table twice: `NAME`, its chunked column `NAME@500`, and the words in a chunk."""
    given = list(names)
    found = [(match["whole"], name, int(match["n_words"])) for name in given if (match := _CHUNKED.fullmatch(name))]
    return [(whole, name, n_words) for whole, name, n_words in found if whole in given]


def chunks_of(sentences: Sequence[str], n_words: int) -> list[str]:
    """Runs of whole sentences, each as long as `n_words` words (between white space) allow.

    A sentence longer than that is a chunk of its own and is not cut. Raises ValueError for no words at all.
    """
    if n_words < 1:
        raise ValueError("a chunk has at least one word")
    chunks: list[list[str]] = []
    room = 0
    for sentence in sentences:
        length = len(sentence.split())
        if not chunks or length > room:
            chunks.append([])
            room = n_words
        chunks[-1].append(sentence)
        room -= length
    return [" ".join(chunk) for chunk in chunks]


@dataclass(frozen=True)
class R2Differences:
    """R2-diff of every claim for chunks of one size; arrays of shape (n_rows,)."""

    n_words: int
    values: Floats
    """In [0, 1]: ROUGE-2 precision of the claim against the whole document less the best against a single chunk; 0 if
    one chunk has all that is shared. NaN for a claim of fewer than two words, and where `is_cut` is false."""
    is_cut: Bools
    """The document has more than `n_words` words."""


def r2_differences(table: PredictionTable, n_words: int, split: SplitSentences) -> R2Differences:
    """R2-diff of every claim whose document does not fit into one chunk. Raises NoTextError.

    `split` runs once on each such document. Should it lose text, R2-diff is larger by what was lost; should it add
    some, it stays at 0.
    """
    if table.claim_text is None or table.document is None:
        raise NoTextError("R2-diff takes the text of the claims and their documents")
    values, is_cut = np.full(table.n_rows, np.nan), np.zeros(table.n_rows, dtype=np.bool_)
    for document, places in by_document(table.document):
        if len(document.split()) > n_words:
            is_cut[places] = True
            values[places] = _differences(document, [table.claim_text[place] for place in places], n_words, split)
    return R2Differences(n_words, values, is_cut)


def _differences(document: str, claims: Sequence[str], n_words: int, split: SplitSentences) -> list[float]:
    whole, chunks = bigrams_of(document), [bigrams_of(chunk) for chunk in chunks_of(split(document), n_words)]
    values = []
    for claim in map(bigrams_of, claims):
        most = precision(claim, whole)
        best = max((precision(claim, chunk) or 0.0 for chunk in chunks), default=0.0)
        values.append(np.nan if most is None else max(0.0, most - best))
    return values


def chunking_bias(
    table: PredictionTable, evaluator: str, chunked: str, r2_diff: R2Differences, *, threshold: float = THRESHOLD
) -> tuple[ChunkingBias, ...]:
    """The changes for each data set, each task group and all claims together, as `pooled_groups` has them.

    `r2_diff` is taken once for all evaluators with chunks of its size. Shares are of all claims of a kind, as in the
    paper's Figure 5, not of those predicted attributable at first.
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
            n_short=int((rows & ~r2_diff.is_cut).sum()),
            n_no_similarity=int((rows & r2_diff.is_cut & ~is_known).sum()),
            n_unscored=int((rows & is_known & ~is_scored).sum()),
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
    )
