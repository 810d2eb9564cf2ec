"""The tables of an audit, for the terminal, the page and the CSV files. `tables.json` defines their layout.

A row maps a record's field names to values. If the record contains a list of records, such as an adjustment's methods,
each gets its own row, with field names such as `methods.mean_bias`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import resources
from typing import Any, Literal

from markupsafe import Markup

from factloop.core.records import Record
from factloop.evaluation.audit.figures import AuditFigure, Group
from factloop.evaluation.audit.report import AuditAt, AuditData, AuditReport
from factloop.evaluation.audit.table import Level
from factloop.evaluation.audit.views import pictures
from factloop.evaluation.audit.views.words import VALUES
from factloop.evaluation.mixedqa.views import coefficient
from factloop.evaluation.statistics.correlation import Correlation
from factloop.reports.downloads import harmless
from factloop.reports.figures import plural
from factloop.reports.sheet.table import NOTHING, Cell, Column, Line, Sheet, count_cell, figure_cell, value_cell

Row = Mapping[str, Any]
MOST_LINES = 40
"""Tables by data set with more lines are not printed on the terminal."""
FEWEST_CLAIMS, FEWEST_CLUSTERS = 30, 10
"""With fewer claims, or fewer prompts or responses, a figure is too uncertain for a finding (see `LIMITS_NOTE`)."""


def percent(value: float) -> str:
    """Formats a fraction as a percentage such as `70.5`, without the % sign. Never returns `-0.0`."""
    return f"{round(100 * value, 1) + 0.0:.1f}"


def thousandths(value: float) -> str:
    return f"{value:.3f}"


@dataclass(frozen=True)
class Scope:
    at: AuditAt
    group: Group
    members: frozenset[str] = frozenset()


_LAID_OUT = json.loads(resources.files(__package__).joinpath("tables.json").read_text("utf-8"))
HEADS: Mapping[str, str] = _LAID_OUT["heads"]
FIGURES: Mapping[str, str] = _LAID_OUT["figures"]
"""Headers of numeric columns. A nested field without one, such as `bins.tpr`, uses that of `tpr`."""
_SHOWN = dict.fromkeys(("ece", "brier", "brier_of_share", "auc"), thousandths)
_SHOWN |= {"kendall": coefficient, "pearson": coefficient}


def _column(name: str) -> Column:
    """A column whose name ends with `*` appears only on pages."""
    field = name.removesuffix("*")
    last = field.rpartition(".")[2]
    words, figures = (table.get(field) or table.get(last) for table in (HEADS, FIGURES))
    is_name = figures is None or field in HEADS
    return Column(
        (words if is_name else figures) or "",
        is_name=is_name,
        is_heading=field == "level",
        on_terminal=not name.endswith("*"),
    )


@dataclass(frozen=True)
class Table:
    title: str
    rows: str
    """The key in `rows_of`, which is also the name of the CSV file."""
    columns: str
    of: Literal["group", "members"] = "group"
    """Whether the rows are for the group itself or for each of its data sets."""
    weights: bool = False
    on_terminal: bool = True

    def sheet(self, scope: Scope) -> Sheet:
        names = self.columns.split()
        lines = [
            Line(
                tuple(_cell(row, name.removesuffix("*")) for name in names),
                tuple(row[name] for name in ("evaluator", "other", "chunked") if row.get(name)),
            )
            for row in rows_of(scope.at)[self.rows]
            if self._has(row, scope)
        ]
        note = ""
        if scope.at.basis.n_effective is not None:
            note = "; claims weighted" if self.weights else "; unweighted"
        return Sheet(f"{self.title}{note}", tuple(map(_column, names)), tuple(lines))

    def _has(self, row: Row, scope: Scope) -> bool:
        group = row["group"] if "dataset" not in row else Group(kind="dataset", name=row["dataset"])
        if self.of == "members":
            is_claims = row.get("level", Level.CLAIM) is Level.CLAIM
            return is_claims and group.kind == "dataset" and group.name in (scope.members or {scope.group.name})
        is_empty = row.get("bins.n") == 0 or (row.get("n_pairs") == 0 and "cells.n_pairs" in row)
        return bool(group.is_like(scope.group)) and not is_empty


def _cell(row: Row, name: str) -> Cell:
    value: Any = row
    for part in (name,) if name in row else name.split("."):
        value = value[part] if isinstance(value, Mapping) else getattr(value, part)
    if isinstance(value, AuditFigure):
        shown = figure_of(value, row.get("level", Level.CLAIM).value)
        is_finding = name.startswith("findings.") and value.value is not None
        return replace(shown, text=f"{_finding(value)}: {shown.text}") if is_finding else shown
    if isinstance(value, Correlation):
        return figure_cell(value, coefficient, basis=plural(value.n, "system"))
    if value is None:
        return Cell("the labels" if name == "other" else NOTHING)
    if isinstance(value, Group):
        return Cell(value.name)
    if isinstance(value, tuple):
        return Cell("; ".join(VALUES.get((type(one), one), str(one)) for one in value) or "none")
    if isinstance(value, StrEnum):
        return Cell(VALUES[type(value), value])
    if isinstance(value, int):
        return count_cell(value)
    return value_cell(value, _SHOWN.get(name, percent)) if isinstance(value, float) else Cell(str(value))


def figure_of(one: AuditFigure, unit: str) -> Cell:
    rests_on = f"n {plural(one.n, unit)}"
    if one.n_datasets_undefined:
        rests_on += f", undefined on {plural(one.n_datasets_undefined, 'data set')}"
    return figure_cell(one, percent, basis=rests_on)


def _finding(one: AuditFigure) -> str:
    if one.low is None or one.high is None or one.n < FEWEST_CLAIMS or one.n_clusters < FEWEST_CLUSTERS:
        return "too few"
    return "not shown" if one.low <= 0.0 <= one.high else "found"


def _findings(at: AuditAt) -> Iterator[Row]:
    biases = {(one.evaluator, one.level, one.group): one for one in at.quantification.evaluators}
    for one in at.rates if at.basis.n_resamples else ():
        if one.level is Level.CLAIM and (bias := biases.get((one.evaluator, one.level, one.group))) is not None:
            found = {"gap": one.gap, "mean_absolute": bias.mean_absolute, "headroom_bias": bias.headroom_bias}
            known = {"group": one.group, "evaluator": one.evaluator, "balanced_accuracy": one.balanced_accuracy}
            yield known | {f"findings.{name}": figure for name, figure in found.items()}


def rows_of(at: AuditAt) -> Mapping[str, Sequence[Row]]:
    return {
        "findings": [*_findings(at)],
        "rates": [*map(dict, at.rates)],
        "agreement": [*map(dict, at.agreement)],
        "error_rates": [*map(dict, at.quantification.errors)],
        "bias_by_system": [*map(dict, at.quantification.systems)],
        "bias_by_dataset": [*map(dict, at.quantification.datasets)],
        "bias": [*map(dict, at.quantification.evaluators)],
        "rankings": [*map(dict, at.rankings)],
        "mean_rankings": [*map(dict, at.mean_rankings)],
        "order_tables": [*_parts(map(dict, at.rankings), "cells")],
        "scores": [*map(dict, at.reliability)],
        "scores_by_tenths": [*_parts(map(dict, at.reliability), "bins")],
        "similarity": [*_parts(map(dict, at.surface), "bins")],
        "chunking": [*map(dict, at.chunking)],
        "adjustment": [*_parts(map(dict, at.adjustment), "methods")],
        "mean_adjustment": [*_parts(map(dict, at.mean_adjustments), "methods")],
        "calibrations": [*_parts(_parts(map(dict, at.adjustment), "calibrations"), "calibrations.adjustments")],
    }


def _parts(rows: Iterable[Row], name: str) -> Iterator[Row]:
    for row in rows:
        for number, part in enumerate(row[name], 1):
            yield {**row, f"{name}.number": number, **{f"{name}.{key}": value for key, value in part}}


def csv_files(report: AuditReport) -> Mapping[str, str]:
    """Maps the names of CSV files (without extension) to their contents, for all thresholds, groups and levels. Names
    that a spreadsheet would interpret as formulas are prefixed with an apostrophe. Numbers are not rounded."""
    found: dict[str, list[Row]] = {}
    for at in report.at:
        for name, rows in rows_of(at).items():
            found.setdefault(name, []).extend({"threshold": at.threshold, **_flat(row)} for row in rows)
    return {name: _written(rows) for name, rows in found.items() if rows}


def _flat(row: Row) -> Row:
    """Fields of records get names like `tpr.low`. Lists of names are joined, and other lists are dropped."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Record):
            flat |= {f"{name}.{inner}": found for inner, found in _flat(dict(value)).items()}
        elif not isinstance(value, tuple):
            flat[name] = value
        elif all(isinstance(each, str) for each in value):
            flat[name] = " ".join(value)
    return flat


