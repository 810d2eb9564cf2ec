"""`python draw_pictures.py audit.json` draws the pictures of an audit over all its data sets as SVG files beside it."""

from __future__ import annotations

import sys
from pathlib import Path

from factloop.evaluation.audit.report import AuditReport
from factloop.evaluation.audit.views.html import marks_of
from factloop.evaluation.audit.views.tables import groups_of, scope_of, sections_of
from factloop.reports.pictures import as_file


def draw(place: Path) -> None:
    report = AuditReport.model_validate_json(place.read_text(encoding="utf-8"))
    group = groups_of(report.data)[0]
    scope = scope_of(report.at[0], group, report.data)
    for section in sections_of(scope):
        picture = section.draw and section.draw(scope.at, group, scope.members, marks_of(report))
        if picture:
            place.with_name(f"{section.key}.svg").write_text(as_file(picture), encoding="utf-8")


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
