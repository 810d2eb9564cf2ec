"""Says what an audit leaves out, and what weakens it, each in one sentence with its reason."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from factloop.evaluation.audit.chunking import chunked_evaluators
from factloop.evaluation.audit.report import AuditAt, AuditSettings
from factloop.evaluation.audit.table import THRESHOLD, PredictionTable, Scores, are_known
from factloop.evaluation.audit.units import numbered
from factloop.evaluation.audit.verdicts import cells_of, clusters_of
from factloop.evaluation.datasets.mapping import UNKNOWN_SYSTEM
from factloop.reports.figures import plural

FEWEST_RESAMPLES = 100
"""With fewer the ends of an interval are those of a handful of draws."""
FEWEST_CLUSTERS = 30
"""With fewer, percentile intervals are known to be too narrow."""
NAMED = 5
"""Data sets that a warning names."""
_NO_TEXT = "the rows have no claims with their documents"


def left_out(table: PredictionTable) -> tuple[str, ...]:
    """Parts of the audit that this table does not allow."""
    silent = (f"All of {name}: no row has a score of it." for name in table.without_scores)
    return (*silent, *_missing_columns(table), *_missing_variety(table))


def _missing_columns(table: PredictionTable) -> Iterator[str]:
    has_text = table.claim_text is not None and table.document is not None
    if not has_text:
        yield f"Surface similarity: {_NO_TEXT}."
    if not chunked_evaluators(table.scores):
        yield "Chunking: no evaluator has a second column of scores on chunks, named as NAME@500 beside NAME."
    elif not has_text:
        yield f"Chunking: {_NO_TEXT}."
    if table.task is None:
        yield "Task groups: the rows have no task."
    if table.prompt is None:
        yield "Tests by prompt: the rows have no prompt_id; systems are compared and resampled by whole responses."
    if len(table.scores) == 1:
        yield "Agreement of evaluators: there is one; it is compared with the labels alone."


def _missing_variety(table: PredictionTable) -> Iterator[str]:
    yield from _unknown_systems(table)
    cells = cells_of(table)
    is_known = are_known(table.system.names)[cells.system]
    n_systems = np.bincount(cells.dataset[is_known], minlength=len(table.dataset.names)).tolist()
    for name, n in zip(table.dataset.names, n_systems, strict=True):
        if n == 1:
            yield f"Headroom, ranking and adjustment on {name}: there is one system."
        elif n == 2:
            yield f"Kendall's and Pearson's coefficients on {name}: there are two systems, and it takes three."
    n_datasets = len(table.dataset.names)
    n_labels = np.bincount(2 * table.dataset.codes.astype(np.int64) + table.label, minlength=2 * n_datasets)
    for name, (n_errors, n_others) in zip(table.dataset.names, n_labels.reshape(-1, 2).tolist(), strict=True):
        if not n_errors:
            yield f"TNR, FPR, balanced accuracy and gap on {name}: no claim is labelled unattributable."
        if not n_others:
            yield f"TPR, FNR, balanced accuracy and gap on {name}: no claim is labelled attributable."
    for name, scores in table.scores.items():
        if not ((scores > 0.0) & (scores < 1.0)).any():
            yield f"Tuned thresholds of {name}: all its scores are 0 or 1."


def _unknown_systems(table: PredictionTable) -> Iterator[str]:
    n_datasets = len(table.dataset.names)
    n_claims = np.bincount(table.dataset.codes, minlength=n_datasets).tolist()
    n_unknown = np.bincount(table.dataset.codes[~table.is_of_known_system], minlength=n_datasets).tolist()
    for name, n, n_all in zip(table.dataset.names, n_unknown, n_claims, strict=True):
        if n:
            yield (
                f"Headroom, ranking, bias by system and adjustment on {name}: {n:,} of {plural(n_all, 'claim')} "
                f"{'is' if n == 1 else 'are'} of the system `{UNKNOWN_SYSTEM}`, which may be any; rates and agreement "
                "count them."
            )


def warnings(table: PredictionTable, at: AuditAt, settings: AuditSettings) -> tuple[str, ...]:
    """Warnings for readers of the figures."""
    return (*_weights(table), *_missing_scores(table), *_chunks(at), *_intervals(table, at, settings))


def _weights(table: PredictionTable) -> Iterator[str]:
    if table.n_effective is not None:
        yield (
            "Each claim counts for the inverse of its `probability` in rates, scores, agreement and error rates of "
            f"claims, so that {plural(table.n_rows, 'claim')} say as much as {table.n_effective:.0f} drawn alike. All "
            "else (responses, the order of systems, adjustment, wording, chunks) takes the claims as they are, and is "
            "that of the labelled claims alone."
        )


def _missing_scores(table: PredictionTable) -> Iterator[str]:
    for name, scores in table.scores.items():
        n_missing = int(np.isnan(scores).sum())
        if n_missing:
            share = 100 * n_missing / table.n_rows
            yield (
                f"{name} gave no score to {n_missing:,} of {table.n_rows:,} claims ({share:.1f} %): its figures leave "
                "them out, and so may rest on other claims than those of the others."
            )
            yield from _missing_responses(table, name, scores)


def _missing_responses(table: PredictionTable, name: str, scores: Scores) -> Iterator[str]:
    """Responses that are left out whole, and those of them whose verdict would be known all the same."""
    response, n = numbered(table.response.codes)
    lacks = np.bincount(response[np.isnan(scores)], minlength=n) > 0
    is_wrong = np.bincount(response[scores < THRESHOLD], minlength=n) > 0
    n_lacking, n_wrong = int(lacks.sum()), int((lacks & is_wrong).sum())
    if n_wrong:
        yield (
            f"{name}: {n_lacking:,} of {plural(n, 'response')} have a claim without a score and are left out of all "
            f"figures of responses, {n_wrong:,} of them with another claim that it calls wrong: kept alone, these "
            f"would raise its error rates, as of the other {n_lacking - n_wrong:,} nothing is known."
        )


def _chunks(at: AuditAt) -> Iterator[str]:
    for one in at.chunking:
        if one.group.kind == "all" and not one.within.n + one.across.n:
            yield f"{one.chunked}: no scored claim has a document of more than {one.n_words:,} words."


def _intervals(table: PredictionTable, at: AuditAt, settings: AuditSettings) -> Iterator[str]:
    n_clusters, what = at.rates.basis.n_clusters, at.rates.basis.clusters
    if not settings.n_resamples:
        yield "No resamples were asked for, so there are no intervals."
    elif settings.n_resamples < FEWEST_RESAMPLES:
        yield f"With {settings.n_resamples:,} resamples the ends of intervals are rough; take 1,000 or more."
    if settings.n_resamples and n_clusters < 2:
        yield f"There are fewer than two {what}s to draw from, so there are no intervals."
    elif settings.n_resamples:
        yield from _few_clusters(table, what)


def _few_clusters(table: PredictionTable, what: str) -> Iterator[str]:
    _, first = np.unique(clusters_of(table), return_index=True)
    of_dataset = np.bincount(table.dataset.codes[first], minlength=len(table.dataset.names)).tolist()
    few = [f"{name} ({n:,})" for name, n in zip(table.dataset.names, of_dataset, strict=True) if n < FEWEST_CLUSTERS]
    if few:
        more = f" and {len(few) - NAMED:,} more" if len(few) > NAMED else ""
        yield f"Fewer than {FEWEST_CLUSTERS} {what}s, so that intervals are too narrow: {', '.join(few[:NAMED])}{more}."
