"""Counts of a table and of its bootstrap resamples, from which the audit's figures follow with their intervals.

Claims of one response resemble each other, and so do responses to one prompt: a resample draws whole clusters, with
replacement, as many as there are, within each data set. Where clusters lie within one system (responses, or prompts
that no two systems share) they are drawn within that system, too, so that each keeps its number of them. A resample is
how often each cluster was drawn, and its counts are these numbers times the counts of each cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from factloop.core.records import Count, Record, Share
from factloop.evaluation.audit.figures import Bools, Floats, Ints
from factloop.evaluation.audit.table import (
    THRESHOLD,
    JudgedUnits,
    Level,
    PredictionTable,
    are_known,
    cells_of,
    judged_claims,
    judged_responses,
    tasks_of,
)
from factloop.evaluation.statistics.bootstrap import draw_counts, one_blas_thread

RESAMPLES = 1000
LEVEL = 0.95
_AT_ONCE = 2**18
"""Clusters drawn at once: their counters stay in the processor's cache."""


class Basis(Record):
    """The basis of an audit's figures."""

    thresholds: dict[str, Share]
    """Each evaluator's threshold: at and above it a score predicts that a claim is attributable."""
    n_claims: Count
    n_responses: Count
    clusters: Literal["prompt", "response"]
    """What the bootstrap draws."""
    n_clusters: Count
    n_resamples: Count
    level: Share
    """Level of the intervals."""
    n_effective: float | None = None
    """Claims of equal weight that would say as much, where rows have a `probability` and a claim counts for its
    inverse; None where all count the same."""


@dataclass(frozen=True)
class Tally:
    """Counts of claims or responses; the leading axis holds those of the table, then those of each resample.

    Where claims have weights these are sums of weights; those named `n_...` are of the table, and count each once.
    """

    labels: Floats
    """Shape (1 + n_resamples, n_cells, 2): units by label, whether or not they have a verdict."""
    confusion: Floats
    """Shape (1 + n_resamples, n_evaluators, n_cells, 2, 2): units with a verdict by label, then by verdict."""
    n_labels: Ints
    """Shape (n_cells, 2)."""
    n_confusion: Ints
    """Shape (n_evaluators, n_cells, 2, 2)."""
    cell_clusters: Ints
    """Shape (n_evaluators + 1, n_cells): clusters with a unit that has a verdict; last, with any unit."""
    dataset_clusters: Ints
    """Shape (n_evaluators + 1, n_datasets): likewise; systems of a data set may share clusters."""
    known_clusters: Ints
    """Shape (n_evaluators + 1, n_datasets): likewise, with a unit of a known system."""
    label_clusters: Ints
    """Shape (n_evaluators + 1, n_datasets, 2): likewise, with a unit of each label."""


@dataclass(frozen=True)
class CountTable:
    """The counts of a table at one threshold. A cell is one system on one data set, in the order of their names."""

    basis: Basis
    evaluators: tuple[str, ...]
    datasets: tuple[str, ...]
    tasks: tuple[str, ...] | None
    """The task group of each data set."""
    systems: tuple[str, ...]
    cell_dataset: Ints
    cell_system: Ints
    claims: Tally
    responses: Tally
    overlap: Floats
    """Shape (1 + n_resamples, n_datasets, n_pairs, 3): claims by both 0, both 1, different; see `pairs_of`."""
    n_overlap: Ints
    """Shape (n_datasets, n_pairs, 3): claims of the table, each of which counts once."""
    overlap_clusters: Ints
    """Shape (n_datasets, n_pairs)."""

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return pairs_of(len(self.evaluators))

    @property
    def is_of_known_system(self) -> Bools:
        """(n_cells,): the others are left out of all that is taken by system."""
        return are_known(self.systems)[self.cell_system]

    def tally(self, level: Level) -> Tally:
        return self.claims if level is Level.CLAIM else self.responses


def pairs_of(n_evaluators: int) -> list[tuple[int, int]]:
    """All pairs of evaluators, and each with the labels, whose place is the one after the last evaluator."""
    return [(one, other) for one in range(n_evaluators) for other in range(one + 1, n_evaluators + 1)]


