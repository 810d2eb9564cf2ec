"""Labelled claims and predictions as the audit's columns, under the paper's names of data sets and evaluators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from factloop.core.errors import ConfigError
from factloop.evaluation.audit.rows import load_predictions
from factloop.evaluation.audit.table import Column, PredictionTable, column_of, responses_of
from factloop.evaluation.datasets.benchmark import BENCHMARK
from factloop.evaluation.datasets.labelled_claims import labelled_claims
from factloop.evaluation.datasets.mapping import LabelledClaim
from factloop.evaluation.reproduction.inputs import Inputs
from factloop.evaluation.reproduction.published import LABELS, find_evaluator

_ALIASES = {
    alias.casefold(): one.name
    for one in BENCHMARK
    for alias in (one.name, one.part or one.name, (one.part or one.name).partition(":")[0])
    if not alias.startswith("tofueval") or ":" in alias
}
"""Names of a data set in predictions, in small letters, to the paper's.

TofuEval's bare name is left out, as the paper has two of it.
"""


def labels_table(inputs: Inputs, datasets: Iterable[str]) -> PredictionTable | None:
    """The labelled claims of those of the data sets that were found; None where none was found.

    The labels stand in the place of an evaluator, so that every figure of the audit can be taken of them alone.
    """
    part_of = {one.name: one.part for one in BENCHMARK if one.name in set(datasets)}
    claims = [
        claim.model_copy(update={"dataset": name})
        for name, part in part_of.items()
        if part is not None and part in inputs.places
        for claim in _claims(part, inputs)
    ]
    return _table(claims) if claims else None


def _claims(named: str, inputs: Inputs) -> Iterator[LabelledClaim]:
    name, part = named.split(":")
    return labelled_claims(name, part, inputs.places[named])


def results_table(inputs: Inputs) -> PredictionTable | None:
    """The predictions that were given, under the paper's names where they are known. Raises DataError, ConfigError."""
    if inputs.results is None:
        return None
    table = load_predictions(inputs.results)
    named = [_ALIASES.get(name.casefold(), name) for name in table.dataset.names]
    unknown = [name for name in inputs.evaluators.values() if name not in table.scores]
    if unknown:
        there = ", ".join(table.scores)
        raise ConfigError(f"{inputs.results}: no scores of {', '.join(unknown)}; there are those of {there}")
    ours = {theirs: find_evaluator(paper) for paper, theirs in inputs.evaluators.items()}
    return replace(
        table,
        dataset=_renamed(table.dataset, named),
        scores={ours.get(name, name): scores for name, scores in table.scores.items()},
    )


def evaluators_of(table: PredictionTable) -> list[str]:
    """Its evaluators, without the labels."""
    return [name for name in table.scores if name != LABELS]


def _renamed(column: Column, names: Sequence[str]) -> Column:
    """The column with other names, which are sorted again."""
    return column_of([names[code] for code in column.codes.tolist()])


def _table(claims: Sequence[LabelledClaim]) -> PredictionTable:
    dataset, system = (column_of([getattr(claim, name) for claim in claims]) for name in ("dataset", "system"))
    label = np.array([claim.label for claim in claims], np.int8)
    has_prompts = all(claim.prompt_id is not None for claim in claims)
    has_text = all(claim.document is not None for claim in claims)
    return PredictionTable(
        dataset=dataset,
        system=system,
        response=responses_of(dataset, system, column_of([claim.response_id or claim.id for claim in claims])),
        label=label,
        scores={LABELS: label.astype(np.float64)},
        claim_ids=[claim.id for claim in claims],
        prompt=column_of([str(claim.prompt_id) for claim in claims]) if has_prompts else None,
        claim_text=[claim.claim for claim in claims],
        document=[claim.document or "" for claim in claims] if has_text else None,
    )
