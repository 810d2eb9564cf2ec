"""Reproductions on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from factloop.evaluation.reproduction.estimate import CallEstimate
from factloop.evaluation.reproduction.records import Entry, Reproduction
from factloop.evaluation.reproduction.views import sheets
from factloop.reports.sheet.terminal import print_sheet
from factloop.reports.terminal_parts import Row, notice_rows, print_section, rows_table
from factloop.reports.visible import visible


def print_reproduction(found: Reproduction, entry: Entry, console: Console) -> None:
    """What ours has beside theirs, then what came out and what it rests on; the rest is on the page and in the CSV."""
    print_sheet(console, sheets.reproduction(found, ours_alone=True))
    rows: list[Row] = [
        ("Entry", Text(found.entry)),
        ("Status", Text(f"{entry.status.value}: {entry.why}")),
        ("Outcome", Text(sheets.outcome(found))),
    ]
    rows += [("Unit", Text(found.unit))] if found.unit else []
    rows += [("Needs", Text(visible(f"{entry.model}; {entry.command}")))] if entry.command else []
    print_section(console, "Result", rows_table(rows + notice_rows("Note", found.notes)))


def print_entries(listed: Sequence[Entry], estimates: Sequence[CallEstimate | None], console: Console) -> None:
    """The list, with the calls of a model where they were estimated."""
    print_sheet(console, sheets.entries(listed, estimates))


def print_estimate(entry: Entry, estimate: CallEstimate | None, price: str, console: Console) -> None:
    """What the models of an entry would be asked."""
    rows: list[Row] = [("Entry", Text(entry.id)), ("Model", Text(entry.model or "none: it costs nothing"))]
    rows += [("Calls", Text(entry.calls))] if entry.calls else []
    if estimate is not None:
        rows.append(("Labelled claims", Text(f"{estimate.n_claims:,}")))
        rows.append(("Estimated calls", Text(f"{estimate.n_calls:,}")))
        rows.append(
            ("Prompt tokens", Text(f"{estimate.prompt_tokens:,} (approximate, without the prompts' own words)"))
        )
        rows.append(("Cost", Text(price)))
    elif entry.model:
        rows.append(("Estimated calls", Text("unknown: its data were not found, or do not say how many there are")))
    rows += [("Command", Text(entry.command))] if entry.command else []
    print_section(console, "Estimate; nothing was asked", rows_table(rows))