def count(
    table: PredictionTable,
    *,
    threshold: float = THRESHOLD,
    rng: np.random.Generator | None = None,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> CountTable:
    """The counts of the table and, where `rng` is given, of its resamples.

    The order of the rows changes nothing, draws included. Raises ValueError for a data set with two task groups and a
    response with two prompts.
    """
    cells = cells_of(table)
    claims = judged_claims(table, cells, threshold)
    responses = judged_responses(table, claims)
    n_resamples = 0 if rng is None else resamples
    is_known = are_known(table.system.names)[cells.system]
    counts = _Counts(len(table.scores), is_known, len(table.dataset.names), n_resamples)
    with one_blas_thread():
        for stratum in _strata(claims, responses, cells.dataset):
            counts.add(stratum, rng)
    return CountTable(
        basis=Basis(
            thresholds=dict.fromkeys(table.scores, threshold),
            n_claims=table.n_rows,
            n_responses=len(responses.label),
            clusters="response" if table.prompt is None else "prompt",
            n_clusters=len(np.unique(claims.cluster)),
            n_resamples=n_resamples,
            level=level,
            n_effective=table.n_effective,
        ),
        evaluators=tuple(table.scores),
        datasets=tuple(table.dataset.names),
        tasks=tasks_of(table),
        systems=tuple(table.system.names),
        cell_dataset=cells.dataset,
        cell_system=cells.system,
        claims=counts.claims,
        responses=counts.responses,
        overlap=counts.overlap,
        n_overlap=counts.n_overlap,
        overlap_clusters=counts.overlap_clusters,
    )


@dataclass(frozen=True)
class _Stratum:
    """Clusters that are drawn together, and the rows of their claims and responses."""

    dataset: int
    claims: JudgedUnits
    responses: JudgedUnits
    n_clusters: int


def _strata(claims: JudgedUnits, responses: JudgedUnits, cell_dataset: Ints) -> Iterator[_Stratum]:
    """The parts of the table that are resampled on their own: its cells, or data sets whose systems share clusters."""
    stratum_of_cell = _strata_of_cells(claims, cell_dataset)
    of_claims = _by_code(stratum_of_cell[claims.cell], len(cell_dataset))
    of_responses = _by_code(stratum_of_cell[responses.cell], len(cell_dataset))
    for stratum in np.unique(stratum_of_cell).tolist():
        part, whole = claims.at(of_claims[stratum]), responses.at(of_responses[stratum])
        names, cluster = np.unique(part.cluster, return_inverse=True)
        part, whole = replace(part, cluster=cluster), replace(whole, cluster=np.searchsorted(names, whole.cluster))
        yield _Stratum(int(cell_dataset[stratum]), part, whole, len(names))


def _strata_of_cells(claims: JudgedUnits, cell_dataset: Ints) -> Ints:
    """The stratum of each cell, named by the first cell in it."""
    n_cells = max(len(cell_dataset), 1)
    pairs = np.unique(claims.cluster * n_cells + claims.cell)
    has_shared = pairs[:-1] // n_cells == pairs[1:] // n_cells
    dataset_is_shared = np.isin(cell_dataset, cell_dataset[pairs[1:][has_shared] % n_cells])
    _, first, dataset = np.unique(cell_dataset, return_index=True, return_inverse=True)
    return np.where(dataset_is_shared, first[dataset], np.arange(len(cell_dataset)))


def _by_code(codes: Ints, n_codes: int) -> list[Ints]:
    """The rows of each code."""
    return np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes, minlength=n_codes))[:-1])


class _Counts:
    """The counts, filled stratum by stratum."""

    def __init__(self, n_evaluators: int, is_known: Bools, n_datasets: int, resamples: int) -> None:
        """`is_known` has shape (n_cells,): those of a known system."""
        n_cells, self.resamples, self._is_known = len(is_known), resamples, is_known
        self.claims = _empty(n_evaluators, n_cells, n_datasets, resamples)
        self.responses = _empty(n_evaluators, n_cells, n_datasets, resamples)
        self.pairs = pairs_of(n_evaluators)
        self.overlap = np.zeros((1 + resamples, n_datasets, len(self.pairs), 3))
        self.n_overlap = np.zeros((n_datasets, len(self.pairs), 3), np.int64)
        self.overlap_clusters = np.zeros((n_datasets, len(self.pairs)), np.int64)

    def add(self, stratum: _Stratum, rng: np.random.Generator | None) -> None:
        blocks: list[_Block] = []
        for tally, judged in ((self.claims, stratum.claims), (self.responses, stratum.responses)):
            blocks += [_Block.of_cell(tally, judged, cell) for cell in np.unique(judged.cell).tolist()]
            tally.dataset_clusters[:, stratum.dataset] += _clusters_with_verdict(judged)
            known = judged.at(np.flatnonzero(self._is_known[judged.cell]))
            tally.known_clusters[:, stratum.dataset] += _clusters_with_verdict(known)
            for label in (0, 1):
                of_label = judged.at(np.flatnonzero(judged.label == label))
                tally.label_clusters[:, stratum.dataset, label] += _clusters_with_verdict(of_label)
        overlaps = _overlaps(stratum.claims, self.pairs, stratum.n_clusters)
        in_pair = overlaps.reshape(stratum.n_clusters, len(self.pairs), 3).any(axis=2)
        each_once = (
            overlaps
            if stratum.claims.weight is None
            else _overlaps(replace(stratum.claims, weight=None), self.pairs, stratum.n_clusters)
        )
        self.n_overlap[stratum.dataset] += each_once.sum(axis=0, dtype=np.int64).reshape(len(self.pairs), 3)
        self.overlap_clusters[stratum.dataset] += in_pair.sum(axis=0)
        for places, weights in _weights(stratum.n_clusters, rng, self.resamples):
            for block in blocks:
                block.add(places, weights)
            sums = (weights @ overlaps).reshape(len(weights), len(self.pairs), 3)
            self.overlap[places, stratum.dataset] += sums


