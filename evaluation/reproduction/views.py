from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from factloop.evaluation.reproduction.records import ComparedFigure, Origin, Reproduction, Value
from factloop.evaluation.reproduction.registry import PAPERS, Entry
from factloop.reports.figures import plural
from factloop.reports.page import render_page
from factloop.reports.sheet.table import (
    NOTHING,
    Cell,
    Column,
    ColumnOf,
    Sheet,
    count_cell,
    name,
    page_only,
    sheet_download,
    sheet_of,
    value_cell,
)
from factloop.reports.sheet.terminal import print_sheet
from factloop.reports.terminal_parts import Row, notice_rows, print_section, rows_table
from factloop.reports.visible import visible


def reproduction_sheet(found: Reproduction, *, ours_alone: bool = False) -> Sheet:
    """Tabulates the published figures next to ours. `ours_alone` leaves out cells without our figure."""
    theirs = "Paper" if found.against == "paper" else "Check value"
    columns: tuple[ColumnOf[ComparedFigure], ...] = (
        (name("Row"), lambda one: ", ".join(one.names)),
        (name("Column"), lambda one: one.column),
        (Column(theirs), lambda one: _value(one.published, one.decimals)),
        (Column("Ours", is_strong=True), lambda one: _value(one.ours, one.decimals)),
        (Column("Difference"), _difference),
        (Column("From"), lambda one: NOTHING if one.origin is None else one.origin.value),
        (Column("n"), lambda one: Cell(NOTHING) if one.n is None else count_cell(one.n)),
    )
    return sheet_of(found.title, columns, [one for one in found.figures if one.ours is not None or not ours_alone])


def _difference(one: ComparedFigure) -> Cell:
    if one.difference is None:
        return Cell("same" if one.is_equal else "other" if one.is_compared else NOTHING)
    digits = one.decimals + 1
    return Cell(
        f"{round(one.difference, digits) + 0.0:+.{digits}f}",
        f"±{one.slack:g} by rounding" if one.slack else "",
        value=one.difference,
        style="" if one.is_equal else "yellow",
    )


def _value(value: Value, decimals: int) -> Cell:
    return Cell(value) if isinstance(value, str) else value_cell(value, lambda number: f"{number:,.{decimals}f}")


def outcome(found: Reproduction) -> str:
    if not found.n_compared:
        return f"None of {plural(len(found.figures), 'figure')} could be compared."
    theirs = "the printed figures up to rounding" if found.against == "paper" else "the check values"
    compared = [one for one in found.figures if one.is_compared]
    same = [
        f"{sum(one.is_equal for one in alike):,} of {len(alike):,} {words}"
        for origin, words in _RESTS_ON.items()
        if (alike := [one for one in compared if one.origin is origin])
    ]
    n = f"{len(compared):,} of {plural(len(found.figures), 'figure')} compared."
    return f"{n} Equal to {theirs}: {'; '.join(same)}."


_RESTS_ON = {
    Origin.LABELS: "from labelled data",
    Origin.RESULTS: "from the results of a command",
    Origin.PRINTED: "from other figures that the paper prints, without its data",
    Origin.RULE: "from our rules alone, without data",
}


def entries_sheet(listed: Sequence[Entry]) -> Sheet:
    columns: tuple[ColumnOf[Entry], ...] = (
        (name("Entry"), lambda one: one.id),
        (name("Shows"), lambda one: one.title),
        (Column("Status", is_strong=True), lambda one: one.status.value),
        (page_only("Why"), lambda one: one.why),
        (page_only("Data"), lambda one: ", ".join(one.data) or NOTHING),
        (page_only("Model"), lambda one: one.model or "none"),
        (page_only("Keys"), lambda one: one.key or NOTHING),
        (page_only("Calls"), lambda one: one.calls or "none"),
        (page_only("Command for --results"), lambda one: one.command or NOTHING),
    )
    return sheet_of("Tables and figures to reproduce", columns, listed)


def print_reproduction(found: Reproduction, entry: Entry, console: Console) -> None:
    """Prints the cells for which we have a figure, then the outcome. The page contains all cells."""
    print_sheet(console, reproduction_sheet(found, ours_alone=True), whole=reproduction_sheet(found))
    rows: list[Row] = [
        ("Entry", Text(found.entry)),
        ("Status", Text(f"{entry.status.value}: {entry.why}")),
        ("Outcome", Text(outcome(found))),
    ]
    rows += [("Unit", Text(found.unit))] if found.unit else []
    rows += [("Needs", Text(visible(f"{entry.model}; {entry.command}")))] if entry.command else []
    print_section(console, "Result", rows_table(rows + notice_rows("Note", found.notes)))


def render_reproduction_html(found: Reproduction, entry: Entry) -> str:
    """Renders the published figures next to ours, with a download link. The output is deterministic."""
    sheet = reproduction_sheet(found)
    paper = next(one for one in PAPERS if one.key == entry.paper)
    return _page(
        sheet,
        f"{found.entry.replace(':', '-')}.csv",
        kind=found.entry,
        lead=f"{paper.title} ({paper.citation})",
        facts=(f"{entry.status.value}: {entry.why}", outcome(found), *((found.unit,) if found.unit else ())),
        notes=found.notes,
    )


def render_entries_html(listed: Sequence[Entry]) -> str:
    lead = "; ".join(f"{paper.key}: {paper.title}" for paper in PAPERS)
    return _page(entries_sheet(listed), "reproduce.csv", kind="list", lead=lead, facts=(), notes=())


def _page(sheet: Sheet, file: str, **context: Any) -> str:
    return render_page(
        "reproduction.html.j2",
        room="factloop.evaluation.reproduction",
        styles=("run.css",),
        title=sheet.title,
        sheet=sheet,
        downloads=[sheet_download(f"The {'list' if file == 'reproduce.csv' else 'table'} as CSV", file, sheet)],
        **context,
    )
