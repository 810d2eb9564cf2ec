"""An audit of evaluators as one self-contained HTML page: advice in plain words, then figures drawn and in tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from factloop.evaluation.audit.advice import Use
from factloop.evaluation.audit.estimate import Group
from factloop.evaluation.audit.report import AuditData, AuditReport, EvaluatorAdvice
from factloop.evaluation.audit.views import words as audit_words
from factloop.evaluation.audit.views.csv import csv_files
from factloop.evaluation.audit.views.parts import Part, View, parts_of
from factloop.evaluation.audit.views.pictures.marks import Mark
from factloop.reports.downloads import DownloadLink, text_download
from factloop.reports.page import render_page

MOST_DRAWN = 12
"""Groups with pictures of their own, of which each has up to eleven: all, the task groups, then data sets. Others have
tables, and a pane in the small multiples of all."""
LONGEST_PLAIN = 100_000
"""Bytes of a file that a link holds as it is: there are a dozen files, so that less than usual is left unpacked."""


@dataclass(frozen=True)
class Section:
    """What the page says of one group: the advice, and its figures at each threshold."""

    number: int
    group: Group
    title: str
    advice: tuple[EvaluatorAdvice, ...]
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
        marks=marks,
        sections=list(_sections(report, marks, most_drawn)),
        downloads=dict(_downloads(report)),
        uses=list(Use),
        audit=audit_words,
    )


def marks_of(report: AuditReport) -> dict[str, Mark]:
    """How each evaluator looks in all pictures of the report."""
    return {name: Mark(number, name) for number, name in enumerate(report.data.evaluators)}


def groups_of(data: AuditData) -> list[Group]:
    """All, the task groups, and the data sets. A group of one data set is left out, as the data set says the same."""
    members = Counter(data.task_of.values())
    groups = [] if len(data.datasets) == 1 else [Group(kind="all")]
    groups += [Group(kind="task", name=name) for name in data.tasks if members[name] > 1]
    return groups + [Group(kind="dataset", name=name) for name in data.datasets]


def members_of(group: Group, data: AuditData) -> frozenset[str]:
    """The data sets of a group of several; none of one data set."""
    if group.kind == "dataset":
        return frozenset()
    return frozenset(name for name in data.datasets if group.kind == "all" or data.task_of.get(name) == group.name)


def _title(group: Group, data: AuditData) -> str:
    title, task = audit_words.title_of(group), data.task_of.get(group.name)
    if group.kind != "dataset" or task is None:
        return title
    is_only = sum(other == task for other in data.task_of.values()) == 1
    return f"{title} ({'the only one of task group' if is_only else 'task group'} {task})"


def _sections(report: AuditReport, marks: dict[str, Mark], most_drawn: int) -> Iterator[Section]:
    for number, group in enumerate(groups_of(report.data)):
        is_drawn = number < most_drawn
        yield Section(
            number,
            group,
            _title(group, report.data),
            tuple(one for one in report.advice if one.group == group),
            tuple(
                tuple(
                    parts_of(
                        View(
                            at,
                            group,
                            marks,
                            is_drawn=is_drawn and (place == 0 or number == 0),
                            members=members_of(group, report.data),
                        )
                    )
                )
                for place, at in enumerate(report.at)
            ),
            is_drawn,
        )


def _downloads(report: AuditReport) -> Iterator[tuple[str, DownloadLink]]:
    """Each file by the name that links on the page know it by."""
    yield "json", _held("audit.json", "application/json", report.model_dump_json(indent=2))
    for name, text in csv_files(report).items():
        yield name, _held(f"{name}.csv", "text/csv", text)


def _held(file: str, kind: str, text: str) -> DownloadLink:
    return text_download(file, file, kind, text, longest_plain=LONGEST_PLAIN)