def _written(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: harmless(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def limits_sheet() -> Sheet:
    """Returns the requirements for each use of an evaluator.

    The papers give no limits, so these are ours. At a TPR and a TNR of 80%, at most one claim in five of either label
    is misclassified; a coin toss gives 50%. Systems in a data set often differ by no more than 2 points, and a good
    system's error rate is below 5%. Evaluators in the paper order 20 to 26% of pairs wrongly. At a tau of 0.8, at most
    one pair in ten is reversed. Chunking changes 5% of predictions through noise alone, and a loss of more than 10% is
    substantial (section 4.2).
    """
    heads = ("To …", "Check", "Good", "Poor")
    lines = (Line(tuple(map(Cell, row))) for row in _LAID_OUT["limits"])
    return Sheet("What each use requires, %", tuple(Column(head, is_name=True) for head in heads), tuple(lines))


LIMITS_NOTE = (
    "Compare the less favourable end of an interval with the limit. Rates for fewer than 30 claims, and figures for "
    "fewer than 10 prompts or responses, 10 pairs or 3 systems, are too uncertain to use. Chunk losses are shares of "
    "all claims, so compare them with the share that passes. If an evaluator's balanced accuracy may be as low as 50, "
    "it may be no better than chance, however good its other figures: rejecting everything also stops all false claims."
)


@dataclass(frozen=True)
class Section:
    """A question answered by tables and an optional chart. Only the first table is expanded."""

    key: str
    title: str
    lead: str
    tables: tuple[Table, ...]
    draw: Callable[[AuditAt, Group, frozenset[str], Mapping[str, pictures.Mark]], Markup | None] | None = None

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(table.rows for table in self.tables))

    def sheets(self, scope: Scope) -> list[Sheet]:
        return [sheet for table in self.tables if (sheet := table.sheet(scope)).lines]

    def terminal_sheets(self, scope: Scope) -> list[Sheet]:
        """Leaves out long tables, which appear only in pages and files."""
        found = [(table, table.sheet(scope)) for table in self.tables if table.on_terminal]
        return [
            sheet for table, sheet in found if sheet.lines and (table.of == "group" or len(sheet.lines) <= MOST_LINES)
        ]


def _section(key: str, title: str, lead: str, tables: Sequence[Mapping[str, Any]], picture: str = "") -> Section:
    draw = getattr(pictures, f"draw_{picture}") if picture else None
    return Section(key, title, lead, tuple(Table(**one) for one in tables), draw)


SECTIONS: tuple[Section, ...] = tuple(_section(**one) for one in _LAID_OUT["sections"])


def sections_of(scope: Scope) -> Iterator[Section]:
    """Yields the sections that have rows for the group. A single data set has no section that compares data sets."""
    for section in SECTIONS:
        if (section.key != "by-dataset" or scope.members) and section.sheets(scope):
            yield section


def groups_of(data: AuditData) -> list[Group]:
    """Returns the group of all data sets, then the task groups, then the individual data sets. Groups of a single data
    set are left out, because they would repeat the data set's own group."""
    tasks = [*data.task_of.values()]
    groups = [] if len(data.datasets) == 1 else [Group(kind="all")]
    groups += [Group(kind="task", name=name) for name in data.tasks if tasks.count(name) > 1]
    return groups + [Group(kind="dataset", name=name) for name in data.datasets]


def scope_of(at: AuditAt, group: Group, data: AuditData) -> Scope:
    if group.kind == "dataset":
        return Scope(at, group)
    members = (name for name in data.datasets if group.kind == "all" or data.task_of.get(name) == group.name)
    return Scope(at, group, frozenset(members))
