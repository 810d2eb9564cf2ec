"""A reproduction, and the list of all, as self-contained HTML pages."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.evaluation.reproduction.records import Entry, Reproduction
from factloop.evaluation.reproduction.registry import PAPERS
from factloop.evaluation.reproduction.views import sheets
from factloop.reports.page import render_page
from factloop.reports.sheet.csv import sheet_download

_ROOM = "factloop.evaluation.reproduction.views"


def render_reproduction_html(found: Reproduction, entry: Entry) -> str:
    """The page: theirs beside ours, what came out, and the table to download. Equal records give equal pages."""
    sheet = sheets.reproduction(found)
    paper = next(one for one in PAPERS if one.key == entry.paper)
    return render_page(
        "reproduction.html.j2",
        room=_ROOM,
        styles=("run.css",),
        title=found.title,
        kind=found.entry,
        lead=f"{paper.title} ({paper.citation})",
        facts=(f"{entry.status.value}: {entry.why}", sheets.outcome(found), *((found.unit,) if found.unit else ())),
        notes=found.notes,
        sheet=sheet,
        downloads=[sheet_download("The table as CSV", f"{found.entry.replace(':', '-')}.csv", sheet)],
    )


def render_entries_html(listed: Sequence[Entry]) -> str:
    """The list as a page, with all that each entry needs."""
    sheet = sheets.entries(listed)
    return render_page(
        "reproduction.html.j2",
        room=_ROOM,
        styles=("run.css",),
        title=sheet.title,
        kind="list",
        lead="; ".join(f"{paper.key}: {paper.title}" for paper in PAPERS),
        facts=(),
        notes=(),
        sheet=sheet,
        downloads=[sheet_download("The list as CSV", "reproduce.csv", sheet)],
    )
