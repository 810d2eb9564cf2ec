"""Counts the claims and responses in a table and in its bootstrap resamples.

A resample draws whole clusters with replacement, because the claims in a response resemble each other, as do the
responses to a prompt. Each data set keeps its number of clusters. If each cluster of a data set belongs to one system,
as a response does, clusters are drawn system by system, so each system also keeps its number of clusters. The counts of
a resample are sums over clusters, weighted by how often each was drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

import numpy as np

from factloop.core.errors import DataError
from factloop.core.records import Count, Record, Share
from factloop.evaluation.audit.figures import Bools, Floats, Ints
from factloop.evaluation.audit.table import (
    THRESHOLD,
    JudgedUnits,
    Level,
    PredictionTable,
    are_known,
    cells_of,
    clusters_of,
    judged_claims,
    judged_responses,
    tasks_of,
)
from factloop.evaluation.statistics.bootstrap import draw_counts, one_blas_thread
from factloop.reports.figures import plural

RESAMPLES = 1000
LEVEL = 0.95
MOST_BYTES = 2_000_000_000
BYTES_PER_PAIR, BYTES_PER_CHARACTER = 1200, 12
"""Measured memory per ordered pair of systems, plus a part for each character of the longest system's name."""


class Basis(Record):
    thresholds: dict[str, Share]
    """Each evaluator's threshold. A score at or above it predicts that a claim is attributable."""
    n_claims: Count
    n_responses: Count
    clusters: Literal["prompt", "response"]
    n_clusters: Count
    n_resamples: Count
    level: Share
    n_effective: float | None = None
    """Number of equally weighted claims that would carry as much information. Claims are weighted by the inverse of
    their `probability`. None if all claims have the same weight."""


@dataclass(frozen=True)
class Tally:
    """Counts of claims or responses. Along the leading axis, the table comes first, followed by its resamples. If
    claims have weights, the counts are sums of weights. Fields named `n_...` count each claim of the table once."""

    labels: Floats
    """Shape (1 + n_resamples, n_cells, 2): units by label, with or without a verdict."""
    confusion: Floats
    """Shape (1 + n_resamples, n_evaluators, n_cells, 2, 2): units with a verdict, by label, then by verdict."""
    n_labels: Ints
    n_confusion: Ints
    cell_clusters: Ints
    """Shape (n_evaluators + 1, n_cells): clusters that contain a verdict. The last row counts all clusters."""
    dataset_clusters: Ints
    """Shape (n_evaluators + 1, n_datasets): like `cell_clusters`, but by data set, since systems may share clusters."""
    known_clusters: Ints
    """Shape (n_evaluators + 1, n_datasets): like `dataset_clusters`, but only for units of known systems."""
    label_clusters: Ints
    """Shape (n_evaluators + 1, n_datasets, 2): like `dataset_clusters`, but for units of each label."""


@dataclass(frozen=True)
class CountTable:
    """The counts of a table at one threshold. Each cell is one system on one data set. Cells are sorted by name."""

    basis: Basis
    evaluators: tuple[str, ...]
    datasets: tuple[str, ...]
    tasks: tuple[str, ...] | None
    systems: tuple[str, ...]
    cell_dataset: Ints
    cell_system: Ints
    claims: Tally
    responses: Tally
    overlap: Floats
    """Shape (1 + n_resamples, n_datasets, n_pairs, 3): claims on which a pair agrees on 0, agrees on 1, or
    disagrees."""
    n_overlap: Ints
    """Shape (n_datasets, n_pairs, 3): the same for the table alone, counting each claim once."""
    overlap_clusters: Ints

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return pairs_of(len(self.evaluators))

    @property
    def is_of_known_system(self) -> Bools:
        """(n_cells,): False for cells of `UNKNOWN_SYSTEM`, which per-system figures exclude."""
        return are_known(self.systems)[self.cell_system]

    def tally(self, level: Level) -> Tally:
        return self.claims if level is Level.CLAIM else self.responses


def pairs_of(n_evaluators: int) -> list[tuple[int, int]]:
    """Returns all pairs of evaluators, and each evaluator with the labels, whose index is `n_evaluators`."""
    return [(one, other) for one in range(n_evaluators) for other in range(one + 1, n_evaluators + 1)]


