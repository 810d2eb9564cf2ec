"""Renders an audit, with a guide to reading its figures, as a self-contained page or on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup
from rich.console import Console
from rich.text import Text

from factloop.evaluation.audit.figures import Group
from factloop.evaluation.audit.report import AuditData, AuditReport
from factloop.evaluation.audit.views import words as audit_words
from factloop.evaluation.audit.views.pictures import Mark
from factloop.evaluation.audit.views.tables import (
    LIMITS_NOTE,
    Section,
    csv_files,
    groups_of,
    limits_sheet,
    scope_of,
    sections_of,
)
from factloop.evaluation.audit.views.words import P_ADJUSTMENTS, tests_of, where
from factloop.reports.downloads import DownloadLink, text_download
from factloop.reports.figures import percent, plural
from factloop.reports.page import render_page
from factloop.reports.sheet.table import Sheet
from factloop.reports.sheet.terminal import keep_sheet, print_sheet
from factloop.reports.terminal_parts import Row, notice_rows, one_line, print_section, rows_table
from factloop.reports.visible import visible

MOST_DRAWN = 12
"""Maximum number of groups with charts. The rest have only tables."""
PRINTED = ("findings", "ranking")
"""The sections printed on the terminal. Even for a few evaluators, all sections would fill ten screens."""
ELSEWHERE = "All other figures are on the page (--html), in the report (--json) and in the tables (--tables)."
LONGEST_PLAIN = 100_000
"""Files with more bytes are compressed. The usual limit is higher, but the page has a dozen files."""


@dataclass(frozen=True)
class Part:
    section: Section
    sheets: list[Sheet]
    picture: Markup | None


@dataclass(frozen=True)
class GroupPart:
    number: int
    title: str
    at: tuple[tuple[Part, ...], ...]
    is_drawn: bool


def render_audit_html(report: AuditReport, *, most_drawn: int = MOST_DRAWN) -> str:
    """Renders the page. The output is deterministic.

    Drawing takes most of the time, so the first threshold has charts for only the first `most_drawn` groups, and the
    second for only the first group. Results for individual pairs of systems are in the JSON report but not in the
    tables.
    """
    marks = marks_of(report)
    return render_page(
        "audit.html.j2",
        room="factloop.evaluation.audit.views",
        styles=("pictures.css", "audit.css"),
        scripts=("audit.js",),
        report=report,
        marks=marks,
        groups=list(_groups(report, marks, most_drawn)),
        downloads=dict(_downloads(report)),
        limits=limits_sheet(),
        limits_note=LIMITS_NOTE,
        audit=audit_words,
    )


def marks_of(report: AuditReport) -> dict[str, Mark]:
    return {name: Mark(number, name) for number, name in enumerate(report.data.evaluators)}


def _groups(report: AuditReport, marks: dict[str, Mark], most_drawn: int) -> Iterator[GroupPart]:
    for number, group in enumerate(groups_of(report.data)):
        is_drawn = number < most_drawn
        at = tuple(
            tuple(_parts(report, group, place, marks, is_drawn=is_drawn and (place == 0 or number == 0)))
            for place in range(len(report.at))
        )
        yield GroupPart(number, _title(group, report.data), at, is_drawn)


def _parts(report: AuditReport, group: Group, place: int, marks: dict[str, Mark], *, is_drawn: bool) -> Iterator[Part]:
    scope = scope_of(report.at[place], group, report.data)
    for section in sections_of(scope):
        picture = section.draw(scope.at, group, scope.members, marks) if section.draw and is_drawn else None
        yield Part(section, section.sheets(scope), picture)


def _title(group: Group, data: AuditData) -> str:
    title, task = audit_words.title_of(group), data.task_of.get(group.name)
    return title if group.kind != "dataset" or task is None else f"{title} (task group {task})"


def _downloads(report: AuditReport) -> Iterator[tuple[str, DownloadLink]]:
    yield "json", _held("audit.json", "application/json", report.model_dump_json(indent=2))
    for name, text in csv_files(report).items():
        yield name, _held(f"{name}.csv", "text/csv", text)


def _held(file: str, kind: str, text: str) -> DownloadLink:
    return text_download(file, file, kind, text, longest_plain=LONGEST_PLAIN)


def print_audit(report: AuditReport, console: Console) -> None:
    """Prints the sections in `PRINTED` for all data sets. Files get all tables. Names are printed literally."""
    group = groups_of(report.data)[0]
    for at in report.at:
        console.print(Text(f"Threshold {at.threshold:g}: {one_line(where(group))}", style="bold"))
        console.print()
        scope = scope_of(at, group, report.data)
        for section in sections_of(scope):
            for sheet in section.terminal_sheets(scope):
                title = f"{sheet.title} (threshold {at.threshold:g})" if len(report.at) > 1 else sheet.title
                print_or_keep = print_sheet if section.key in PRINTED else keep_sheet
                print_or_keep(console, replace(sheet, title=title))
    print_sheet(console, limits_sheet())
    console.print(Text(f"{LIMITS_NOTE}\n\n{ELSEWHERE}", style="dim"))
    console.print()
    print_section(console, "Result", rows_table(_result_rows(report)))


def _result_rows(report: AuditReport) -> list[Row]:
    data, settings, basis = report.data, report.settings, report.at[0].basis
    prompts = "" if data.n_prompts is None else f" to {plural(data.n_prompts, 'prompt')}"
    several = "over data sets with equal weights; by wording and by chunks, over all claims combined"
    drawn = f"{percent(settings.level)}, by {settings.n_resamples:,} resamples of whole {basis.clusters}s"
    rows = {
        "Data": data.name,
        "Claims": f"{data.n_claims:,} in {plural(data.n_responses, 'response')}{prompts}",
        "Data sets": _named(data.datasets),
        "Task groups": _named(data.tasks) if data.tasks else "",
        "Systems": _named(data.systems),
        "Means": "none: there is only one data set" if len(data.datasets) == 1 else several,
        "Intervals": f"{drawn} ({basis.n_clusters:,}), seed {settings.seed}" if settings.n_resamples else "none",
        "Tests": f"alpha {settings.alpha:g}, {P_ADJUSTMENTS[settings.p_adjustment]}",
        "Compared": tests_of(report.at[0].rankings),
    }
    return [
        *((name, Text(visible(text))) for name, text in rows.items() if text),
        *(("Not computed", Text(visible(one))) for one in report.left_out),
        *notice_rows("Warning", report.warnings),
    ]


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(names[:8])
    return f"{len(names):,}: {shown}" + (f" and {len(names) - 8:,} more" if len(names) > 8 else "")
