"""The tables of an audit, said once: the terminal, the page and its CSV files are laid out from `tables.json`.

A row is a record's fields by name; where a record holds parts, as a system's calibration does its methods, each part is
a row, its fields named `methods.mean_bias` beside those of the whole.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from math import isfinite
from typing import Any, Literal

from markupsafe import Markup

from factloop.core.records import Record
from factloop.evaluation.audit.advice import CRITERIA
from factloop.evaluation.audit.figures import AuditFigure, Group
from factloop.evaluation.audit.report import Advice, AuditAt, AuditData, AuditReport, EvaluatorAdvice, Measure
from factloop.evaluation.audit.table import Level
from factloop.evaluation.audit.views import pictures
from factloop.evaluation.audit.views.words import LEAVES, MEASURES, REASONS, USES, VALUES
from factloop.evaluation.mixedqa.views import coefficient
from factloop.evaluation.statistics.correlation import Correlation
from factloop.reports.downloads import harmless
from factloop.reports.figures import plural
from factloop.reports.sheet.table import NOTHING, Cell, Column, Line, Sheet, count_cell, figure_cell, value_cell

Row = Mapping[str, Any]
MOST_LINES = 40
"""Lines of a table by data set, at most, that the terminal shows."""


def percent(value: float) -> str:
    """`70.5`, for a column headed %; never `-0.0`."""
    return f"{round(100 * value, 1) + 0.0:.1f}"


def thousandths(value: float) -> str:
    return f"{value:.3f}"


@dataclass(frozen=True)
class Scope:
    """One group of one audit at one threshold."""

    at: AuditAt
    group: Group
    members: frozenset[str] = frozenset()
    """The data sets of a group of several; empty for one data set."""


_LAID_OUT = json.loads(resources.files(__package__).joinpath("tables.json").read_text("utf-8"))
HEADS: Mapping[str, str] = _LAID_OUT["heads"]
"""The head of each column that says in words what a row is about."""
FIGURES: Mapping[str, str] = _LAID_OUT["figures"]
"""The head of each column of figures. Of a part, such as `bins.tpr`, that of `tpr` where it has none of its own."""
_SHOWN = dict.fromkeys(("ece", "brier", "brier_of_share", "auc"), thousandths)
_SHOWN |= {"kendall": coefficient, "pearson": coefficient}


def _column(name: str) -> Column:
    """The column of a field; one that ends on `*` stands on pages alone."""
    field = name.removesuffix("*")
    last = field.rpartition(".")[2]
    words, figures = (table.get(field) or table.get(last) for table in (HEADS, FIGURES))
    is_name = figures is None or field in HEADS
    return Column(
        (words if is_name else figures) or "",
        is_name=is_name,
        is_heading=field == "level",
        width=0 if is_name else 13,
        on_terminal=not name.endswith("*"),
    )


@dataclass(frozen=True)
class Table:
    """The rows of one kind that concern a group."""

    title: str
    rows: str
    """The name of the rows, which is that of their CSV file."""
    columns: str
    """Fields, one after the other; see `_column`."""
    of: Literal["group", "members"] = "group"
    """Rows of the group itself, or of each of its data sets."""
    weights: bool = False
    """Whether claims count by their weights, where they have any."""
    on_terminal: bool = True

    def sheet(self, scope: Scope) -> Sheet:
        names = self.columns.split()
        lines = [
            Line(tuple(_cell(row, name.removesuffix("*")) for name in names), _about(row))
            for row in rows_of(scope.at)[self.rows]
            if self._has(row, scope)
        ]
        note = ""
        if scope.at.rates.basis.n_effective is not None:
            note = "; claims weighted" if self.weights else "; unweighted"
        return Sheet(f"{self.title}{note}", tuple(map(_column, names)), tuple(lines))

    def _has(self, row: Row, scope: Scope) -> bool:
        group = row["group"] if "dataset" not in row else Group(kind="dataset", name=row["dataset"])
        if self.of == "members":
            is_claims = row.get("level", Level.CLAIM) is Level.CLAIM
            return is_claims and group.kind == "dataset" and group.name in (scope.members or {scope.group.name})
        return bool(group.is_like(scope.group)) and not _is_empty(row)


def _is_empty(row: Row) -> bool:
    """A tenth of the scores without claims, and a table of no pairs."""
    return row.get("bins.n") == 0 or (row.get("n_pairs") == 0 and "cells.n_pairs" in row)


def _about(row: Row) -> tuple[str, ...]:
    return tuple(row[name] for name in ("evaluator", "other", "chunked") if row.get(name))


def _cell(row: Row, name: str) -> Cell:
    value: Any = row
    for part in (name,) if name in row else name.split("."):
        value = value[part] if isinstance(value, Mapping) else getattr(value, part)
    if isinstance(value, AuditFigure):
        return figure_of(value, row.get("level", Level.CLAIM).value)
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
    """The value in per cent, with its interval and how many it rests on of what; or why it is undefined."""
    rests_on = f"n {plural(one.n, unit)}"
    if one.n_datasets_undefined:
        rests_on += f", undefined on {plural(one.n_datasets_undefined, 'data set')}"
    return figure_cell(one, percent, basis=rests_on)


def rows_of(at: AuditAt) -> Mapping[str, Sequence[Row]]:
    """The rows of each kind."""
    return {
        "rates": [*map(dict, at.rates.rates)],
        "agreement": [*map(dict, at.agreement.pairs)],
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
    """A row for each part in a field of each row, after what the row itself says."""
    for row in rows:
        for number, part in enumerate(row[name], 1):
            yield {**row, f"{name}.number": number, **{f"{name}.{key}": value for key, value in part}}


def csv_files(report: AuditReport) -> Mapping[str, str]:
    """The figures over all thresholds, groups and levels: the text of each file by its name without ending.

    Names that a spreadsheet would take for a formula begin with an apostrophe; numbers have all their digits. A part
    that was left out has no file.
    """
    advice = _parts(_parts(map(dict, report.advice), "advice"), "advice.figures")
    found: dict[str, list[Row]] = {"advice": [_flat(row) for row in advice]}
    for at in report.at:
        for name, rows in rows_of(at).items():
            found.setdefault(name, []).extend({"threshold": at.threshold, **_flat(row)} for row in rows)
    return {name: _written(rows) for name, rows in found.items() if rows}


def _flat(row: Row) -> Row:
    """The single values of a row and of the records in it, named `tpr.low`; lists of names are joined."""
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


def advice_sheet(found: Sequence[EvaluatorAdvice]) -> Sheet:
    """Each use of each evaluator: whether, the condition that decided it, and the figures behind it."""
    columns = (
        Column("Evaluator", is_name=True, is_heading=True, is_as_given=True),
        Column("May it be used to …", is_name=True),
        Column("Here"),
        Column("Why", is_name=True),
        Column("Figures", is_name=True),
    )
    lines = [
        Line((Cell(one.evaluator), *_advice_cells(each)), (one.evaluator,)) for one in found for each in one.advice
    ]
    return Sheet("What may each evaluator be used for?", columns, tuple(lines))


def _advice_cells(one: Advice) -> tuple[Cell, ...]:
    words, sign, tone = LEAVES[one.leave]
    figures = "; ".join(
        f"{MEASURES[each.measure]} {_amount(each.measure, each.value, each.low, each.high)} (n {each.n:,})"
        for each in one.figures
    )
    here = Cell(f"{sign} {words}", tone=tone, style=_STYLES[tone])
    return Cell(USES[one.use]), here, Cell(REASONS[one.reason]), Cell(figures or NOTHING)


def limits_sheet() -> Sheet:
    """The limits of each use, which are the same for all evaluators."""
    columns = (
        Column("To …", is_name=True),
        Column("Figure", is_name=True),
        Column("Good"),
        Column("Poor"),
        Column("Not known with fewer than"),
    )
    lines = [
        Line(
            (
                Cell(USES[use]),
                Cell(MEASURES[one.measure]),
                Cell(_limit(one.measure, one.good, "at least" if one.rises else "at most")),
                Cell(_limit(one.measure, one.poor, "below" if one.rises else "above")),
                count_cell(one.fewest),
            )
        )
        for use, criteria in CRITERIA.items()
        for one in criteria
    ]
    return Sheet("Limits of the advice", columns, tuple(lines))


def _limit(measure: Measure, limit: float, words: str) -> str:
    return f"{words} {_amount(measure, limit, None, None)}" if isfinite(limit) else NOTHING


_STYLES = {"supported": "green", "no_evidence": "yellow", "contradicted": "red", "irrelevant": "dim"}


def _amount(measure: Measure, value: float | None, low: float | None, high: float | None) -> str:
    shown = coefficient if measure is Measure.TAU else percent
    interval = "" if low is None or high is None else f" [{shown(low)}, {shown(high)}]"
    return NOTHING if value is None else f"{shown(value)}{interval}"


@dataclass(frozen=True)
class Section:
    """One question: its tables, the first of which stands open, and a picture of some of them."""

    key: str
    title: str
    lead: str
    tables: tuple[Table, ...]
    draw: Callable[[AuditAt, Group, frozenset[str], Mapping[str, pictures.Mark]], Markup | None] | None = None

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(table.rows for table in self.tables))

    def sheets(self, scope: Scope) -> list[Sheet]:
        """Those of the tables that have rows of the group."""
        return [sheet for table in self.tables if (sheet := table.sheet(scope)).lines]

    def terminal_sheets(self, scope: Scope) -> list[Sheet]:
        """Likewise, without what is long: pages and files have it."""
        found = [(table, table.sheet(scope)) for table in self.tables if table.on_terminal]
        return [
            sheet for table, sheet in found if sheet.lines and (table.of == "group" or len(sheet.lines) <= MOST_LINES)
        ]


def _section(key: str, title: str, lead: str, tables: Sequence[Mapping[str, Any]], picture: str = "") -> Section:
    draw = getattr(pictures, f"draw_{picture}") if picture else None
    return Section(key, title, lead, tuple(Table(**one) for one in tables), draw)


SECTIONS: tuple[Section, ...] = tuple(_section(**one) for one in _LAID_OUT["sections"])


def sections_of(scope: Scope) -> Iterator[Section]:
    """Those with rows of the group; figures by data set only of several."""
    for section in SECTIONS:
        if (section.key != "by-dataset" or scope.members) and section.sheets(scope):
            yield section


def groups_of(data: AuditData) -> list[Group]:
    """All, the task groups, and the data sets. A group of one data set is left out, as the data set says the same."""
    tasks = [*data.task_of.values()]
    groups = [] if len(data.datasets) == 1 else [Group(kind="all")]
    groups += [Group(kind="task", name=name) for name in data.tasks if tasks.count(name) > 1]
    return groups + [Group(kind="dataset", name=name) for name in data.datasets]


def scope_of(at: AuditAt, group: Group, data: AuditData) -> Scope:
    """The group at a threshold, with its data sets."""
    if group.kind == "dataset":
        return Scope(at, group)
    members = (name for name in data.datasets if group.kind == "all" or data.task_of.get(name) == group.name)
    return Scope(at, group, frozenset(members))