def count(
    table: PredictionTable,
    *,
    threshold: float = THRESHOLD,
    rng: np.random.Generator | None = None,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> CountTable:
    """Counts the claims and responses of the table and, if `rng` is set, of its resamples. The order of the rows does
    not affect the draws. Raises ValueError if a data set has two task groups or a response has two prompts."""
    cells = cells_of(table)
    claims = judged_claims(table, cells, threshold)
    responses = judged_responses(table, claims)
    n_resamples = 0 if rng is None else resamples
    n_datasets, pairs = len(table.dataset.names), pairs_of(len(table.scores))
    is_known = are_known(table.system.names)[cells.system]
    tallies = [_tally(units, cells.dataset, is_known, n_datasets, n_resamples) for units in (claims, responses)]
    overlap = np.zeros((1 + n_resamples, n_datasets, len(pairs), 3))
    stratum_of_cell = _strata_of_cells(claims.cluster, claims.cell, cells.dataset)
    with one_blas_thread():
        for stratum in np.unique(stratum_of_cell).tolist():
            here = np.flatnonzero(stratum_of_cell == stratum)
            parts = [_within(units, stratum_of_cell[units.cell] == stratum) for units in (claims, responses)]
            clusters = np.unique(parts[0].cluster)
            columns = [*(_confusions(part, clusters, here) for part in parts), _overlaps(parts[0], clusters, pairs)]
            *of_levels, of_pairs = _drawn(columns, rng, n_resamples)
            for tally, found in zip(tallies, of_levels, strict=True):
                by_cell = found.reshape(len(found), len(here), -1)
                tally.labels[:, here] = by_cell[:, :, -2:]
                confusion = by_cell[:, :, :-2].reshape(len(found), len(here), len(table.scores), 2, 2)
                tally.confusion[:, :, here] = confusion.transpose(0, 2, 1, 3, 4)
            overlap[:, cells.dataset[stratum]] += of_pairs.reshape(len(of_pairs), len(pairs), 3)
    n_overlap, overlap_clusters = _overlap_counts(claims, cells.dataset, pairs, n_datasets)
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
        claims=tallies[0],
        responses=tallies[1],
        overlap=overlap,
        n_overlap=n_overlap,
        overlap_clusters=overlap_clusters,
    )


def refuse_too_large(table: PredictionTable, resamples: int = RESAMPLES, *, most_bytes: int = MOST_BYTES) -> None:
    """Raises DataError if an audit would need more than about `most_bytes` of memory, before it allocates any."""
    cells, cluster, n = cells_of(table), clusters_of(table), len(table.scores)
    stratum = _strata_of_cells(cluster, cells.of_row, cells.dataset)
    n_clusters = _distinct(stratum[cells.of_row], cluster, len(stratum))
    n_systems, n_pairs, longest = np.bincount(cells.dataset), n * (n + 1) // 2, max(map(len, ("", *table.system.names)))
    columns = np.bincount(stratum, minlength=len(stratum)) * (8 * n + 4) + 3 * n_pairs
    n_kept = len(stratum) * (8 * n + 4) + 3 * n_pairs * len(n_systems) + columns.max(initial=0)
    n_numbers = (n_clusters * columns).max(initial=0) + (1 + resamples) * n_kept
    n_bytes = int(8 * n_numbers + (BYTES_PER_PAIR + BYTES_PER_CHARACTER * longest) * n * (n_systems**2).sum())
    if n_bytes > most_bytes:
        raise DataError(
            f"with {resamples:,} resamples, an audit of {plural(n, 'evaluator')}, {plural(len(stratum), 'system')} and "
            f"{plural(int(n_clusters.sum()), 'cluster')} (prompts or responses) needs about {n_bytes / 1e9:,.1f} GB, "
            f"but may use {most_bytes / 1e9:g} GB; audit fewer at a time, or use fewer resamples"
        )


def _strata_of_cells(cluster: Ints, cell: Ints, cell_dataset: Ints) -> Ints:
    """Returns each cell's stratum, identified by the first cell in it. If a data set's systems share clusters, the
    whole data set is one stratum. Otherwise, each cell is its own stratum."""
    n_cells = max(len(cell_dataset), 1)
    pairs = np.unique(cluster * n_cells + cell)
    has_shared = pairs[:-1] // n_cells == pairs[1:] // n_cells
    dataset_is_shared = np.isin(cell_dataset, cell_dataset[pairs[1:][has_shared] % n_cells])
    _, first, dataset = np.unique(cell_dataset, return_index=True, return_inverse=True)
    return np.where(dataset_is_shared, first[dataset], np.arange(len(cell_dataset)))


def _within(units: JudgedUnits, rows: Bools) -> JudgedUnits:
    return units.at(np.flatnonzero(rows))


def _drawn(tables: Sequence[Floats], rng: np.random.Generator | None, n_resamples: int) -> list[Floats]:
    """Returns, for each table, the sums over all clusters, then over each resample: (1 + n_resamples, n_columns).
    Tables of shape (n_clusters, n_columns) are not joined, because the copy might not fit in memory."""
    sums, start = [np.empty((1 + n_resamples, one.shape[1])) for one in tables], 0
    draws = () if rng is None else draw_counts(len(tables[0]), rng, n_resamples)
    for times in chain([np.ones((1, len(tables[0])))], draws):
        for found, one in zip(sums, tables, strict=True):
            found[start : start + len(times)] = times @ one
        start += len(times)
    return sums


