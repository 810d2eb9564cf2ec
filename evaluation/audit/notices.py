"""Lists what an audit leaves out, and which of its figures are uncertain."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from factloop.core.report_warnings import share_of
from factloop.evaluation.audit.chunking import chunked_evaluators
from factloop.evaluation.audit.report import AuditAt, AuditSettings
from factloop.evaluation.audit.table import (
    THRESHOLD,
    PredictionTable,
    any_within,
    are_known,
    cells_of,
    clusters_of,
    numbered,
)
from factloop.evaluation.datasets.mapping import UNKNOWN_SYSTEM

CLUSTERS_WARNED = 30
"""With fewer clusters, percentile intervals are known to be too narrow."""
FEWEST_RESAMPLES = 100
"""With fewer resamples, the ends of an interval depend on only a few draws."""


def left_out(table: PredictionTable) -> Iterator[str]:
    yield from (f"{name}: no row has a score from this evaluator." for name in table.without_scores)
    absent = {
        "Wording and chunks: the rows do not contain the text of claims and documents.": not table.has_text,
        "Chunks: no evaluator has a second column with its scores on chunks, such as NAME@500 for NAME.": (
            not chunked_evaluators(table.scores)
        ),
        "Task groups: the rows have no task.": table.task is None,
        "Tests by prompt: without prompt_id, systems are compared by whole responses.": table.prompt is None,
        "Agreement between evaluators: there is only one evaluator.": len(table.scores) == 1,
    }
    yield from (said for said, is_absent in absent.items() if is_absent)
    n_datasets, dataset = len(table.dataset.names), table.dataset.codes.astype(np.int64)
    cells = cells_of(table)
    n_systems = np.bincount(cells.dataset[are_known(table.system.names)[cells.system]], minlength=n_datasets)
    n_claims, n_unknown, n_errors, n_others = (
        np.bincount(dataset[rows], minlength=n_datasets)
        for rows in (table.label >= 0, ~table.is_of_known_system, table.label == 0, table.label == 1)
    )
    for place, name in enumerate(table.dataset.names):
        if n_unknown[place]:
            yield (
                f"{name}: {share_of(n_unknown[place], n_claims[place], 'claim', 'belongs', 'belong')} to the "
                f"`{UNKNOWN_SYSTEM}` system. "
                "Rates and agreement include them; headroom, ranking, bias by system and adjustment do not."
            )
        if n_systems[place] == 1:
            yield f"{name}: headroom, ranking and adjustment need two systems, but there is only one."
        if n_systems[place] == 2:
            yield f"{name}: Kendall's and Pearson's coefficients need three systems, but there are only two."
        if not n_errors[place]:
            yield f"{name}: TNR, FPR, balanced accuracy and gap need claims that are labelled unattributable."
        if not n_others[place]:
            yield f"{name}: TPR, FNR, balanced accuracy and gap need claims that are labelled attributable."
    for name, scores in table.scores.items():
        if not ((scores > 0.0) & (scores < 1.0)).any():
            yield f"{name}: thresholds cannot be tuned, because all scores of this evaluator are 0 or 1."


def warnings(table: PredictionTable, at: AuditAt, settings: AuditSettings) -> Iterator[str]:
    yield from _weaknesses(table, at)
    yield from _intervals(table, at, settings)


def _weaknesses(table: PredictionTable, at: AuditAt) -> Iterator[str]:
    if table.n_effective is not None:
        yield (
            f"The {table.n_rows:,} claims are as informative as {round(table.n_effective):,} equally weighted ones. "
            "Rates, scores, agreement and error rates of claims weight each claim by the inverse of its `probability`; "
            "all other figures use the labelled claims without weights."
        )
    response, n_responses = numbered(table.response.codes)
    for name, scores in table.scores.items():
        is_missing = np.isnan(scores)
        if is_missing.any():
            yield (
                f"{name}: {share_of(is_missing.sum(), table.n_rows, 'claim', 'has', 'have')} no score. Its "
                "figures exclude these claims, so other evaluators' figures may be based on more claims."
            )
            lacks = any_within(is_missing, response, n_responses)
            n_wrong = int((lacks & any_within(scores < THRESHOLD, response, n_responses)).sum())
            if n_wrong:
                yield (
                    f"{name}: figures for responses exclude responses with an unscored claim ({lacks.sum():,}), even "
                    f"if another claim is judged wrong ({n_wrong:,})."
                )
    for one in at.chunking:
        if one.group.kind == "all" and not one.within.n + one.across.n:
            yield f"{one.chunked}: no scored claim has a document longer than one chunk."


def _intervals(table: PredictionTable, at: AuditAt, settings: AuditSettings) -> Iterator[str]:
    if not settings.n_resamples:
        yield "No resamples were requested, so there are no intervals."
        return
    if settings.n_resamples < FEWEST_RESAMPLES:
        yield f"{settings.n_resamples:,} resamples give only rough intervals; use {FEWEST_RESAMPLES} or more."
    if at.basis.n_clusters < 2:
        yield "There are fewer than two prompts or responses to draw from, so there are no intervals."
        return
    _, first = np.unique(clusters_of(table), return_index=True)
    of_dataset = np.bincount(table.dataset.codes[first], minlength=len(table.dataset.names)).tolist()
    for name, n in zip(table.dataset.names, of_dataset, strict=True):
        if n < CLUSTERS_WARNED:
            yield f"{name}: with fewer than {CLUSTERS_WARNED} prompts or responses ({n:,}), intervals are too narrow."
