"""An audit of evaluators as one self-contained HTML page: advice by fixed conditions, then figures and pictures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from factloop.evaluation.audit.figures import Group
from factloop.evaluation.audit.report import AuditData, AuditReport, EvaluatorAdvice, Use
from factloop.evaluation.audit.views import words as audit_words
from factloop.evaluation.audit.views.pictures import Mark
from factloop.evaluation.audit.views.tables import (
    Section,
    advice_sheet,
    csv_files,
    groups_of,
    limits_sheet,
    scope_of,
    sections_of,
)
from factloop.reports.downloads import DownloadLink, text_download
from factloop.reports.page import render_page
from factloop.reports.sheet.table import Sheet

MOST_DRAWN = 12
"""Groups with pictures of their own: all, the task groups, then data sets. Others have tables."""
LONGEST_PLAIN = 100_000
"""Bytes of a file that a link holds as it is: there are a dozen files, so that less than usual is left unpacked."""


@dataclass(frozen=True)
class Part:
    """One section on one group at one threshold."""

    section: Section
    sheets: list[Sheet]
    picture: Markup | None


@dataclass(frozen=True)
class GroupPart:
    """What the page says of one group: the advice, and its figures at each threshold."""

    number: int
    title: str
    advice: tuple[EvaluatorAdvice, ...]
    advice_sheet: Sheet
    at: tuple[tuple[Part, ...], ...]
    """In the order of the thresholds."""
    is_drawn: bool


def render_audit_html(report: AuditReport, *, most_drawn: int = MOST_DRAWN) -> str:
    """The page. Equal reports give equal pages.

    Pictures take most of its time, so that they are drawn for `most_drawn` groups at the first threshold, and for the
    first group at the other. Tables are whole but for single pairs of systems, which are in the JSON alone.
    """
    marks = marks_of(report)
    return render_page(
        "audit.html.j2",
        room="factloop.evaluation.audit.views",
        styles=("pictures.css", "audit.css"),
        scripts=("audit.js",),
        report=report,
        left_out=[audit_words.notice_text(one) for one in report.left_out],
        warnings=[audit_words.notice_text(one) for one in report.warnings],
        marks=marks,
        groups=list(_groups(report, marks, most_drawn)),
        downloads=dict(_downloads(report)),
        uses=list(Use),
        limits=limits_sheet(),
        audit=audit_words,
    )


def marks_of(report: AuditReport) -> dict[str, Mark]:
    """How each evaluator looks in all pictures of the report."""
    return {name: Mark(number, name) for number, name in enumerate(report.data.evaluators)}


def _groups(report: AuditReport, marks: dict[str, Mark], most_drawn: int) -> Iterator[GroupPart]:
    for number, group in enumerate(groups_of(report.data)):
        is_drawn = number < most_drawn
        advice = tuple(one for one in report.advice if one.group == group)
        at = tuple(
            tuple(_parts(report, group, place, marks, is_drawn=is_drawn and (place == 0 or number == 0)))
            for place in range(len(report.at))
        )
        yield GroupPart(number, _title(group, report.data), advice, advice_sheet(advice), at, is_drawn)


def _parts(report: AuditReport, group: Group, place: int, marks: dict[str, Mark], *, is_drawn: bool) -> Iterator[Part]:
    scope = scope_of(report.at[place], group, report.data)
    for section in sections_of(scope):
        picture = section.draw(scope.at, group, scope.members, marks) if section.draw and is_drawn else None
        yield Part(section, section.sheets(scope), picture)


def _title(group: Group, data: AuditData) -> str:
    title, task = audit_words.title_of(group), data.task_of.get(group.name)
    return title if group.kind != "dataset" or task is None else f"{title} (task group {task})"


def _downloads(report: AuditReport) -> Iterator[tuple[str, DownloadLink]]:
    """Each file by the name that links on the page know it by."""
    yield "json", _held("audit.json", "application/json", report.model_dump_json(indent=2))
    for name, text in csv_files(report).items():
        yield name, _held(f"{name}.csv", "text/csv", text)


def _held(file: str, kind: str, text: str) -> DownloadLink:
    return text_download(file, file, kind, text, longest_plain=LONGEST_PLAIN)