def _tally(units: JudgedUnits, cell_dataset: Ints, is_known: Bools, n_datasets: int, n_resamples: int) -> Tally:
    """Counts the units of the table itself. The sums over resamples are filled in later."""
    n_evaluators, n_cells, dataset = len(units.verdicts), len(cell_dataset), cell_dataset[units.cell]
    once = replace(units, weight=None, cluster=np.zeros_like(units.cluster))
    counts = (
        _confusions(once, np.zeros(1, np.int64), np.arange(n_cells))
        .astype(np.int64)
        .reshape(n_cells, 4 * n_evaluators + 2)
    )
    by_label = _clusters(units, 2 * dataset + units.label, 2 * n_datasets)
    known = _within(units, is_known[units.cell])
    return Tally(
        labels=np.zeros((1 + n_resamples, n_cells, 2)),
        confusion=np.zeros((1 + n_resamples, n_evaluators, n_cells, 2, 2)),
        n_labels=counts[:, -2:],
        n_confusion=counts[:, :-2].reshape(n_cells, n_evaluators, 2, 2).transpose(1, 0, 2, 3),
        cell_clusters=_clusters(units, units.cell, n_cells),
        dataset_clusters=_clusters(units, dataset, n_datasets),
        known_clusters=_clusters(known, cell_dataset[known.cell], n_datasets),
        label_clusters=by_label.reshape(n_evaluators + 1, n_datasets, 2),
    )


def _clusters(units: JudgedUnits, key: Ints, n_keys: int) -> Ints:
    verdicts = (*units.verdicts, units.label)
    return np.array([_distinct(key[one >= 0], units.cluster[one >= 0], n_keys) for one in verdicts])


def _distinct(key: Ints, cluster: Ints, n_keys: int) -> Ints:
    width = int(cluster.max(initial=0)) + 1
    return np.bincount(np.unique(key * width + cluster) // width, minlength=n_keys)


def _confusions(units: JudgedUnits, clusters: Ints, cells: Ints) -> Floats:
    """Returns the counts of each cluster in each cell: (n_clusters, n_cells * (4 n_evaluators + 2)). `clusters` and
    `cells` must be sorted and must cover all units."""
    width = 4 * len(units.verdicts) + 2
    base = (np.searchsorted(clusters, units.cluster) * len(cells) + np.searchsorted(cells, units.cell)) * width
    places, rows = [base + width - 2 + units.label], [np.arange(len(units.label))]
    for evaluator, verdicts in enumerate(units.verdicts):
        rows.append(np.flatnonzero(verdicts >= 0))
        places.append((base + 4 * evaluator + 2 * units.label.astype(np.int64) + verdicts)[rows[-1]])
    weight = np.ones(len(units.label)) if units.weight is None else units.weight
    counts = np.bincount(np.concatenate(places), weight[np.concatenate(rows)], len(clusters) * len(cells) * width)
    return counts.astype(np.float64, copy=False).reshape(len(clusters), -1)


def _overlaps(claims: JudgedUnits, clusters: Ints, pairs: Sequence[tuple[int, int]]) -> Floats:
    base, counts = np.searchsorted(clusters, claims.cluster) * 3, np.empty((len(clusters), len(pairs), 3))
    for place, (kind, is_scored) in enumerate(_kinds(claims, pairs)):
        weight = None if claims.weight is None else claims.weight[is_scored]
        found = np.bincount((base + kind)[is_scored], weight, 3 * len(clusters))
        counts[:, place] = found.reshape(len(clusters), 3)
    return counts.reshape(len(clusters), -1)


def _overlap_counts(
    claims: JudgedUnits, cell_dataset: Ints, pairs: Sequence[tuple[int, int]], n_datasets: int
) -> tuple[Ints, Ints]:
    dataset = cell_dataset[claims.cell]
    n_overlap = np.zeros((n_datasets, len(pairs), 3), np.int64)
    n_clusters = np.zeros((n_datasets, len(pairs)), np.int64)
    for place, (kind, is_scored) in enumerate(_kinds(claims, pairs)):
        counts = np.bincount((3 * dataset + kind)[is_scored], minlength=3 * n_datasets)
        n_overlap[:, place] = counts.reshape(n_datasets, 3)
        n_clusters[:, place] = _distinct(dataset[is_scored], claims.cluster[is_scored], n_datasets)
    return n_overlap, n_clusters


def _kinds(claims: JudgedUnits, pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[Ints, Bools]]:
    """Yields each pair's shared verdicts (2 if they differ), and a mask of the claims that both judged."""
    judges = np.vstack([claims.verdicts, claims.label[None]])
    for one, other in pairs:
        is_scored = (judges[one] >= 0) & (judges[other] >= 0)
        yield np.where(judges[one] == judges[other], judges[one], 2), is_scored
