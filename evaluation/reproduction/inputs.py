"""Finds a reproduction's inputs: labelled data and the output of other commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from factloop.core.errors import ConfigError
from factloop.core.files.rows import read_record
from factloop.core.records import Record
from factloop.evaluation.audit.rows import load_predictions
from factloop.evaluation.audit.table import PredictionTable, column_of, responses_of
from factloop.evaluation.datasets.benchmark import BENCHMARK
from factloop.evaluation.datasets.folder import data_folder, is_got
from factloop.evaluation.datasets.labelled_claims import labelled_claims
from factloop.evaluation.datasets.mapping import LabelledClaim
from factloop.evaluation.datasets.registry import find_dataset
from factloop.evaluation.reproduction.published import LABELS, published_table

T = TypeVar("T", bound=Record)

_ALIASES = {
    alias.casefold(): one.name
    for one in BENCHMARK
    for alias in (one.name, one.part or one.name, (one.part or one.name).partition(":")[0])
    if not alias.startswith("tofueval") or ":" in alias
}
"""Maps the lower-case name of a data set in predictions to the paper's name. The bare name `tofueval` is left out,
because the paper uses two parts of TofuEval."""


@dataclass(frozen=True)
class Inputs:
    places: Mapping[str, Path] = field(default_factory=dict)
    """The file or folder of each data set that was found, by `NAME:PART`."""
    results: Path | None = None
    evaluators: Mapping[str, str] = field(default_factory=dict)
    """Maps the paper's names of evaluators to their names in the results."""

    def missing(self, data: Sequence[str]) -> Iterator[str]:
        for named in data:
            if named not in self.places:
                name = named.partition(":")[0]
                how = " --from FOLDER`" if find_dataset(name).gated else "`, or pass its folder with `--data`"
                yield f"{named} was not found; run `factloop research data get {name}{how}"

    def labels(self, datasets: Iterable[str]) -> PredictionTable | None:
        """Returns the labelled claims of the benchmark's data sets, or None if none of these were found. The labels
        also serve as an evaluator, so that every figure of the audit can be computed from labels alone."""
        wanted = set(datasets)
        claims = [
            claim.model_copy(update={"dataset": one.name})
            for one in BENCHMARK
            if one.name in wanted and one.part is not None and one.part in self.places
            for name, part in [one.part.split(":")]
            for claim in labelled_claims(name, part, self.places[one.part])
        ]
        return _table_of(claims) if claims else None

    def predictions(self) -> PredictionTable | None:
        """Reads the predictions and replaces known names with the paper's names. Returns None if there are no results.
        Raises DataError if the predictions cannot be read, and ConfigError if an evaluator is unknown or missing."""
        if self.results is None:
            return None
        table = load_predictions(self.results)
        unknown = [name for name in self.evaluators.values() if name not in table.scores]
        if unknown:
            there = ", ".join(table.scores)
            raise ConfigError(f"{self.results} contains no scores by {', '.join(unknown)}; choose from {there}")
        paper = {ours: _known_evaluator(theirs) for theirs, ours in self.evaluators.items()}
        datasets = [_ALIASES.get(name.casefold(), name) for name in table.dataset.names]
        return replace(
            table,
            dataset=column_of([datasets[code] for code in table.dataset.codes.tolist()]),
            scores={paper.get(name, name): scores for name, scores in table.scores.items()},
        )


def _known_evaluator(name: str) -> str:
    """Returns the name, which may end with `@N`. Raises ConfigError if the paper has no such evaluator."""
    known = [names[0] for names in published_table(3).rows]
    whole, mark, n_words = name.partition("@")
    if name not in known and not (mark and whole in known and n_words.isdecimal()):
        raise ConfigError(f"the paper has no evaluator {name!r}; choose from {', '.join(known)}")
    return name


def _table_of(claims: Sequence[LabelledClaim]) -> PredictionTable:
    dataset, system = (column_of([getattr(claim, name) for claim in claims]) for name in ("dataset", "system"))
    label = np.array([claim.label for claim in claims], np.int8)
    has_prompts = all(claim.prompt_id is not None for claim in claims)
    return PredictionTable(
        dataset=dataset,
        system=system,
        response=responses_of(dataset, system, column_of([claim.response_id or claim.id for claim in claims])),
        label=label,
        scores={LABELS: label.astype(np.float64)},
        prompt=column_of([str(claim.prompt_id) for claim in claims]) if has_prompts else None,
    )


def read_result(path: Path, kind: type[T]) -> T:
    """Reads the record that a command wrote with `--json`. Raises DataError if the file contains no such record."""
    return read_record(path, kind, f"a {kind.__name__}; pass the output of the entry's command")


def find_places(data: Sequence[str], given: str | None) -> dict[str, Path]:
    """Maps the data sets that exist to their paths.

    `given` is a folder created by `data get`, a folder with one file per part, or a single file if only one data set is
    needed. It defaults to the folder used by `data get`. Raises ConfigError if the path does not exist, or is a single
    file although several data sets are needed.
    """
    place = data_folder() if given is None else Path(given)
    if given is not None and place.is_file():
        if len(data) != 1:
            wanted = f"must be a folder with {', '.join(data)}" if data else "is not needed; this entry uses no data"
            raise ConfigError(f"{given} {wanted}")
        return {data[0]: place}
    if given is not None and not place.is_dir():
        raise ConfigError(f"{given}: no such file or folder")
    found = {}
    for named in data:
        name, part = named.split(":")
        own = find_dataset(name).part(part).own_file
        if is_got(place, name, part):
            found[named] = place / name / part
        elif given is not None and own is not None and (place / own).is_file():
            found[named] = place / own
    return found