def _empty(n_evaluators: int, n_cells: int, n_datasets: int, resamples: int) -> Tally:
    return Tally(
        labels=np.zeros((1 + resamples, n_cells, 2)),
        confusion=np.zeros((1 + resamples, n_evaluators, n_cells, 2, 2)),
        n_labels=np.zeros((n_cells, 2), np.int64),
        n_confusion=np.zeros((n_evaluators, n_cells, 2, 2), np.int64),
        cell_clusters=np.zeros((n_evaluators + 1, n_cells), np.int64),
        dataset_clusters=np.zeros((n_evaluators + 1, n_datasets), np.int64),
        known_clusters=np.zeros((n_evaluators + 1, n_datasets), np.int64),
        label_clusters=np.zeros((n_evaluators + 1, n_datasets, 2), np.int64),
    )


def _clusters_with_verdict(judged: JudgedUnits) -> list[int]:
    """How many clusters have a verdict of each evaluator, and how many have a label."""
    verdicts = (*judged.verdicts, judged.label)
    return [int(np.count_nonzero(np.bincount(judged.cluster[of_one >= 0]))) for of_one in verdicts]


@dataclass(frozen=True)
class _Block:
    """The counts of each cluster that has units in one cell."""

    tally: Tally
    cell: int
    clusters: Ints
    counts: NDArray[np.float32]
    """Shape (n_clusters, 4 * n_evaluators + 2): confusions, then labels. Whole numbers, or sums of weights."""

    @classmethod
    def of_cell(cls, tally: Tally, judged: JudgedUnits, cell: int) -> _Block:
        inside = judged.at(np.flatnonzero(judged.cell == cell))
        clusters, cluster = np.unique(inside.cluster, return_inverse=True)
        width = 4 * len(inside.verdicts) + 2
        places, rows = [cluster * width + width - 2 + inside.label], [np.arange(len(inside.label))]
        for evaluator, verdicts in enumerate(inside.verdicts):
            place = cluster * width + 4 * evaluator + 2 * inside.label.astype(np.int64) + verdicts
            rows.append(np.flatnonzero(verdicts >= 0))
            places.append(place[rows[-1]])
        place, size, shape = np.concatenate(places), len(clusters) * width, (len(clusters), width)
        counts = each_once = np.bincount(place, minlength=size).reshape(shape)
        if inside.weight is not None:
            counts = np.bincount(place, inside.weight[np.concatenate(rows)], size).reshape(shape)
        n = each_once.sum(axis=0)
        tally.n_labels[cell], tally.n_confusion[:, cell] = n[-2:], n[:-2].reshape(-1, 2, 2)
        tally.cell_clusters[:, cell] = _clusters_with_verdict(replace(inside, cluster=cluster))
        return cls(tally, cell, clusters, counts.astype(np.float32))

    def add(self, places: slice, weights: NDArray[np.float32]) -> None:
        is_every = len(self.clusters) == weights.shape[1]
        sums = (weights if is_every else weights[:, self.clusters]) @ self.counts
        n_evaluators = self.tally.confusion.shape[1]
        self.tally.confusion[places, :, self.cell] = sums[:, :-2].reshape(len(sums), n_evaluators, 2, 2)
        self.tally.labels[places, self.cell] = sums[:, -2:]


def _overlaps(claims: JudgedUnits, pairs: list[tuple[int, int]], n_clusters: int) -> NDArray[np.float32]:
    """(n_clusters, 3 * n_pairs): claims for which both of a pair say 0, both say 1, or they differ, by weight."""
    judges = np.vstack([claims.verdicts, claims.label[None]])
    width, base = 3 * len(pairs), claims.cluster * 3 * len(pairs)
    counts = np.zeros(n_clusters * width)
    for place, (one, other) in enumerate(pairs):
        first, second = judges[one], judges[other]
        kind = np.where(first == second, first, 2)
        is_scored = (first >= 0) & (second >= 0)
        weight = None if claims.weight is None else claims.weight[is_scored]
        counts += np.bincount((base + 3 * place + kind)[is_scored], weight, len(counts))
    return counts.reshape(n_clusters, width).astype(np.float32)


def _weights(
    n_clusters: int, rng: np.random.Generator | None, resamples: int
) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """(n_rows, n_clusters): how often each cluster counts, in the table itself and then in each resample.

    Sums of whole numbers are exact in 32 bits up to 2**24, and precise to seven digits beyond.
    """
    yield slice(0, 1), np.ones((1, n_clusters), np.float32)
    if rng is None:
        return
    start = 1
    for times in draw_counts(n_clusters, rng, resamples, at_once=_AT_ONCE):
        yield slice(start, start + len(times)), times.astype(np.float32)
        start += len(times)
