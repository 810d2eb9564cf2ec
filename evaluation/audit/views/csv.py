"""The figures of an audit as CSV: one text for each kind of table, over all thresholds, groups and levels.

Names that a spreadsheet would take for a formula begin with an apostrophe; numbers have all their digits.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from factloop.core.records import Record
from factloop.evaluation.audit.report import AuditAt, AuditReport
from factloop.reports.downloads import harmless

Fields = dict[str, Any]


def csv_files(report: AuditReport) -> Mapping[str, str]:
    """The text of each file by its name without ending; a part that was left out has none."""
    found: dict[str, list[Fields]] = {"advice": [*_parts(report.advice, "advice")]}
    for at in report.at:
        for name, rows in _rows_of(at).items():
            found.setdefault(name, []).extend({"threshold": at.threshold, **row} for row in rows)
    return {name: _written(rows) for name, rows in found.items() if rows}


def _rows_of(at: AuditAt) -> Mapping[str, Iterable[Fields]]:
    return {
        "rates": map(_flat, at.rates.rates),
        "agreement": map(_flat, at.agreement.pairs),
        "error_rates": map(_flat, at.quantification.errors),
        "bias_by_system": map(_flat, at.quantification.systems),
        "bias_by_dataset": map(_flat, at.quantification.datasets),
        "bias": map(_flat, at.quantification.evaluators),
        "group_headrooms": map(_flat, at.group_headrooms),
        "rankings": map(_flat, at.rankings),
        "mean_rankings": map(_flat, at.mean_rankings),
        "order_tables": _parts(at.rankings, "cells"),
        "scores": map(_flat, at.reliability),
        "scores_by_tenths": _parts(at.reliability, "bins"),
        "similarity": _parts(at.surface, "bins"),
        "chunking": map(_flat, at.chunking),
        "adjustment": _parts(at.adjustment, "methods"),
        "mean_adjustment": _parts(at.mean_adjustments, "methods"),
        "calibrations": (
            _flat(report) | {f"calibration.{name}": value for name, value in row.items()}
            for report in at.adjustment
            for row in _parts(report.calibrations, "adjustments")
        ),
    }


def _parts(records: Iterable[Record], field: str) -> Iterator[Fields]:
    """A row for each part in a field of each record, after what the record itself says."""
    for record in records:
        whole = _flat(record)
        for number, part in enumerate(getattr(record, field), 1):
            yield {
                **whole,
                f"{field}.number": number,
                **{f"{field}.{key}": value for key, value in _flat(part).items()},
            }


def _flat(record: Record) -> Fields:
    """The single values of a record and of those in it, named `tpr.low`; lists of names are joined, others left out."""
    flat: Fields = {}
    for name, value in record:
        if isinstance(value, Record):
            flat |= {f"{name}.{inner}": found for inner, found in _flat(value).items()}
        elif isinstance(value, tuple):
            if all(isinstance(each, str) for each in value):
                flat[name] = " ".join(value)
        else:
            flat[name] = value
    return flat


def _written(rows: Sequence[Fields]) -> str:
    columns = dict.fromkeys(name for row in rows for name in row)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: harmless(value) for name, value in row.items()} for row in rows)
    return text.getvalue()
