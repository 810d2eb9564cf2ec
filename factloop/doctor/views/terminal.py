"""Shows the findings as a table. Each row says whether a part works and, if it does not, how to fix it."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from factloop.doctor.records import Diagnosis, Grade, PartFound, State
from factloop.reports.sheet.table import Cell, ColumnOf, Sheet, name, sheet_of
from factloop.reports.sheet.terminal import print_sheet
from factloop.reports.terminal_parts import Row, print_section, rows_table, usage_rows
from factloop.reports.visible import visible

STATES: dict[State, tuple[str, str]] = {
    "works": ("works", "green"),
    "fails": ("FAILS", "bold red"),
    "not_configured": ("not set", "dim"),
}
GRADES: dict[Grade, tuple[str, str]] = {
    "good": ("good", "green"),
    "usable_with_care": ("usable, with care", "yellow"),
    "not_usable": ("NOT USABLE", "bold red"),
}


def print_diagnosis(diagnosis: Diagnosis, console: Console) -> None:
    print_sheet(console, findings(diagnosis))
    print_section(console, "Installation", rows_table(_installation(diagnosis)))


def findings(diagnosis: Diagnosis) -> Sheet:
    columns: tuple[ColumnOf[PartFound], ...] = (
        (name("What"), lambda found: found.part.replace("_", " ")),
        (name("Which"), lambda found: found.name or "–"),
        (name("State"), _state),
        (name("Details"), _said),
    )
    return sheet_of("Configured", columns, diagnosis.parts)


def _state(found: PartFound) -> Cell:
    word, style = STATES[found.state] if found.controls is None else GRADES[found.controls.grade]
    return Cell(word, style=style)


def _said(found: PartFound) -> str:
    if found.problem:
        end = "" if found.problem.endswith((".", "!", "?")) else "."
        return f"{found.problem}{end} {found.advice}".strip()
    return "; ".join((*found.how, *found.limits)) or found.advice


def _installation(diagnosis: Diagnosis) -> list[Row]:
    there = [one.extra for one in diagnosis.extras if one.installed]
    absent = [one for one in diagnosis.extras if not one.installed]
    rows: list[Row] = [
        ("factloop", Text(f"{diagnosis.factloop_version}, Python {diagnosis.python_version}")),
        ("Extras", Text(", ".join(there) or "none")),
    ]
    if absent:
        install = absent[0].install.replace(f"[{absent[0].extra}]", "[EXTRA]")
        rows.append(("Missing", Text(visible(f"{', '.join(one.extra for one in absent)}; to install: {install}"))))
    return rows + usage_rows(diagnosis.usage)
