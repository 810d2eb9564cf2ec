"""Reads labelled claims for debiasing from files."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from factloop.core.errors import ConfigError, DataError
from factloop.core.files.lines import STANDARD_INPUT, place_name
from factloop.core.files.rows import Row
from factloop.core.files.tables import read_rows
from factloop.evaluation.datasets.misspelt import refuse_misspelt
from factloop.evaluation.runs.calibration_rows import LabelledRow, NamedClaims
from factloop.evaluation.runs.calibration_sample import CalibrationSample
from factloop.evaluation.runs.run_claims import ClaimOrigin, origin_of

if TYPE_CHECKING:
    from factloop.evaluation.audit.table import PredictionTable

T = TypeVar("T")

_NUMBER = re.compile(r"[0-9]*\.?[0-9]+(?:e-?[0-9]+)?")


def read_labelled_rows(place: str | Path) -> CalibrationSample:
    """Rows of `label`, `verdict` and perhaps `group` and `system`, as JSON Lines, CSV, Parquet or a JSON array.

    Claims of a run are recognised by `group`, `response_id` and `claim`. A claim that comes again counts once. Raises
    DataError for a malformed row, a misspelt column, a claim with two labels, a group or system in only some rows, and
    no row; ConfigError for an audit's predictions, of which one evaluator is meant.
    """
    rows: list[LabelledRow] = []
    named = NamedClaims()
    first = 0
    is_text = str(place).lower().endswith(".csv")
    for row in read_rows(place):
        _refuse_predictions(row)
        refuse_misspelt(row, LabelledRow.model_fields)
        read = (_with_numbers(row) if is_text else row).read_as(LabelledRow)
        if rows:
            _refuse_unlike(row, read, rows[0], first)
        first = first or row.line
        if not named.has(row, read):
            rows.append(read)
    if not rows:
        raise DataError("there is no row in it", path=place_name(place))
    judges = {read.judge for read in rows}
    return CalibrationSample(
        _named(place),
        tuple(read.label for read in rows),
        tuple(read.verdict for read in rows),
        _column(read.group for read in rows),
        of_systems=_column(read.system for read in rows),
        probabilities=_column(read.probability for read in rows),
        origins=tuple(read.origin for read in rows),
        scores=tuple(read.score for read in rows),
        judges=frozenset() if None in judges else frozenset(filter(None, judges)),
        n_repeated=named.n_repeated,
    )


def _refuse_unlike(row: Row, read: LabelledRow, first: LabelledRow, line: int) -> None:
    """Raises DataError where a row has a column that the first, in that line, has not, or the other way round."""
    for name in ("group", "system", "probability"):
        is_known = getattr(first, name) is not None
        if (getattr(read, name) is None) == is_known:
            how = f"missing, but line {line} has it" if is_known else f"given, but line {line} has none"
            raise row.error(f"it is {how}: give it in every row or in none", name)


def _column(values: Iterable[T | None]) -> tuple[T, ...] | None:
    """The values, which all rows have or none."""
    return tuple(value for value in values if value is not None) or None


def read_predictions(place: str | Path, evaluator: str) -> CalibrationSample:
    """One evaluator's scores in the input of an audit; 0.5 and above is supported, prompts or else responses group.

    Raises DataError as the audit does, ConfigError for an evaluator that is not there.
    """
    from factloop.evaluation.audit.rows import load_predictions
    from factloop.evaluation.audit.table import THRESHOLD
    from factloop.evaluation.audit.verdicts import clusters_of

    table = load_predictions(place)
    if evaluator not in table.scores:
        known = ", ".join(sorted(table.scores))
        raise ConfigError(f"{place_name(place)}: has no evaluator {evaluator!r}, but {known}")
    if table.prompt is not None and len(table.dataset.names) == 1:
        groups = [table.prompt.names[code] for code in table.prompt.codes.tolist()]  # those that a run may share
    else:
        groups = [f"cluster {cluster}" for cluster in clusters_of(table).tolist()]
    verdicts = (None if math.isnan(score) else int(score >= THRESHOLD) for score in table.scores[evaluator].tolist())
    return CalibrationSample(
        data=_named(place),
        labels=tuple(table.label.tolist()),
        verdicts=tuple(verdicts),
        groups=tuple(groups),
        probabilities=None if table.probability is None else tuple(table.probability.tolist()),
        of_systems=tuple(table.system.names[code] for code in table.system.codes.tolist()),
        origins=tuple(_origins(table)),
    )


def _origins(table: PredictionTable) -> Iterator[ClaimOrigin]:
    prompts = None if table.prompt is None else table.prompt.codes.tolist()
    places = zip(table.system.codes.tolist(), table.response.codes.tolist(), strict=True)
    for row, (system, response) in enumerate(places):
        yield origin_of(
            system=table.system.names[system],
            group=None if prompts is None or table.prompt is None else table.prompt.names[prompts[row]],
            response_id=table.response.names[response],
            claim=None if table.claim_text is None else table.claim_text[row],
        )


def _refuse_predictions(row: Row) -> None:
    given = row.fields.get("evaluators")
    names = sorted(given) if isinstance(given, Mapping) else []
    names += sorted(name.removeprefix("evaluator:") for name in row.fields if name.startswith("evaluator:"))
    if names and "verdict" not in row.fields:
        raise ConfigError(f"{row.path}: has the scores of {', '.join(names)}; name the evaluator that is meant")


def _with_numbers(row: Row) -> Row:
    """Texts of CSV as the numbers they hold; an empty cell is nothing."""
    fields: dict[str, Any] = {name: value or None for name, value in row.fields.items()}
    for name in ("label", "verdict"):
        if fields.get(name) in ("0", "1"):
            fields[name] = json.loads(fields[name])
    for name in ("probability", "score"):
        if _NUMBER.fullmatch(str(fields.get(name))):
            fields[name] = float(fields[name])
    return row.renamed(fields, {})


def _named(place: str | Path) -> str:
    """The name and, of a file, its hash; a pipe can be read only once."""
    if str(place) == STANDARD_INPUT or not Path(place).is_file():
        return place_name(place)
    with Path(place).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return f"{Path(place).name} (sha256 {digest[:12]})"
