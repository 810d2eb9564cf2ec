"""Reproductions, and the list of what there is to reproduce, as sheets."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.evaluation.reproduction.estimate import CallEstimate
from factloop.evaluation.reproduction.records import ComparedFigure, Entry, Reproduction, Value
from factloop.reports.figures import plural
from factloop.reports.sheet.table import (
    NOTHING,
    Cell,
    Column,
    ColumnOf,
    Sheet,
    count_cell,
    name,
    page_only,
    sheet_of,
    value_cell,
)


def reproduction(found: Reproduction, *, ours_alone: bool = False) -> Sheet:
    """Theirs beside ours with the difference: a line for each place of the table, or for those that ours has."""
    columns: tuple[ColumnOf[ComparedFigure], ...] = (
        (name("Row"), lambda one: ", ".join(one.names)),
        (name("Column"), lambda one: one.column),
        (
            Column("Paper" if found.against == "paper" else "Check value"),
            lambda one: _value(one.published, one.decimals),
        ),
        (Column("Ours", is_strong=True), lambda one: _value(one.ours, one.decimals)),
        (Column("Difference"), _difference),
        (Column("From"), lambda one: NOTHING if one.origin is None else one.origin.value),
        (Column("n"), lambda one: Cell(NOTHING) if one.n is None else count_cell(one.n)),
    )
    return sheet_of(found.title, columns, [one for one in found.figures if one.ours is not None or not ours_alone])


def outcome(found: Reproduction) -> str:
    """How many figures were compared, and how many of them are the same as printed."""
    if not found.n_compared:
        return f"None of {plural(len(found.figures), 'figure')} could be compared."
    compared = f"{found.n_compared:,} of {plural(len(found.figures), 'figure')} compared"
    theirs = "printed, as far as that is exact" if found.against == "paper" else "the check values"
    same = f"{compared}; {found.n_equal:,} the same as {theirs}."
    if not found.n_against_itself:
        return same
    which = "All" if found.n_against_itself == found.n_compared else f"{found.n_against_itself:,}"
    return f"{same} {which} of these hold the paper against its own figures."


def entries(listed: Sequence[Entry], estimates: Sequence[CallEstimate | None] = ()) -> Sheet:
    """What there is to reproduce, with what each needs; `estimates` adds the calls of a model."""
    rows = list(zip(listed, estimates or [None] * len(listed), strict=True))
    columns: tuple[ColumnOf[tuple[Entry, CallEstimate | None]], ...] = (
        (name("Entry"), lambda row: row[0].id),
        (name("Shows"), lambda row: row[0].title),
        (Column("Status", is_strong=True), lambda row: row[0].status.value),
        (page_only("Why"), lambda row: row[0].why),
        (page_only("Data"), lambda row: ", ".join(row[0].data) or NOTHING),
        (page_only("Model"), lambda row: row[0].model or "none"),
        (page_only("Key beside the model's"), lambda row: row[0].key or NOTHING),
        (page_only("Calls"), lambda row: row[0].calls or "none"),
        (page_only("Command for --results"), lambda row: row[0].command or NOTHING),
    )
    if estimates:
        columns = (*columns, (Column("Estimated calls"), lambda row: _calls(row[0], row[1])))
    return sheet_of("What there is to reproduce", columns, rows)


def _calls(entry: Entry, estimate: CallEstimate | None) -> Cell:
    if not entry.model:
        return count_cell(0)
    if estimate is None:
        return Cell(NOTHING, why="its data were not found, or its calls are not known beforehand")
    return count_cell(estimate.n_calls)


def _difference(one: ComparedFigure) -> Cell:
    """Signed, with a digit more than the paper prints, and how far rounded figures may put it off."""
    if one.difference is None:
        same = "same" if one.is_compared and one.is_equal else "other" if one.is_compared else NOTHING
        return Cell(same)
    style = "" if one.is_equal else "yellow"
    digits = one.decimals + 1
    note = f"±{one.slack:g} by rounding" if one.slack else ""
    return Cell(f"{round(one.difference, digits) + 0.0:+.{digits}f}", note, value=one.difference, style=style)


def _value(value: Value, decimals: int) -> Cell:
    if isinstance(value, str):
        return Cell(value)
    return value_cell(value, lambda number: f"{number:,.{decimals}f}")
